"""A run as one HTML file that opens offline."""

from ascend_sim.report.html.page import write_html
from ascend_sim.report.html.selection import Selection, parse_cores, parse_window

__all__ = ["Selection", "parse_cores", "parse_window", "write_html"]
