"""`ascend-sim tune`: the legal tilings of a call, ranked."""

from __future__ import annotations

import json as json_format
import sys
from dataclasses import dataclass
from pathlib import Path

import typer

from ascend_sim.cli.calls import read_call, read_chip
from ascend_sim.cli.counting import counting
from ascend_sim.host.registry import operator_named
from ascend_sim.report.files import atomic, check_writable
from ascend_sim.report.html.plotly import require_plotly
from ascend_sim.report.style import style_for
from ascend_sim.tune.page import write_page
from ascend_sim.tune.search import tune
from ascend_sim.tune.text import tuning_csv, tuning_json, tuning_text


@dataclass(frozen=True, slots=True)
class TuneRequest:
    """The command line as it was given."""

    op: str
    inputs: list[str] | None
    attrs: list[str] | None
    soc: str | None
    sets: list[str] | None
    limit: int
    top: int
    workers: int | None
    exact: bool
    csv: Path | None
    html: Path | None
    json: bool


def show_tuning(request: TuneRequest) -> None:
    """Time the tilings, write the file that was asked for, print."""
    if request.csv is not None:
        check_writable(request.csv, "table")
    if request.html is not None:
        check_writable(request.html, "HTML report")
        require_plotly()
    operator = operator_named(request.op)
    chip = read_chip(request.soc or operator.default_soc, request.sets)
    inputs, attrs = read_call(operator, request.inputs, request.attrs)
    with counting("tilings") as done:
        found = tune(
            operator,
            inputs,
            attrs,
            chip,
            limit=request.limit,
            exact=request.exact,
            workers=request.workers,
            done=done,
        )
    if request.csv is not None:
        with atomic(request.csv, "table") as temporary:
            temporary.write_text(tuning_csv(found), encoding="utf-8")
    if request.html is not None:
        write_page(found, request.html)
    if request.json:
        typer.echo(json_format.dumps(tuning_json(found), indent=2))
    else:
        typer.echo(tuning_text(found, style_for(sys.stdout), request.top))
