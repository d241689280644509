"""A small timeline in text: what each pipe of one core does during the first tiles, a letter per source line."""

from __future__ import annotations

import string
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ascend_sim.program import Instr, PipeID
from ascend_sim.report.codes import Codes
from ascend_sim.report.waits import pipe_name
from ascend_sim.timeline import CoreTimeline

_LETTERS = string.ascii_lowercase + string.ascii_uppercase + string.digits
_STORES_SHOWN = 3
_INSTRUCTIONS_SHOWN = 2_000
_ROWS = (PipeID.PIPE_S, PipeID.PIPE_MTE2, PipeID.PIPE_V, PipeID.PIPE_MTE3)

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Strip:
    """`rows`: (pipe, one letter per column, " " where idle); `legend`: letter and an instruction of its line.

    `cycles` is the window's length from the block's begin; `cut` tells that the block goes on after it.
    """

    block: int
    cycles: int
    cut: bool
    rows: list[tuple[str, str]]
    legend: list[tuple[str, Instr]]


def first_tiles(core: CoreTimeline, columns: int) -> Strip | None:
    """The window from the block's begin to the end of its third store (or of the block), or None without work.

    The scalar row shows what the scalar unit dispatches; the others show the instruction that fills most of a column.
    """
    codes = Codes()
    found = codes.of(core.program.instrs)
    if not len(found):
        return None
    start, end = np.asarray(core.start, np.int64), np.asarray(core.end, np.int64)
    window = _window(core, codes.working[found], codes.pipe[found], end)
    letters = _Letters(codes)
    rows = []
    for pipe in _ROWS:
        scalar = pipe is PipeID.PIPE_S
        chosen = np.flatnonzero(codes.working[found] & ((codes.pipe[found] == pipe) | scalar))
        begin = (np.asarray(core.dispatch, np.int64) if scalar else start)[chosen] - core.begin
        seen = begin < window
        chosen, begin = chosen[seen], begin[seen]
        stop = np.minimum(end[chosen] - core.begin, window) if not scalar else begin + 1
        rows.append((pipe_name(pipe), _row(begin, stop, found[chosen], letters, window, columns)))
    return Strip(core.program.block, window, core.begin + window < core.finish, rows, letters.legend)


def _window(core: CoreTimeline, working: npt.NDArray[np.bool_], pipe: npt.NDArray[np.int8], end: Ints) -> int:
    """Cycles shown: three stores where there are more, and never more instructions than a reader could tell apart."""
    window = core.finish - core.begin
    stores = np.flatnonzero(working & (pipe == PipeID.PIPE_MTE3))
    if len(stores) > _STORES_SHOWN:
        window = int(end[stores[_STORES_SHOWN - 1]]) - core.begin
    if len(end) > _INSTRUCTIONS_SHOWN:
        window = min(window, core.dispatch[_INSTRUCTIONS_SHOWN] - core.begin)
    return max(window, 1)


class _Letters:
    """A letter per source line, given in the order of appearance; lines past the alphabet share `*`."""

    def __init__(self, codes: Codes) -> None:
        self._codes = codes
        self._of_line: dict[int, str] = {}
        self.legend: list[tuple[str, Instr]] = []

    def of(self, code: int) -> str:
        line = int(self._codes.line[code])
        letter = self._of_line.get(line)
        if letter is None:
            letter = _LETTERS[len(self._of_line)] if len(self._of_line) < len(_LETTERS) else "*"
            self._of_line[line] = letter
            self.legend.append((letter, self._codes.instrs[code]))
        return letter


def _row(begin: Ints, stop: Ints, codes: npt.NDArray[np.int32], letters: _Letters, window: int, columns: int) -> str:
    """One letter per column: of the instruction that covers most of it."""
    cover = [0.0] * columns
    row = [" "] * columns
    scale = columns / window
    for low, high, code in zip((begin * scale).tolist(), (stop * scale).tolist(), codes.tolist(), strict=True):
        letter = letters.of(code)
        for column in range(int(low), min(int(high) + 1, columns)):
            part = min(high, column + 1) - max(low, column)
            if part > cover[column]:
                cover[column] = part
                row[column] = letter
    return "".join(row)
