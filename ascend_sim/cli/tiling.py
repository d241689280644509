"""`ascend-sim tiling`: the host side of a call alone."""

from __future__ import annotations

import json as json_format
import sys
from dataclasses import dataclass

import typer

from ascend_sim.cli.calls import read_call, read_chip
from ascend_sim.errors import AscendSimError
from ascend_sim.host.planning import plan
from ascend_sim.host.registry import operator_named
from ascend_sim.host.tiling import Tiling
from ascend_sim.report.style import style_for
from ascend_sim.report.tilings import tiling_text


@dataclass(frozen=True, slots=True)
class TilingRequest:
    """The command line as it was given."""

    op: str
    inputs: list[str] | None
    attrs: list[str] | None
    soc: str | None
    cores: int | None
    ub_bytes: int | None
    sets: list[str] | None
    json: bool


def show_tiling(request: TilingRequest) -> int:
    """Print the tiling or the refusal; answers the exit code."""
    try:
        found = _plan(request)
    except AscendSimError as error:
        if not request.json:
            raise
        typer.echo(json_format.dumps({"ok": False, "error": str(error)}))
        return 2
    if request.json:
        typer.echo(json_format.dumps({"ok": True, **found.to_json()}, indent=2))
    else:
        typer.echo(tiling_text(found, style_for(sys.stdout)))
    return 0


def _plan(request: TilingRequest) -> Tiling:
    operator = operator_named(request.op)
    chip = read_chip(operator.default_soc if request.soc is None else request.soc, request.sets)
    inputs, attrs = read_call(operator, request.inputs, request.attrs)
    return plan(operator, inputs, attrs, chip, request.cores, request.ub_bytes)
