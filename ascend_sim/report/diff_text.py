"""The printed comparison of two runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from ascend_sim.plurals import plural
from ascend_sim.report.diff import Diff, LineChange, Quantity
from ascend_sim.report.rows import LABEL_COLUMNS, row, rows
from ascend_sim.report.style import Style, size, us

_WORTH_SHOWING = 0.005  # of the longer run: smaller changes of a time are left out
_SHOWN = 8
_LABELS = {"time": "Time", "pipes": "Pipes", "waits": "Waits", "path": "Path", "instructions": "Counts", "bytes": "GM"}
_ABOUT = {
    "waits": "time without work by pipe and reason, mean per core",
    "path": "of the critical path",
}


def diff_text(diff: Diff, style: Style) -> str:
    """All sections, without a newline at the end."""
    lines = [style.rule(f"{diff.names[0]} → {diff.names[1]}" if style.unicode else " -> ".join(diff.names))]
    lines += _verdict(diff, style)
    limit = _WORTH_SHOWING * max(diff.sections["time"][0].before, diff.sections["time"][0].after)
    for name, found in diff.sections.items():
        lines += _section(name, found, limit, style)
    lines += _lines(diff.lines, limit, style)
    return "\n".join(lines)


def _verdict(diff: Diff, style: Style) -> Iterator[str]:
    duration = diff.sections["time"][0]
    change = duration.ratio or 0.0
    if abs(change) < 0.0005:
        yield row("Verdict", "as fast as before", style)
        return
    faster = change < 0
    word = "faster" if faster else "slower"
    times = duration.before / duration.after if faster else duration.after / duration.before
    text = style.paint(f"{times:.2f} times as {'fast' if faster else 'slow'}", "good" if faster else "bad")
    yield row("Verdict", f"{text}, {us(abs(duration.change))} us {word}", style)
    for better, label in ((True, "better"), (False, "worse")):
        waits = [q for q in diff.sections["waits"] if (q.change < 0) == better and q.change]
        if waits:
            yield from rows("", f"most {label}: {waits[0].name}, {us(abs(waits[0].change))} us a core", style)


def _section(name: str, found: Sequence[Quantity], limit: float, style: Style) -> Iterator[str]:
    shown = [q for q in found if _shown(q, limit)][: _SHOWN if name != "pipes" else None]
    if not shown:
        return
    label = _LABELS[name]
    if name in _ABOUT:
        yield style.paint(f"{label:<{LABEL_COLUMNS}}", "bold") + style.paint(_ABOUT[name], "dim")
        label = ""
    for quantity in shown:
        yield row(label, _quantity(quantity, style), style)
        label = ""
    changed = [q for q in found if q.change and q not in shown]
    if changed:
        yield row("", style.paint(f"and {plural(len(changed), 'smaller change')}", "dim"), style)


def _shown(quantity: Quantity, limit: float) -> bool:
    if quantity.unit == "us":
        return abs(quantity.change) >= limit or quantity.name == "Task Duration"
    if quantity.unit == "%":
        return abs(quantity.change) >= 1
    return quantity.change != 0


def _quantity(quantity: Quantity, style: Style) -> str:
    before, after = _number(quantity.before, quantity.unit), _number(quantity.after, quantity.unit)
    sign = "→" if style.unicode else "->"
    return f"{quantity.name:<42} {before:>12} {sign} {after:>12}  {_change(quantity, style)}"


def _number(value: float, unit: str) -> str:
    if unit == "us":
        return f"{us(value)} us" if value else "0 us"
    if unit == "%":
        return f"{value:.1f} %"
    return size(int(value)) if unit == "B" else f"{int(value):,}"


def _change(quantity: Quantity, style: Style) -> str:
    if quantity.unit == "%":
        return f"{quantity.change:+.1f}"
    if quantity.ratio is None:
        return "new" if quantity.after else ""
    text = f"{100 * quantity.ratio:+.1f} %"
    return style.paint(text, "good" if quantity.change < 0 else "bad") if quantity.change else "same"


# -- source lines -----------------------------------------------------------------------------------------------------


def _lines(changes: Sequence[LineChange], limit: float, style: Style) -> Iterator[str]:
    shown = [c for c in changes if max(abs(c.path.change), abs(c.work.change)) >= limit][:_SHOWN]
    if not shown:
        return
    about = "us on the critical path, us of work a core"
    yield style.paint(f"{'Lines':<{LABEL_COLUMNS}}", "bold") + style.paint(about, "dim")
    for change in shown:
        sign = "→" if style.unicode else "->"
        path, work = (f"{_us(q.before)} {sign} {_us(q.after)}" for q in (change.path, change.work))
        yield row("", f"{_places(change, sign):<34} {path:>20}  {work:>20}", style)
        yield row("", style.paint(f"    {change.text[: style.width - LABEL_COLUMNS - 4]}", "dim"), style)


def _us(value: float) -> str:
    return us(value) if value else "0"


def _places(change: LineChange, sign: str) -> str:
    """`add.py:12`, or where it was and is."""
    before, after = (_short(place) for place in (change.before, change.after))
    if not before:
        return f"{after} (new)"
    if not after:
        return f"{before} (gone)"
    return before if before == after else f"{before} {sign} {after}"


def _short(place: str) -> str:
    return PurePath(place).name
