"""Plotly, which an HTML report needs and which is an extra."""

from __future__ import annotations

from importlib.util import find_spec

from ascend_sim.errors import InputError


def require_plotly() -> None:
    """Refuse a report where plotly is not installed."""
    if find_spec("plotly") is None:
        raise InputError("an HTML report needs plotly, which is not installed: pip install 'ascend-sim[report]'")
