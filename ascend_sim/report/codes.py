"""Instructions as small integers: reports reduce a million instructions by looking each distinct one up once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ascend_sim.program import BarrierWork, FlagWork, Instr, SyncWork

Codes32 = npt.NDArray[np.int32]


class _Numbering(dict[Instr, int]):
    """Numbers instructions by identity as they are first met."""

    def __missing__(self, instr: Instr) -> int:
        self[instr] = number = len(self)
        return number


class Codes:
    """Numbers distinct instructions across the blocks of a launch and tables what reports ask of each.

    `pipe[code]` is the PipeID, `working[code]` is false for flags, barriers and SyncAll, `line[code]` numbers the
    source line (equal lines share a number; -1 without a place).
    """

    def __init__(self) -> None:
        self._numbers = _Numbering()
        self._lines: dict[tuple[str, int], int] = {}
        self.instrs: list[Instr] = []
        self.pipe: npt.NDArray[np.int8] = np.zeros(0, np.int8)
        self.working: npt.NDArray[np.bool_] = np.zeros(0, np.bool_)
        self.line: Codes32 = np.zeros(0, np.int32)

    def of(self, instrs: Sequence[Instr]) -> Codes32:
        """One code per instruction; the tables grow to hold every code that is returned."""
        codes = np.fromiter(map(self._numbers.__getitem__, instrs), np.int32, len(instrs))
        if len(self._numbers) > len(self.instrs):
            self._grow()
        return codes

    def _grow(self) -> None:
        fresh = list(self._numbers)[len(self.instrs) :]
        self.instrs += fresh
        self.pipe = np.append(self.pipe, np.array([i.pipe for i in fresh], np.int8))
        self.working = np.append(
            self.working, np.array([not isinstance(i.work, FlagWork | BarrierWork | SyncWork) for i in fresh], np.bool_)
        )
        self.line = np.append(self.line, np.array([self._line_of(i) for i in fresh], np.int32))

    def _line_of(self, instr: Instr) -> int:
        if instr.place is None:
            return -1
        return self._lines.setdefault((instr.place.file, instr.place.line), len(self._lines))
