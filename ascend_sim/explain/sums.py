"""Gaps of all blocks added up by pipe, reason and source lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ascend_sim.explain.columns import PIPE_NAMES, Ints, Prices
from ascend_sim.explain.gaps import Gaps
from ascend_sim.explain.reasons import Reason
from ascend_sim.program import FlagWork, Instr


@dataclass(frozen=True, slots=True)
class Sum:
    """All gaps of one pipe for one reason between one pair of source lines.

    `instr` is what the pipe did next, or was doing (None: nothing), `cause` what it waited for (None: nothing in
    particular). `cycles` of all blocks together, `in_flight_cycles` of them while results of the pipe's own were on
    their way; `count`: how many gaps. `us` is the mean over the cores, `share` that over the mean AIV time.
    """

    pipe: str
    reason: Reason
    instr: Instr | None
    cause: Instr | None
    cycles: int
    in_flight_cycles: int
    count: int
    us: float
    share: float

    @property
    def line(self) -> str:
        """`file:line` of what the pipe did next, or ""."""
        return str(self.instr.place or "") if self.instr else ""

    @property
    def cause_line(self) -> str:
        """`file:line` of what it waited for, or ""."""
        return str(self.cause.place or "") if self.cause else ""

    @property
    def event(self) -> str:
        """`MTE2_V` for a wait on a flag, else ""."""
        return self.instr.work.event.name if self.instr and isinstance(self.instr.work, FlagWork) else ""

    def to_json(self) -> dict[str, Any]:
        return {
            "pipe": self.pipe,
            "reason": self.reason.name.lower(),
            "event": self.event,
            "us": round(self.us, 4),
            "share": round(self.share, 4),
            "in_flight_share": round(self.share * self.in_flight_cycles / self.cycles, 4),
            "count": self.count,
            "instruction": self.instr.name if self.instr else "",
            "line": self.line,
            "cause": self.cause.name if self.cause else "",
            "cause_line": self.cause_line,
        }


class _Numbers:
    """Distinct instructions of a launch, numbered from 1 (0: none), with the numbers of their source lines."""

    def __init__(self) -> None:
        self.instrs: list[Instr | None] = [None]
        self.lines: list[int] = [0]
        self._codes: dict[int, int] = {}
        self._lines: dict[tuple[str, int], int] = {}
        self._tables: dict[int, Ints] = {}

    def of(self, prices: Prices) -> Ints:
        """By position, the number of the instruction, and 0 at the end: where position -1 points."""
        found = self._tables.get(id(prices))
        if found is None:
            table = np.array([self._code(instr) for instr in prices.instrs], np.int64)
            found = np.append(table[prices.code] if len(table) else prices.code, 0)
            self._tables[id(prices)] = found
        return found

    def _code(self, instr: Instr) -> int:
        code = self._codes.get(id(instr))
        if code is None:
            code = self._codes[id(instr)] = len(self.instrs)
            self.instrs.append(instr)
            place = instr.place
            # without a place each instruction stands for itself
            key = (place.file, place.line) if place else ("", code)
            self.lines.append(self._lines.setdefault(key, len(self._lines) + 1))
        return code


def add_up(
    gaps: Sequence[tuple[Prices, Sequence[Gaps]]], *, cores: int, aiv_cycles: int, clock_mhz: float
) -> list[Sum]:
    """The sums over all blocks, longest first; `gaps` holds the gaps of each block by pipe, `aiv_cycles` is the AIV
    time of all `cores` together."""
    numbers = _Numbers()
    columns: list[list[Ints]] = [[], [], [], [], [], []]
    for prices, pipes in gaps:
        table = numbers.of(prices)
        for number, found in enumerate(pipes):
            cycles = found.cycles
            flying = np.where(found.in_flight, cycles, 0)
            rows = (np.full(len(found), number), found.reason, table[found.index], table[found.cause], cycles, flying)
            for column, values in zip(columns, rows, strict=True):
                column.append(values)
    if not columns[0]:
        return []
    pipe, reason, instr, cause, cycles, flying = (np.concatenate(column) for column in columns)
    line = np.array(numbers.lines, np.int64)
    size = int(line.max()) + 1
    key = ((pipe * len(Reason) + reason) * size + line[instr]) * size + line[cause]
    _, first, group, count = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    total, in_flight = np.bincount(group, weights=cycles), np.bincount(group, weights=flying)
    instrs = numbers.instrs
    return [
        Sum(
            PIPE_NAMES[pipe[at]],
            Reason(reason[at]),
            instrs[instr[at]],
            instrs[cause[at]],
            int(total[g]),
            int(in_flight[g]),
            int(count[g]),
            float(total[g]) / cores / clock_mhz,
            float(total[g]) / max(aiv_cycles, 1),
        )
        for g in np.argsort(-total, kind="stable").tolist()
        for at in [first[g]]
    ]
