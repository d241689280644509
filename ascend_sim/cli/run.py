"""`ascend-sim run`: one operator call, from command line texts to a printed result."""

from __future__ import annotations

import json as json_format
import sys
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import typer

from ascend_sim.api import run_call
from ascend_sim.cli.calls import read_call, read_chip, read_l2, read_launch_kind
from ascend_sim.cli.progress import progress
from ascend_sim.cli.selections import check_selection
from ascend_sim.errors import InputError
from ascend_sim.host.registry import operator_named
from ascend_sim.report.files import check_writable, same_file
from ascend_sim.report.result import Result
from ascend_sim.report.selection import read_selection
from ascend_sim.report.style import style_for

OK, WRONG_VALUES = 0, 3


@dataclass(frozen=True, slots=True)
class RunRequest:
    """The command line as it was given."""

    op: str
    inputs: list[str] | None
    attrs: list[str] | None
    soc: str | None
    sets: list[str] | None
    values: bool
    seed: int
    save: Path | None
    trace: Path | None
    msprof: Path | None
    html: Path | None
    cores: str | None
    window: str | None
    explain: bool
    full: bool
    core: int | None
    l2: str
    json: bool
    compare: str = ""
    launch_kind: str = "back_to_back"
    cold_start_us: float = 0.0
    repeat: int = 1
    tiling: Path | None = None


def run_operator(request: RunRequest) -> int:
    """Run, write the files that were asked for, print; answers the exit code."""
    _check_files(request)
    operator = operator_named(request.op)
    chip = read_chip(operator.default_soc if request.soc is None else request.soc, request.sets)
    inputs, attrs = read_call(operator, request.inputs, request.attrs)
    with progress():
        result = run_call(
            operator,
            inputs,
            attrs,
            chip,
            values=request.values,
            seed=request.seed,
            l2=read_l2(request.l2),
            launch_kind=read_launch_kind(request.launch_kind),
            cold_start_us=request.cold_start_us,
            repeat=request.repeat,
            core=request.core,
            echo=not request.json,
            compare=request.compare,
            tiling=request.tiling,
        )
    if request.save is not None:
        result.save(request.save)
    chosen = read_selection(request.cores, request.window)
    if request.trace is not None:
        result.write_trace(request.trace, chosen)
    if request.msprof is not None:
        folder = result.write_msprof(request.msprof, chosen)
        typer.echo(f"wrote {folder}", err=True)
    if request.html is not None:
        result.write_html(request.html, chosen)
    _print(result, request)
    return WRONG_VALUES if result.values.ok is False else OK


def _check_files(request: RunRequest) -> None:
    """Refuse what cannot be written before anything runs."""
    check_selection(request.cores, request.window, request.trace, request.msprof, request.html)
    if request.full and not request.json:
        raise InputError("--full says what the JSON holds: give it together with --json")
    if request.save is not None and not request.values:
        raise InputError("--save writes values and --no-values computes none: give only one of them")
    if request.save is not None:
        check_writable(request.save, "outputs")
    if request.trace is not None:
        check_writable(request.trace, "trace")
    files = {"--save": request.save, "--trace": request.trace, "--html": request.html}
    given = [(option, path) for option, path in files.items() if path is not None]
    for (first, path), (second, other) in combinations(given, 2):
        if same_file(path, other):
            raise InputError(f"{first} and {second} both name {str(path)!r}: give two files")


def _print(result: Result, request: RunRequest) -> None:
    if request.json:
        typer.echo(result.output, err=True, nl=False)  # what kernels print must not spoil the JSON on stdout
        typer.echo(json_format.dumps(result.to_json(explain=request.explain, full=request.full), indent=2))
    else:
        typer.echo(result.summary(style_for(sys.stdout), explain=request.explain))
