"""Checks of the options that say what goes into a trace, and where to."""

from __future__ import annotations

import os
from pathlib import Path

from ascend_sim.errors import InputError
from ascend_sim.report.files import check_writable
from ascend_sim.report.html.plotly import require_plotly
from ascend_sim.report.selection import read_selection


def check_selection(
    cores: str | None, window: str | None, trace: Path | None, msprof: Path | None, html: Path | None
) -> None:
    """Refuse a selection that nothing asks for or that cannot be read, and a place where no folder can be made."""
    if trace is None and msprof is None and html is None and (cores is not None or window is not None):
        given = "--cores" if cores is not None else "--window"
        raise InputError(f"{given} limits a trace or report: give --trace, --msprof or --html as well")
    read_selection(cores, window)
    if html is not None:
        check_writable(html, "HTML report")
        require_plotly()
    if msprof is not None:
        _check_directory(msprof)


def _check_directory(path: Path) -> None:
    nearest = path
    while not nearest.exists() and nearest != nearest.parent:
        nearest = nearest.parent
    if not nearest.is_dir():
        raise InputError(f"cannot write msprof's files to {str(path)!r}: {str(nearest)!r} is not a directory")
    if not os.access(nearest, os.W_OK):
        raise InputError(f"cannot write msprof's files to {str(path)!r}: no permission to write in {str(nearest)!r}")
