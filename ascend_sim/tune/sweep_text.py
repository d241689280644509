"""A sweep as text, CSV and JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ascend_sim.host.tensors import infos_text
from ascend_sim.plurals import plural
from ascend_sim.report.rows import table_lines
from ascend_sim.report.style import Style, percent, us
from ascend_sim.tune.sweep import Row, Sweep

COLUMNS = (
    "duration_us",
    "sampling_error",
    "bound",
    "bound_ratio",
    "roofline_us",
    "roof",
    "efficiency",
    "memory",
    "gbps",
    "key",
    "block_dim",
    "refused",
    "failed",
)
TITLES = ("us", "limit", "of roofline", "memory", "GB/s", "key", "blocks")


def title_of(sweep: Sweep, rows: Sequence[Row]) -> str:
    return f"{sweep.operator.name}: {plural(len(rows), 'point')}"


def call_lines(sweep: Sweep) -> list[str]:
    """The call that the axes change, and what they change in it."""
    attrs = [f"{name}={_text(value)}" for name, value in sweep.attrs.items() if value not in (None, ())]
    lines = [", ".join([infos_text(sweep.inputs), *attrs, f"on {sweep.soc}"])]
    changes = [str(meaning) for meaning in sweep.meanings() if meaning.inputs]
    return lines + (["; ".join(changes)] if changes else [])


def _text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def rows_text(sweep: Sweep, rows: Sequence[Row], path: Path, style: Style) -> str:
    """The table; a point without figures has its reason in their place."""
    names = [axis.name for axis in sweep.axes]
    table = [[*names, *TITLES]]
    table += [[point.at[name] for name in names] + cells(result) for point, result in rows]
    call = [f"{name:7}{line}" for name, line in zip(("Call", "Axes"), call_lines(sweep), strict=False)]
    lines = [style.rule(title_of(sweep, rows)), *call]
    return "\n".join([*lines, *table_lines(table), f"Results are kept in {path}"])


def cells(result: Mapping[str, Any]) -> list[str]:
    """Under `TITLES`, or one: why there are none."""
    why = reason(result)
    if why:
        return [why]
    error = f" ±{100 * result['sampling_error']:.1f} %" if result["sampling_error"] else ""
    return [
        us(result["duration_us"]) + error,
        f"{result['bound']} {percent(result['bound_ratio'])}",
        f"{percent(result['efficiency'])} {result['roof']}",
        result.get("memory", ""),  # files that are older than this figure lack it
        f"{result['gbps']:,.0f}",
        str(result["key"]),
        str(result["block_dim"]),
    ]


def reason(result: Mapping[str, Any]) -> str:
    """Why a point has no figures, in one line; empty where it has some."""
    found = [f"{kind}: {' '.join(result[kind].split())}" for kind in ("refused", "failed") if kind in result]
    return "".join(found)


def rows_csv(sweep: Sweep, rows: Sequence[Row]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*(axis.name for axis in sweep.axes), *COLUMNS])
    for point, result in rows:
        writer.writerow([*point.at.values(), *(result.get(column, "") for column in COLUMNS)])
    return out.getvalue()


def rows_json(sweep: Sweep, rows: Sequence[Row], path: Path) -> dict[str, Any]:
    found: list[dict[str, Any]] = [{"at": dict(point.at), **result} for point, result in rows]
    return {"op": sweep.operator.name, "results": str(path), "points": found}
