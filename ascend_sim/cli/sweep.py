"""`ascend-sim sweep`: one operator over many shapes, chips and dtypes."""

from __future__ import annotations

import csv
import io
import json as json_format
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from ascend_sim.cli.calls import read_call
from ascend_sim.cli.counting import counting
from ascend_sim.host.registry import operator_named
from ascend_sim.host.tensors import tensor_info
from ascend_sim.plurals import counted
from ascend_sim.report.files import atomic, check_writable
from ascend_sim.report.style import Style, percent, style_for, us
from ascend_sim.tune.axes import read_axes
from ascend_sim.tune.executors import executor_named
from ascend_sim.tune.sweep import Row, Sweep, run_sweep

COLUMNS = (
    "duration_us",
    "sampling_error",
    "bound",
    "bound_ratio",
    "roofline_us",
    "roof",
    "efficiency",
    "gbps",
    "key",
    "block_dim",
    "refused",
    "failed",
)


@dataclass(frozen=True, slots=True)
class SweepRequest:
    """The command line as it was given."""

    op: str
    over: list[str]
    inputs: list[str] | None
    attrs: list[str] | None
    soc: str | None
    results: Path | None
    workers: int | None
    executor: str | None
    exact: bool
    csv: Path | None
    json: bool


def show_sweep(request: SweepRequest) -> None:
    """Time what is left to time, print all points."""
    if request.csv is not None:
        check_writable(request.csv, "table")
    operator = operator_named(request.op)
    inputs, attrs = read_call(operator, request.inputs, request.attrs)
    infos = {name: tensor_info(name, value) for name, value in operator.bind_inputs(inputs).items()}
    soc = request.soc or operator.default_soc
    sweep = Sweep(operator, infos, operator.bind_attrs(attrs), soc, read_axes(request.over), request.exact)
    path = request.results or sweep.default_file
    executor = executor_named(request.executor, request.workers)
    with counting("points") as done:
        rows = run_sweep(sweep, path, executor, done=done)
    if request.csv is not None:
        with atomic(request.csv, "table") as temporary:
            temporary.write_text(rows_csv(sweep, rows), encoding="utf-8")
    if request.json:
        found: list[dict[str, Any]] = [{"at": dict(point.at), **result} for point, result in rows]
        typer.echo(json_format.dumps({"op": operator.name, "results": str(path), "points": found}, indent=2))
    else:
        typer.echo(rows_text(sweep, rows, path, style_for(sys.stdout)))


def rows_text(sweep: Sweep, rows: Sequence[Row], path: Path, style: Style) -> str:
    names = [axis.name for axis in sweep.axes]
    table = [[*names, "us", "limit", "of roofline", "GB/s", "key", "blocks"]]
    table += [[point.at[name] for name in names] + _cells(result) for point, result in rows]
    widths = [max(len(row[column]) for row in table if len(row) == len(table[0])) for column in range(len(table[0]))]
    lines = [style.rule(f"{sweep.operator.name}: {counted(len(rows), 'point')}")]
    lines += ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=False)) for row in table]
    return "\n".join([*lines, f"Results are kept in {path}"])


def _cells(result: Any) -> list[str]:
    for kind in ("refused", "failed"):
        if kind in result:
            return [f"{kind}: {result[kind]}"]
    error = f" ±{100 * result['sampling_error']:.1f} %" if result["sampling_error"] else ""
    limit = f"{result['bound']} {percent(result['bound_ratio'])}"
    figures = [
        us(result["duration_us"]) + error,
        limit,
        f"{percent(result['efficiency'])} {result['roof']}",
        f"{result['gbps']:,.0f}",
    ]
    return [*figures, str(result["key"]), str(result["block_dim"])]


def rows_csv(sweep: Sweep, rows: Sequence[Row]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*(axis.name for axis in sweep.axes), *COLUMNS])
    for point, result in rows:
        writer.writerow([*point.at.values(), *(result.get(column, "") for column in COLUMNS)])
    return out.getvalue()
