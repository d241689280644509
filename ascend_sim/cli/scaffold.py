"""`ascend-sim new`: the folder of a new operator."""

from __future__ import annotations

from pathlib import Path

import typer

from ascend_sim.cli.options import PROGRAM
from ascend_sim.scaffold.writing import write_operator as write


def write_operator(name: str, into: Path) -> None:
    """Write the folder and say what to do with it."""
    folder = write(name, into)
    start = "" if folder.is_absolute() or str(folder).startswith(".") else "./"  # a name without a slash is no path
    typer.echo(f"wrote {folder}: {', '.join(sorted(path.name for path in folder.iterdir()))}")
    typer.echo(f"`{PROGRAM} run {start}{folder}` runs it, `pytest {folder}` tests it")
