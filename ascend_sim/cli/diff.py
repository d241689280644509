"""`ascend-sim diff`: two runs that were written with `run --json --full`."""

from __future__ import annotations

import json as json_format
import sys
from pathlib import Path

import typer

from ascend_sim.report.diff import compare_runs, read_run
from ascend_sim.report.diff_text import diff_text
from ascend_sim.report.files import check_writable
from ascend_sim.report.html.diff_page import write_diff_html
from ascend_sim.report.style import style_for


def show_diff(before: Path, after: Path, json: bool, html: Path | None) -> None:
    """Print what changed, and write it as HTML if that is wanted."""
    if html is not None:
        check_writable(html, "HTML comparison")
    found = compare_runs(read_run(before), read_run(after))
    if html is not None:
        write_diff_html(found, html)
    if json:
        typer.echo(json_format.dumps(found.to_json(), indent=2))
    else:
        typer.echo(diff_text(found, style_for(sys.stdout)))
