"""A line on stderr that tells how far a long run has come."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any, TextIO

from ascend_sim.asc.recorder import RECORDER

SHOW_AFTER_S = 1.0
_STEP_S = 0.1
_CLEAR = "\r\x1b[K"


@contextlib.contextmanager
def progress(stream: TextIO | None = None, after_s: float = SHOW_AFTER_S) -> Iterator[None]:
    """Show progress while the body runs, once it has taken `after_s` seconds, if `stream` (stderr) is a terminal.

    A thread of its own looks at the recorder from outside, so that recording and timing pay nothing for it. What the
    body prints on stdout takes the line's place.
    """
    out = sys.stderr if stream is None else stream
    if not out.isatty():
        yield
        return
    line = _Line(out)
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(line, done, after_s), daemon=True)
    watcher.start()
    stdout = sys.stdout
    sys.stdout = _Stdout(stdout, line)
    try:
        yield
    finally:
        sys.stdout = stdout
        done.set()
        watcher.join()
        line.clear()


class _Line:
    """The progress line, written by one thread and cleared by another."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._lock = threading.Lock()
        self._shown = False
        self.free = True  # nobody else has begun a line that is not ended

    def show(self, text: str) -> None:
        with self._lock:
            if self.free:
                self._out.write(_CLEAR + text)
                self._out.flush()
                self._shown = True

    def clear(self) -> None:
        with self._lock:
            if self._shown:
                self._out.write(_CLEAR)
                self._out.flush()
                self._shown = False


class _Stdout:
    """stdout that clears the progress line before anything is printed, and keeps it away from a line half printed."""

    def __init__(self, stream: TextIO, line: _Line) -> None:
        self._stream = stream
        self._line = line

    def write(self, text: str) -> int:
        if text:
            self._line.free = text.endswith("\n")
            self._line.clear()
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _watch(line: _Line, done: threading.Event, after_s: float) -> None:
    begin = time.perf_counter()
    recorded = False
    wait_s = after_s
    while not done.wait(wait_s):
        recorded |= RECORDER.launch is not None
        line.show(f"{_phase(recorded)}, {time.perf_counter() - begin:.0f} s")
        wait_s = _STEP_S


def _phase(recorded: bool) -> str:
    """What the process is doing, as far as the recorder shows it."""
    if RECORDER.launch is not None:
        return f"running block {RECORDER.block + 1} of {RECORDER.block_dim}"
    return "timing the instructions" if recorded else "preparing"
