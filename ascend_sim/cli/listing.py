"""`ascend-sim ops` and `ascend-sim socs`: what there is."""

from __future__ import annotations

import json as json_format
import shutil
import sys
from typing import Any

import typer

from ascend_sim.cli.calls import read_chip
from ascend_sim.host.registry import operator_named
from ascend_sim.report import operators, socs
from ascend_sim.report.style import style_for


def show_operators(op: str | None, json: bool) -> None:
    """All operators, or one of them in full."""
    style = style_for(sys.stdout)
    if op is None:
        view = operators.operators()
        _show(view, operators.operators_text(view, style), json)
    else:
        view = operators.operator(operator_named(op))
        _show(view, operators.operator_text(view, style), json)


def show_chips(variant: str | None, sets: list[str] | None, json: bool) -> None:
    """All chips, or every parameter of one, overrides applied."""
    if variant is None:
        view = socs.chips()
        _show(view, socs.chips_text(view), json)
    else:
        view = socs.chip(read_chip(variant, sets))
        width = max(shutil.get_terminal_size((120, 24)).columns, 80)
        _show(view, socs.chip_text(view, width), json)


def _show(view: dict[str, Any], text: str, json: bool) -> None:
    typer.echo(json_format.dumps(view, indent=2, ensure_ascii=False) if json else text.rstrip("\n"))
