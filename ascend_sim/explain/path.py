"""The critical path: from the last core's finish back to its begin, always to what decided the time.

The path stays on that core: where it waits for others at SyncAll, the wait is a step of its own. Its steps touch each
other, so their cycles add up to the core's time exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ascend_sim.explain.columns import PIPE_NAMES, SCALAR, Block, Columns
from ascend_sim.explain.queues import settle
from ascend_sim.explain.scalars import drained
from ascend_sim.machine.costs import (
    BARRIER,
    COPY,
    LAST_QUEUED,
    SCALAR_ACCESS,
    SCALAR_SET,
    SCALAR_WAIT,
    SET,
    SYNC_ALL,
    VECTOR,
    WAIT,
)
from ascend_sim.program import Instr


class Part(IntEnum):
    """What a step of the path is spent on."""

    START = 0  # prologue, or from one block of a core to the next
    ISSUE = 1  # the scalar unit's calls and the issue of an instruction
    ACCESS = 2  # GetValue, SetValue
    SCALAR_MEMORY = 3  # what they wait for GM
    WORK = 4  # the vector unit computes
    MASK = 5  # mask registers are set
    BANKS = 6  # UB bank conflicts
    RESULT = 7  # from a vector instruction's last repeat to its result
    MOVE = 8  # bytes or rows pass at the pipe's own rate
    PORT = 9  # longer because a load and a store share the port
    L2 = 10  # longer because of L2
    HBM_LATENCY = 11  # longer because data comes from HBM, at one core's rate
    HBM = 12  # longer because HBM is shared
    ARRIVAL = 13  # latency of a transfer
    ENGINE = 14  # the engine between two transfers
    SYNC = 15  # flags and barriers themselves
    CORES = 16  # SyncAll
    END = 17  # epilogue
    COLD_START = 18  # the part of the prologue that a cold launch adds

    @property
    def text(self) -> str:
        """What the reports call it."""
        return _TEXTS[self]


_TEXTS = {
    Part.START: "start",
    Part.ISSUE: "issue",
    Part.ACCESS: "scalar access",
    Part.SCALAR_MEMORY: "scalar access waits for GM",
    Part.WORK: "compute",
    Part.MASK: "set mask registers",
    Part.BANKS: "bank conflicts",
    Part.RESULT: "latency of the result",
    Part.MOVE: "move",
    Part.PORT: "port shared",
    Part.L2: "L2 shared",
    Part.HBM_LATENCY: "HBM latency",
    Part.HBM: "HBM shared",
    Part.ARRIVAL: "latency",
    Part.ENGINE: "engine gap",
    Part.SYNC: "flag or barrier",
    Part.CORES: "wait for other cores",
    Part.END: "end",
    Part.COLD_START: "cold start",
}


@dataclass(frozen=True, slots=True)
class Step:
    """Cycles `[begin, end)` of the launch, spent by `pipe` on `part` of the instruction at `index` of `block` (-1, and
    None: on none)."""

    part: Part
    pipe: str
    block: int
    index: int
    instr: Instr | None
    begin: int
    end: int

    @property
    def cycles(self) -> int:
        return self.end - self.begin


def critical_path(columns: Columns) -> list[Step]:
    """The path of the core that finishes last (of several, the first), in order of time."""
    if not columns.blocks:
        return []
    last = max(columns.blocks, key=lambda block: block.line.finish)
    mine = sorted((b for b in columns.blocks if b.line.core == last.line.core), key=lambda block: block.line.begin)
    steps: list[Step] = []
    for block in mine:
        if steps and block.line.begin > steps[-1].end:
            steps.append(Step(Part.START, "scalar", block.number, -1, None, steps[-1].end, block.line.begin))
        steps += _Walk(columns, block).steps()
    return steps


Node = tuple[int, int]  # what to explain next: the time of a kind, and the position that it belongs to
_SCALAR, _START, _FREE, _END, _SET_DONE = range(5)


class _Walk:
    """One block, walked backwards. The times of a node: `_SCALAR` when the scalar unit was through with an
    instruction, `_START` and `_END` of an instruction, `_FREE` when it left its pipe free, `_SET_DONE` when everything
    before a SetFlag was done."""

    def __init__(self, columns: Columns, block: Block) -> None:
        self.block = block
        self.sync = columns.timing.sync
        self.scalar = columns.timing.scalar
        self.trailing = columns.costs.calls(block.line.program.trailing_calls)
        prices, settled = block.prices, settle(block)
        self.kind, self.lead, self.issue = prices.kind.tolist(), prices.lead.tolist(), prices.issue.tolist()
        self.occupancy, self.conflict = prices.occupancy.tolist(), prices.conflict.tolist()
        self.room, self.setter = prices.room.tolist(), prices.setter.tolist()
        self.barrier = prices.barrier.tolist()
        self.start, self.end, self.dispatch = block.start.tolist(), block.end.tolist(), block.dispatch.tolist()
        self.left, self.free = block.left.tolist(), block.free.tolist()
        self.own, self.alone, self.after = block.own.tolist(), block.alone.tolist(), block.after_scalar.tolist()
        self.done, self.last = settled.done.tolist(), settled.last.tolist()
        self.previous, self.pipe = [-1] * len(self.kind), [SCALAR] * len(self.kind)
        for queue, positions in enumerate(prices.queues):
            before = -1
            for position in positions.tolist():
                self.previous[position], self.pipe[position] = before, queue
                before = position
        self.explain = {
            _SCALAR: self._scalar,
            _START: self._start,
            _FREE: self._free,
            _END: self._end,
            _SET_DONE: self._set_done,
        }
        self.found: list[tuple[Part, int, int, int, int]] = []

    def steps(self) -> Iterator[Step]:
        """In order of time."""
        node: Node | None = self._finish()
        while node is not None:
            node = self.explain[node[0]](node[1])
        instrs, number = self.block.line.program.instrs, self.block.number
        for part, pipe, index, begin, end in reversed(self.found):
            instr = instrs[index] if index >= 0 else None
            yield Step(part, PIPE_NAMES[pipe], number, index, instr, begin, end)

    def _step(self, part: Part, index: int, begin: int, end: int, pipe: int | None = None) -> None:
        if end > begin:
            self.found.append((part, self.pipe[index] if pipe is None else pipe, index, begin, end))

    def _finish(self) -> Node:
        line = self.block.line
        ended = line.finish - self.scalar.epilogue_cycles
        self._step(Part.END, -1, ended, line.finish, SCALAR)
        through = (self.after[-1] if self.after else self.block.code) + self.trailing
        if ended > through:
            return _END, int(np.argmax(self.block.end))
        self._step(Part.ISSUE, len(self.after) - 1, through - self.trailing, through, SCALAR)
        return _SCALAR, len(self.after) - 1

    def _scalar(self, index: int) -> Node | None:
        if index < 0:
            cold = self.block.code - self.block.line.late_cycles
            self._step(Part.COLD_START, -1, cold, self.block.code, SCALAR)
            self._step(Part.START, -1, self.block.line.begin, cold, SCALAR)
            return None
        kind, after = self.kind[index], self.after[index]
        before = self.after[index - 1] if index else self.block.code
        if kind == SCALAR_ACCESS:
            return self._access(index, before)
        begun = before + self.issue[index]
        if after > begun:
            if kind <= LAST_QUEUED:
                return _START, self.room[index]
            if kind == SCALAR_WAIT:
                self._step(Part.SYNC, index, after - self.sync.to_scalar_cycles, after, SCALAR)
                return _SET_DONE, self.setter[index]
            until, cause = (int(column[0]) for column in drained(self.block, np.array([index])))
            if kind == SYNC_ALL:
                self._step(Part.CORES, index, max(until, begun), after, SCALAR)
            if until > begun:
                return self._settled(cause, until)
        self._step(Part.ISSUE, index, before, begun, SCALAR)
        return _SCALAR, index - 1

    def _settled(self, cause: int, until: int) -> Node:
        """What ended, or if nothing did started, at `until`."""
        working = self.kind[cause] in (VECTOR, COPY)
        return (_END if working and self.end[cause] == until else _START), cause

    def _access(self, index: int, before: int) -> Node:
        start = self.start[index]
        worked = start + self.issue[index] + self.occupancy[index]
        self._step(Part.SCALAR_MEMORY, index, worked, self.end[index], SCALAR)
        self._step(Part.ACCESS, index, start, worked, SCALAR)
        if start <= before:
            return _SCALAR, index - 1
        until = start - self.sync.to_scalar_cycles
        self._step(Part.SYNC, index, until, start, SCALAR)
        return self._settled(self.block.line.peer[index], until)

    def _start(self, index: int) -> Node:
        kind, start, previous = self.kind[index], self.start[index], self.previous[index]
        free = self.free[previous] if previous >= 0 else -1
        done, dispatch, lead = self.done[index], self.dispatch[index], self.lead[index]
        setter = self.setter[index]
        if kind == WAIT and self.end[setter] > max(dispatch, free):
            scalar = self.kind[setter] == SCALAR_SET
            self._step(Part.SYNC, index, start - self._flag_cycles(setter), start)
            return (_SCALAR if scalar else _SET_DONE), setter
        if kind == BARRIER and done > max(dispatch, free) and self.last[index] >= 0:
            return _END, self.last[index]
        if kind == VECTOR and self.barrier[index] and done > free and done + lead >= dispatch:
            self._step(Part.MASK, index, done, start)
            return _END, self.last[index]
        if previous < 0 or start > free + (lead if kind == VECTOR else 0):
            self._step(Part.SYNC, index, self.after[index], start)  # handed over by the scalar unit
            return _SCALAR, index
        self._step(Part.MASK, index, free, start)
        return _FREE, previous

    def _flag_cycles(self, setter: int) -> int:
        sync = self.sync
        return sync.from_scalar_cycles if self.kind[setter] == SCALAR_SET else sync.flag_cycles

    def _free(self, index: int) -> Node:
        if self.kind[index] == COPY:
            self._step(Part.ENGINE, index, self.left[index], self.free[index])
        return self._work(index)

    def _work(self, index: int) -> Node:
        """What the pipe itself did, up to `left`."""
        kind, start, left = self.kind[index], self.start[index], self.left[index]
        if kind == VECTOR:
            worked = left - self.conflict[index]
            self._step(Part.BANKS, index, worked, left)
            self._step(Part.WORK, index, start, worked)
        elif kind == COPY:
            alone, own = start + self.alone[index], start + self.own[index]
            self._step(_SHARED[self.block.line.stage[index]], index, alone, left)
            self._step(Part.HBM_LATENCY, index, own, alone)
            self._step(Part.MOVE, index, start, own)
        else:
            self._step(Part.SYNC, index, start, self.free[index])
        return _START, index

    def _end(self, index: int) -> Node:
        kind, end = self.kind[index], self.end[index]
        if kind in (VECTOR, COPY):
            self._step(Part.RESULT if kind == VECTOR else Part.ARRIVAL, index, self.left[index], end)
            return self._work(index)
        if kind == SET:
            self._step(Part.SYNC, index, end - self.sync.flag_cycles, end)
            return _SET_DONE, index
        if kind > LAST_QUEUED:
            self._step(Part.SYNC, index, self.after[index], end, SCALAR)
            return _SCALAR, index
        return self._work(index)

    def _set_done(self, index: int) -> Node:
        if self.done[index] > self.start[index] and self.last[index] >= 0:
            return _END, self.last[index]
        return _START, index


_SHARED = (Part.PORT, Part.PORT, Part.L2, Part.HBM, Part.PORT)  # by Stage
