"""A run as one HTML file that opens offline."""

from ascend_sim.report.html.page import write_html

__all__ = ["write_html"]
