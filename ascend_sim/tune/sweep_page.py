"""A sweep as one HTML page that needs no network: time and efficiency against the first axis of numbers, the table."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ascend_sim.plurals import plural
from ascend_sim.report.files import atomic
from ascend_sim.report.style import percent, us
from ascend_sim.tune.axes import Axis
from ascend_sim.tune.document import Chart, document, layout, table
from ascend_sim.tune.points import Point
from ascend_sim.tune.sweep import Row, Sweep
from ascend_sim.tune.sweep_text import TITLES, call_lines, cells, reason, title_of

COLOURS = ("#1f77b4", "#d9822b", "#1f9d8f", "#b5446e", "#6b5ca5", "#7a8b2f", "#a05a2c", "#50606e")
DASHES = ("solid", "dashdot", "longdash")
MOST_LINES = len(COLOURS) * len(DASHES)
MOST_ROWS = 2000
WIDE = 8
"""An axis whose last value is so many times the first is drawn logarithmically."""
ROOFLINE = (
    "Roofline: the least time in which the chip could do it. Memory moves every byte that must move once (L2, and HBM "
    "for what L2 does not hold), the vector units share out the kernel's own instructions evenly. Memory: L2 "
    "where all tensors of the call fit into it, else HBM."
)


@dataclass(slots=True)
class _Line:
    """The points that differ in the drawn axis alone."""

    name: str
    x: list[Any] = field(default_factory=list)
    results: list[Mapping[str, Any]] = field(default_factory=list)


def write_sweep_page(sweep: Sweep, rows: Sequence[Row], path: str | os.PathLike[str]) -> None:
    """Write the page, whole or not at all. Needs the extra `report` (plotly)."""
    text = sweep_page(sweep, rows)
    with atomic(path, "HTML report") as temporary:
        temporary.write_text(text, encoding="utf-8")


def sweep_page(sweep: Sweep, rows: Sequence[Row]) -> str:
    """The whole document."""
    without = sum(1 for _, result in rows if reason(result))
    intro = [*call_lines(sweep), ROOFLINE]
    if without:
        intro.append(
            f"{plural(without, 'point')} of {len(rows):,} {'has' if without == 1 else 'have'} no time; the "
            "table says why."
        )
    names = [*(axis.name for axis in sweep.axes), *TITLES, *(["why"] if without else [])]
    shown = [_row(names, [*point.at.values()], cells(result)) for point, result in rows[:MOST_ROWS]]
    heading = "All points" if len(rows) <= MOST_ROWS else f"The first {MOST_ROWS:,} of {len(rows):,} points"
    charts = _charts(sweep.axes, rows) if without < len(rows) else []
    return document(title_of(sweep, rows), intro, charts, heading, table(names, shown, told=without > 0))


def _row(names: Sequence[str], at: list[str], found: list[str]) -> list[str]:
    """A reason stands in the last column, where long texts are broken."""
    if len(found) > 1:
        return [*at, *found, *[""] * (len(names) - len(at) - len(found))]
    return [*at, *[""] * len(TITLES), *found]


def drawn(axes: Sequence[Axis]) -> Axis:
    """The axis along which lines go: the first of several numbers, else the first of several values."""
    several = [axis for axis in axes if len(axis.values) > 1] or list(axes)
    return next((axis for axis in several if _numeric(axis)), several[0])


def _numeric(axis: Axis) -> bool:
    return all(value.isdigit() for value in axis.values)


def _charts(axes: Sequence[Axis], rows: Sequence[Row]) -> list[Chart]:
    axis = drawn(axes)
    lines = _lines(axes, axis, rows)
    left_out = len(lines) - MOST_LINES
    text = f"<p>The first {MOST_LINES} of {len(lines)} lines; the table has all.</p>" if left_out > 0 else ""
    lines = lines[:MOST_LINES]
    return [
        (
            "Time",
            text,
            _figure(axis, lines, _times, {"title": "us", "type": "log", "dtick": "D2", "tickformat": ",~r"}),
        ),
        (
            "Efficiency",
            "<p>Time of the roofline over the time.</p>",
            _figure(axis, lines, _shares, {"title": "%", "rangemode": "tozero"}),
        ),
    ]


def _lines(axes: Sequence[Axis], axis: Axis, rows: Sequence[Row]) -> list[_Line]:
    others = [other for other in axes if other is not axis and len(other.values) > 1]
    found: dict[tuple[str, ...], _Line] = {}
    for point, result in rows:
        key = tuple(point.at[other.name] for other in others)
        line = found.setdefault(key, _Line(_name(point, others)))
        value = point.at[axis.name]
        line.x.append(int(value) if _numeric(axis) else value)
        line.results.append(result)
    return [line for line in found.values() if not all(map(reason, line.results))]


def _name(point: Point, others: Sequence[Axis]) -> str:
    """Numbers and attributes with the axis they are of, chips and dtypes speak for themselves."""
    return ", ".join(
        point.at[other.name] if other.name in ("soc", "dtype") else f"{other.name} {point.at[other.name]}"
        for other in others
    )


def _times(result: Mapping[str, Any]) -> list[float]:
    return [result["duration_us"], result["roofline_us"]]


def _shares(result: Mapping[str, Any]) -> list[float]:
    return [100 * result["efficiency"]]


def _figure(axis: Axis, lines: Sequence[_Line], figures: Any, yaxis: dict[str, Any]) -> Any:
    """The first figure of each point as a line, the second, if there is one, dotted under it."""
    import plotly.graph_objects as go  # noqa: PLC0415 - plotly is an extra

    figure = go.Figure()
    for number, line in enumerate(lines):
        colour, dash = COLOURS[number % len(COLOURS)], DASHES[number // len(COLOURS)]
        values = [None if reason(result) else figures(result) for result in line.results]
        for which in range(max(len(value) for value in values if value is not None)):
            mark = {"symbol": "line-ew-open" if which else "circle", "color": colour, "line": {"width": 2 * which}}
            figure.add_trace(
                go.Scatter(
                    x=line.x,
                    y=[None if value is None else value[which] for value in values],
                    text=[_hint(line, place) for place in range(len(line.x))],
                    hovertemplate="%{text}<extra></extra>",
                    mode="markers" if not _numeric(axis) else "lines" if which else "lines+markers",
                    name=line.name or axis.name,
                    legendgroup=str(number),
                    showlegend=not which and len(lines) > 1,
                    line={"color": colour, "dash": "dot" if which else dash, "width": 1.5 if which else 2},
                    marker=mark | {"size": 8 if _numeric(axis) else 11},
                )
            )
    height = 400 + 14 * len(lines)
    return layout(figure, height=height, xaxis=_xaxis(axis, yaxis), yaxis=yaxis)


def _hint(line: _Line, place: int) -> str:
    result = line.results[place]
    if reason(result):
        return ""
    found = [f"{line.name} {line.x[place]}".strip(), f"{us(result['duration_us'])} us"]
    found.append(f"roofline {us(result['roofline_us'])} us ({result['roof']}), {percent(result['efficiency'])}")
    found.append(f"{result['bound']} {percent(result['bound_ratio'])}")
    return "<br>".join([*found, f"memory {result['memory']}"] if "memory" in result else found)


def _xaxis(axis: Axis, yaxis: Mapping[str, Any]) -> dict[str, Any]:
    mark = "dotted" if _numeric(axis) else "dashes"
    title = axis.name + (f" ({mark}: roofline)" if yaxis["title"] == "us" else "")
    if not _numeric(axis):
        return {"title": title, "type": "category"}
    values = [int(value) for value in axis.values]
    if min(values) > 0 and max(values) >= WIDE * min(values):
        few = len(values) <= 12
        return {"title": title, "type": "log", **({"tickvals": values, "ticktext": list(axis.values)} if few else {})}
    return {"title": title}
