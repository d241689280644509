"""`ascend-sim tune`: the legal tilings of a call, ranked."""

from __future__ import annotations

import json as json_format
import sys
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import typer

from ascend_sim.cli.calls import read_call, read_chip
from ascend_sim.cli.counting import counting
from ascend_sim.cli.options import INTERRUPTED
from ascend_sim.errors import InputError
from ascend_sim.host.registry import operator_named
from ascend_sim.report.files import atomic, check_writable, same_file
from ascend_sim.report.html.plotly import require_plotly
from ascend_sim.report.style import style_for
from ascend_sim.tune.executors import executor_named
from ascend_sim.tune.page import write_page
from ascend_sim.tune.search import tune
from ascend_sim.tune.text import saved_text, tuning_csv, tuning_json, tuning_text


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
    executor: str | None
    exact: bool
    csv: Path | None
    html: Path | None
    save: Path | None
    json: bool


def show_tuning(request: TuneRequest) -> None:
    """Time the tilings, write the file that was asked for, print."""
    if request.top < 1:
        raise InputError(f"top is {request.top}, it must be 1 or more")
    _check_files(request)
    operator = operator_named(request.op)
    chip = read_chip(request.soc or operator.default_soc, request.sets)
    inputs, attrs = read_call(operator, request.inputs, request.attrs)
    executor = executor_named(request.executor, request.workers)
    limit, exact = request.limit, request.exact
    try:
        with counting("tilings") as done:
            found = tune(operator, inputs, attrs, chip, limit=limit, exact=exact, executor=executor, done=done)
    except KeyboardInterrupt:
        print("interrupted: nothing was written", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
    if request.csv is not None:
        with atomic(request.csv, "table") as temporary:
            temporary.write_text(tuning_csv(found), encoding="utf-8")
    if request.html is not None:
        write_page(found, request.html)
    if request.save is not None:
        with atomic(request.save, "tiling") as temporary:
            temporary.write_text(json_format.dumps(found.trials[0].tiling.to_json(), indent=2) + "\n", encoding="utf-8")
    if request.json:
        typer.echo(json_format.dumps(tuning_json(found), indent=2))
    else:
        typer.echo(tuning_text(found, style_for(sys.stdout), request.top))
        if request.save is not None:
            typer.echo(saved_text(found, request.save))


def _check_files(request: TuneRequest) -> None:
    """Refuse what cannot be written before anything is timed."""
    files = {
        "--csv": (request.csv, "table"),
        "--html": (request.html, "HTML report"),
        "--save": (request.save, "tiling"),
    }
    given = [(option, path, what) for option, (path, what) in files.items() if path is not None]
    for _, path, what in given:
        check_writable(path, what)
    for (first, path, _), (second, other, _) in combinations(given, 2):
        if same_file(path, other):
            raise InputError(f"{first} and {second} both name {str(path)!r}: give two files")
    if request.html is not None:
        require_plotly()
