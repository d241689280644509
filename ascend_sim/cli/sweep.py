"""`ascend-sim sweep`: one operator over many shapes, chips and dtypes."""

from __future__ import annotations

import json as json_format
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from ascend_sim.cli.calls import read_call
from ascend_sim.cli.counting import counting
from ascend_sim.cli.options import INTERRUPTED
from ascend_sim.host.registry import operator_named
from ascend_sim.host.tensors import tensor_info
from ascend_sim.plurals import plural
from ascend_sim.report.files import atomic, check_writable
from ascend_sim.report.html.plotly import require_plotly
from ascend_sim.report.style import style_for
from ascend_sim.tune.axes import read_axes
from ascend_sim.tune.executors import executor_named
from ascend_sim.tune.sweep import Row, Sweep, run_sweep
from ascend_sim.tune.sweep_page import write_sweep_page
from ascend_sim.tune.sweep_text import rows_csv, rows_json, rows_text


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
    html: Path | None
    json: bool


def show_sweep(request: SweepRequest) -> int:
    """Time what is left to time, write the files that were asked for, print all points; answers the exit code."""
    if request.csv is not None:
        check_writable(request.csv, "table")
    if request.html is not None:
        check_writable(request.html, "HTML report")
        require_plotly()
    operator = operator_named(request.op)
    inputs, attrs = read_call(operator, request.inputs, request.attrs)
    infos = {name: tensor_info(name, value) for name, value in operator.bind_inputs(inputs).items()}
    soc = request.soc or operator.default_soc
    sweep = Sweep(operator, infos, operator.bind_attrs(attrs), soc, read_axes(request.over), request.exact)
    path = request.results or sweep.default_file
    executor = executor_named(request.executor, request.workers)
    count = [0, 0]
    try:
        with counting("points") as show:

            def done(n: int, of: int) -> None:
                count[:] = n, of
                show(n, of)

            rows = run_sweep(sweep, path, executor, done=done)
    except KeyboardInterrupt:
        print(f"interrupted: {_kept(path, *count)}", file=sys.stderr)
        return INTERRUPTED
    _write(request, sweep, rows)
    if request.json:
        typer.echo(json_format.dumps(rows_json(sweep, rows, path), indent=2))
    else:
        typer.echo(rows_text(sweep, rows, path, style_for(sys.stdout)))
    return 0


def _kept(path: Path, n: int, of: int) -> str:
    if not n:
        return "nothing was timed yet"
    return f"{n:,} of {plural(of, 'point')} are kept in {path}; the same command goes on from there"


def _write(request: SweepRequest, sweep: Sweep, rows: Sequence[Row]) -> None:
    if request.csv is not None:
        with atomic(request.csv, "table") as temporary:
            temporary.write_text(rows_csv(sweep, rows), encoding="utf-8")
    if request.html is not None:
        write_sweep_page(sweep, rows, request.html)
