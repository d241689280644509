"""A line on stderr that tells how far a long run has come."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from typing import TextIO

from ascend_sim.asc.recorder import RECORDER

SHOW_AFTER_S = 1.0
_STEP_S = 0.1
_CLEAR = "\r\x1b[K"


@contextlib.contextmanager
def progress(stream: TextIO | None = None, after_s: float = SHOW_AFTER_S) -> Iterator[None]:
    """Show progress while the body runs, once it has taken `after_s` seconds, if `stream` (stderr) is a terminal.

    A thread of its own looks at the recorder from outside, so that recording and timing pay nothing for it.
    """
    out = sys.stderr if stream is None else stream
    if not out.isatty():
        yield
        return
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(out, done, after_s), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _watch(out: TextIO, done: threading.Event, after_s: float) -> None:
    begin = time.perf_counter()
    shown = recorded = False
    wait_s = after_s
    while not done.wait(wait_s):
        recorded |= RECORDER.launch is not None
        out.write(f"{_CLEAR}{_phase(recorded)}, {time.perf_counter() - begin:.0f} s")
        out.flush()
        shown, wait_s = True, _STEP_S
    if shown:
        out.write(_CLEAR)
        out.flush()


def _phase(recorded: bool) -> str:
    """What the process is doing, as far as the recorder shows it."""
    if RECORDER.launch is not None:
        return f"running block {RECORDER.block + 1} of {RECORDER.block_dim}"
    return "timing the instructions" if recorded else "preparing inputs and golden"
