"""A progress bar with the time left, on stderr, for commands that work through many equal parts."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

SPAN_S = 600.0
"""The time left is reckoned from the parts of so long: a part may take a minute."""


@contextlib.contextmanager
def counting(what: str) -> Iterator[Callable[[int, int], None]]:
    """Gives `done(n, of)`; nothing is shown unless stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _n, _of: None
        return
    from rich.console import Console  # noqa: PLC0415 - takes longer to import than short commands run
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, speed_estimate_period=SPAN_S) as bar:
        task = bar.add_task(what, total=None)
        yield lambda n, of: bar.update(task, completed=n, total=of)
