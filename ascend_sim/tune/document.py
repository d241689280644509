"""What the pages of this room have in common: one document that needs no network, charts in one manner, a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from ascend_sim.report.html.plotly import require_plotly

STYLE = (
    "body{font:15px system-ui,sans-serif;max-width:1280px;margin:2em auto;padding:0 1em;color:#222;"
    "overflow-wrap:anywhere}h1{font-size:1.5em}h2{font-size:1.15em;margin:1.6em 0 .3em}p{margin:.4em 0}"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:13px;overflow-wrap:normal}"
    "td,th{padding:3px 9px;border-bottom:1px solid #ddd;text-align:right;white-space:nowrap}"
    "th{position:sticky;top:0;background:#fff;white-space:normal}"
    ".told td,.told th{padding:3px 5px}.told td:last-child,.told th:last-child{text-align:left;white-space:normal;"
    "min-width:18em}"
)

Chart = tuple[str, str, Any]
"""Heading, what is said under it (HTML), figure."""


def document(title: str, intro: Sequence[str], charts: Iterable[Chart], heading: str, table: str) -> str:
    """The whole page; `title` and the lines of `intro` are texts, `table` is HTML."""
    require_plotly()
    from plotly.offline import get_plotlyjs  # noqa: PLC0415 - plotly is an extra

    config = {"displayModeBar": False, "responsive": True}
    parts = [f"<p>{escape(line)}</p>" for line in intro]
    parts += [
        f"<h2>{name}</h2>{text}{figure.to_html(full_html=False, include_plotlyjs=False, config=config)}"
        for name, text, figure in charts
    ]
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1"><link rel="icon" href="data:,">'
        f"<style>{STYLE}</style><script>{get_plotlyjs()}</script></head><body><h1>{escape(title)}</h1>"
        f"{''.join(parts)}<h2>{heading}</h2>{table}<p>Simulated, not measured.</p></body></html>\n"
    )


def layout(figure: Any, **changes: Any) -> Any:
    """What all charts have in common."""
    figure.update_layout(
        margin={"t": 36, "r": 12, "b": 48, "l": 48},
        font={"size": 12},
        plot_bgcolor="#f6f7f9",
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        **changes,
    )
    return figure


def table(names: Sequence[str], rows: Iterable[Sequence[object]], *, told: bool = True) -> str:
    """Cells are texts; what is wider than the page scrolls. `told`: the last column holds sentences."""
    body = ["<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows]
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    kind = ' class="told"' if told else ""
    return f'<div class="wide"><table{kind}><tr>{head}</tr>{"".join(body)}</table></div>'
