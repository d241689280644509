"""Two runs side by side as one HTML file: tables with bars of what got better and worse."""

from __future__ import annotations

import os
from collections.abc import Iterator
from html import escape
from importlib.resources import files

from ascend_sim.report.diff import Diff, LineChange, Quantity
from ascend_sim.report.files import atomic
from ascend_sim.report.style import us

_TITLES = {
    "time": "Time",
    "pipes": "Pipes",
    "waits": "Waits, mean over the cores",
    "path": "Critical path",
    "instructions": "Instructions",
    "bytes": "GM traffic",
}
_LINES_SHOWN = 60


def write_diff_html(found: Diff, path: str | os.PathLike[str]) -> None:
    """Write the comparison; the file appears whole or not at all."""
    with atomic(path, "HTML comparison") as temporary:
        temporary.write_text(diff_page(found), encoding="utf-8")


def diff_page(found: Diff) -> str:
    """The whole document; it needs nothing from outside."""
    assets = files("ascend_sim.report.html") / "assets"
    style = (assets / "report.css").read_text(encoding="utf-8")
    script = (assets / "tables.js").read_text(encoding="utf-8")
    first, second = (escape(name) for name in found.names)
    sections = [_section(name, quantities) for name, quantities in found.sections.items()]
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{first} against {second}</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1"><link rel="icon" href="data:,">'
        f"<style>{style}</style></head><body><main><header><h1>{first} <em>against</em> {second}</h1>"
        "<p>Before and after; green is less, red is more.</p></header>"
        f"{''.join(sections)}{_lines(found.lines)}</main><script>{script}</script></body></html>\n"
    )


def _section(name: str, quantities: list[Quantity]) -> str:
    changed = [q for q in quantities if q.before or q.after]
    if not changed:
        return ""
    largest = max(abs(q.change) for q in changed) or 1.0
    body = "".join(f"<tr>{''.join(_cells(q, largest))}</tr>" for q in changed)
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("what", "before", "after", "unit", "change", ""))
    title = _TITLES.get(name, name)
    return (
        f'<section id="{name}"><h2>{escape(title)}</h2><div class="wide"><table class="sortable"><thead><tr>{heads}'
        f"</tr></thead><tbody>{body}</tbody></table></div></section>"
    )


def _cells(q: Quantity, largest: float) -> Iterator[str]:
    yield f"<td>{escape(q.name)}</td><td>{_figure(q.before, q.unit)}</td><td>{_figure(q.after, q.unit)}</td>"
    ratio = "new" if q.ratio is None and q.change else "" if q.ratio is None else f"{100 * q.ratio:+.1f} %"
    yield f"<td>{escape(q.unit)}</td><td>{ratio}</td><td>{_bar(q.change, largest)}</td>"


def _bar(change: float, largest: float) -> str:
    if not change:
        return ""
    tone = "more" if change > 0 else "less"
    return f'<div class="bar {tone}" style="width:{120 * abs(change) / largest:.1f}px"></div>'


def _figure(value: float, unit: str) -> str:
    return us(value) if unit == "us" else f"{value:.1f}" if unit == "%" else f"{value:,.0f}"


def _lines(changes: list[LineChange]) -> str:
    shown = changes[:_LINES_SHOWN]
    if not shown:
        return ""
    largest = max(abs(change.path.change) for change in shown) or 1.0
    rows = []
    for change in shown:
        figures = "".join(
            f"<td>{us(q.before)}</td><td>{us(q.after)}</td>" for q in (change.path, change.work, change.wait)
        )
        places = " → ".join(dict.fromkeys(escape(os.path.basename(p)) for p in (change.before, change.after) if p))
        rows.append(
            f"<tr><td>{places}</td><td><code>{escape(change.text)}</code></td>{figures}"
            f"<td>{_bar(change.path.change, largest)}</td></tr>"
        )
    names = (
        "line",
        "code",
        "path before",
        "path after",
        "work before",
        "work after",
        "waits before",
        "waits after",
        "",
    )
    heads = "".join(f'<th scope="col">{name}</th>' for name in names)
    return (
        '<section id="lines"><h2>Source lines, us</h2><div class="wide"><table class="sortable"><thead>'
        f"<tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div></section>"
    )
