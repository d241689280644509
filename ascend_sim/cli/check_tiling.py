"""`ascend-sim check-tiling`: one tiling that the user brings."""

from __future__ import annotations

import json as json_format
import sys
from dataclasses import dataclass
from pathlib import Path

import typer

from ascend_sim.cli.calls import read_call, read_chip
from ascend_sim.cli.progress import progress
from ascend_sim.host.registry import operator_named
from ascend_sim.report.rows import list_rows, row, rows
from ascend_sim.report.style import Style, percent, style_for, us
from ascend_sim.sampling.calls import TimedCall
from ascend_sim.tune.check import Checked, check_tiling

OK, ILLEGAL = 0, 3


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """The command line as it was given."""

    op: str
    tiling: Path
    inputs: list[str] | None
    attrs: list[str] | None
    soc: str | None
    sets: list[str] | None
    exact: bool
    json: bool


def show_check(request: CheckRequest) -> int:
    """Check, print; answers the exit code."""
    operator = operator_named(request.op)
    chip = read_chip(request.soc or operator.default_soc, request.sets)
    inputs, attrs = read_call(operator, request.inputs, request.attrs)
    with progress():
        found = check_tiling(TimedCall(operator, inputs, attrs, chip), request.tiling, exact=request.exact)
    if request.json:
        typer.echo(json_format.dumps(found.to_json(), indent=2))
    else:
        typer.echo(checked_text(found, style_for(sys.stdout)))
    return OK if found.ok else ILLEGAL


def checked_text(found: Checked, style: Style) -> str:
    tiling = found.tiling
    lines = [style.rule(f"{tiling.op} on {tiling.variant}: the tiling in the file")]
    lines += rows("Tiling", f"key {tiling.key}: {tiling.meaning}", style)
    used = f"{tiling.ub_used_bytes:,} of {tiling.ub_bytes:,} B ({percent(tiling.ub_used_bytes / tiling.ub_bytes)})"
    lines.append(row("UB", used, style))
    for fault in found.faults:
        lines += rows("Illegal", fault, style, "bad")
    lines.append(row("Blocks", _blocks_text(found), style))
    if found.ok:
        lines.append(row("Covers", "every element once", style))
        lines.append(row("Balance", f"{percent(found.balance)}: mean work of a core over the most", style))
    if found.differences:
        texts = [
            f"{name} {'-' if given is None else given} (own {'-' if own is None else own})"
            for name, (given, own) in found.differences.items()
        ]
        lines += list_rows("Differs", texts, style)
    elif found.agrees:
        lines.append(row("Agrees", "with the operator's own choice", style))
    if found.duration_us is not None and found.own_us is not None:
        change = f"{100 * (found.duration_us / found.own_us - 1):+.1f} % to the own {us(found.own_us)}"
        mine, theirs = (f" ±{100 * error:.1f} %" if error else "" for error in (found.error, found.own_error))
        verdict = "" if found.verdict == "own" else f": {found.verdict}"
        lines.append(row("Time", f"{us(found.duration_us)}{mine} us, {change}{theirs} us{verdict}", style))
        lines += rows("Error", found.tie_text, style)
    for note in tiling.notes:
        lines += rows("Note", note, style)
    return "\n".join(lines)


def _blocks_text(found: Checked) -> str:
    blocks, cores = found.tiling.block_dim, found.cores
    return f"{blocks} on {cores} cores" + (": more than there are, they take turns" if blocks > cores else "")
