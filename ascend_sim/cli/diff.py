"""`ascend-sim diff`: two runs that were written with `run --json --full`."""

from __future__ import annotations

import json as json_format
import sys
from pathlib import Path

import typer

from ascend_sim.report.diff import compare_runs, read_run
from ascend_sim.report.diff_text import diff_text
from ascend_sim.report.style import style_for


def show_diff(before: Path, after: Path, json: bool) -> None:
    """Print what changed."""
    found = compare_runs(read_run(before), read_run(after))
    if json:
        typer.echo(json_format.dumps(found.to_json(), indent=2))
    else:
        typer.echo(diff_text(found, style_for(sys.stdout)))
