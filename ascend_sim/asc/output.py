"""What a kernel prints: kept with the launch, echoed as it comes, and limited to chosen cores."""

from __future__ import annotations

import io
import sys
from collections.abc import Collection
from types import TracebackType
from typing import TextIO

from ascend_sim.asc.recorder import RECORDER


class OutputFilter(io.TextIOBase):
    """Stands in for `sys.stdout` while a kernel is recorded (a context manager).

    `cores`: blocks whose output counts, or None for all. `echo`: also write it to the real stdout at once.
    """

    def __init__(self, cores: Collection[int] | None = None, echo: bool = True) -> None:
        self._cores = cores
        self._echo = echo
        self._kept = io.StringIO()
        self._stdout: TextIO = sys.stdout

    def __enter__(self) -> OutputFilter:
        self._stdout = sys.stdout
        sys.stdout = self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        sys.stdout = self._stdout

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self._cores is None or RECORDER.block in self._cores:
            self._kept.write(text)
            if self._echo:
                self._stdout.write(text)
        return len(text)

    def flush(self) -> None:
        self._stdout.flush()

    def isatty(self) -> bool:
        return self._stdout.isatty()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stdout.encoding

    def text(self) -> str:
        return self._kept.getvalue()
