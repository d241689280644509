"""`ascend-sim accuracy`: the error table."""

from __future__ import annotations

import json as json_format
import sys

import typer

from ascend_sim.accuracy.checks import checks
from ascend_sim.accuracy.rows import all_rows, choose
from ascend_sim.accuracy.table import make_table
from ascend_sim.accuracy.text import table_json, table_text
from ascend_sim.errors import InputError
from ascend_sim.report.style import style_for

OK, MISSED = 0, 1


def show_accuracy(only: str | None, json: bool, check: bool) -> int:
    """Simulate the measured rows, print; answers the exit code."""
    rows = choose(all_rows(), only)
    if not rows:
        groups = ", ".join(dict.fromkeys(row.group for row in all_rows()))
        raise InputError(
            f"--only {only!r}: no measured row has this in its id, kernel, kind or chip; sources: {groups}"
        )
    entries = make_table(rows, done=_show_progress)
    if json:
        typer.echo(json_format.dumps(table_json(entries), indent=2, ensure_ascii=False))
    else:
        typer.echo(table_text(entries, style_for(sys.stdout)))
    return MISSED if check and not all(found.ok for found in checks(entries)) else OK


def _show_progress(done: int, of: int) -> None:
    """How many rows are done, on stderr, if that is a terminal."""
    if sys.stderr.isatty():
        end = "\r\x1b[K" if done == of else ""
        sys.stderr.write(f"\r\x1b[Ksimulated {done} of {of} rows{end}")
        sys.stderr.flush()
