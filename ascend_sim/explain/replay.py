"""What the account predicts: the launch's times again, worked out from what each instruction was found to wait for.

The machine is not asked. Transfers take what they took (or what a `Weights` says instead), everything else follows
from the rules that the account is made by. With nothing changed the replay gives the timeline back, cycle for cycle,
which is how the tests make sure that the account knows every cause; with a cause taken away it predicts what that is
worth, and the machine (`whatif`) says how right the prediction is.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np

from ascend_sim.explain.columns import Block, Columns, Ints
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


@dataclass(slots=True)
class Weights:
    """What the instructions of one block cost, by position: `issue` and `access` on the scalar unit (`missed`: what an
    access waits for GM), `lead`, `occupancy` and `tail` in the vector pipe, `moving` and `latency` of transfers."""

    issue: Ints
    access: Ints
    missed: Ints
    lead: Ints
    occupancy: Ints
    tail: Ints
    moving: Ints
    latency: Ints
    trailing: int


Change = Callable[[Block, Weights], None]


def weights_of(columns: Columns, block: Block) -> Weights:
    """As the launch was."""
    prices = block.prices
    accesses, copies = prices.kind == SCALAR_ACCESS, prices.kind == COPY
    access = np.where(accesses, prices.occupancy, 0)
    return Weights(
        issue=prices.issue.copy(),
        access=access,
        missed=np.where(accesses, block.end - block.start - prices.issue - access, 0),
        lead=prices.lead.copy(),
        occupancy=prices.occupancy.copy(),
        tail=prices.tail.copy(),
        moving=np.where(copies, block.left - block.start, 0),
        latency=np.where(copies, block.end - block.left, 0),
        trailing=columns.costs.calls(block.line.program.trailing_calls),
    )


def replay(columns: Columns, change: Change | None = None) -> list[int]:
    """When each block finishes (cycles, in the timeline's order) after `change` has been made to its weights; blocks
    stay on their cores."""
    blocks = columns.blocks
    finish = [0] * len(blocks)
    by_core: dict[int, list[int]] = {}
    for number in sorted(range(len(blocks)), key=lambda n: blocks[n].line.begin):
        by_core.setdefault(blocks[number].line.core, []).append(number)
    waiting: list[tuple[_Run, int, Generator[int, int, int]]] = []
    arrived: list[int] = []
    for numbers in by_core.values():
        before = None
        for number in numbers:
            block = blocks[number]
            gap = columns.timing.launch.next_block_cycles
            begin = block.line.begin if before is None else before + gap
            weights = weights_of(columns, block)
            if change is not None:
                change(block, weights)
            run = _Run(columns, block, weights, begin)
            steps = run.run()
            try:
                arrived.append(next(steps))
                waiting.append((run, number, steps))
            except StopIteration as end:
                before = finish[number] = end.value
    _meet(columns, waiting, arrived, finish)
    return finish


def _meet(
    columns: Columns, waiting: list[tuple[_Run, int, Generator[int, int, int]]], arrived: list[int], finish: list[int]
) -> None:
    """Let the blocks that stand at SyncAll go on together, until none does."""
    while waiting:
        release = max(arrived) + columns.timing.sync.sync_all_cycles
        standing, waiting, arrived = waiting, [], []
        for run, number, steps in standing:
            try:
                arrived.append(steps.send(release))
                waiting.append((run, number, steps))
            except StopIteration as end:
                finish[number] = end.value


class _Run:
    """One block. Units go on in turn as far as they can, as on the machine; transfers need nobody else here."""

    def __init__(self, columns: Columns, block: Block, weights: Weights, begin: int) -> None:
        timing, prices = columns.timing, block.prices
        self.sync, self.scalar, self.gap = timing.sync, timing.scalar, timing.memory.issue_gap_cycles
        self.holds = (timing.sync.vector_hold_cycles, *[timing.sync.transfer_hold_cycles] * 2)
        self.begin, self.trailing = begin, weights.trailing
        self.code = begin + self.scalar.prologue_cycles + block.line.late_cycles
        self.kind, self.room, self.setter = prices.kind.tolist(), prices.room.tolist(), prices.setter.tolist()
        self.barrier, self.handed_over = prices.barrier.tolist(), prices.handed_over.tolist()
        self.issue, self.access, self.missed = weights.issue.tolist(), weights.access.tolist(), weights.missed.tolist()
        self.lead, self.occupancy, self.tail = weights.lead.tolist(), weights.occupancy.tolist(), weights.tail.tolist()
        self.moving, self.latency = weights.moving.tolist(), weights.latency.tolist()
        self.drains = prices.layout.order.drains
        self.queues = [positions.tolist() for positions in prices.queues]
        count = len(self.kind)
        self.dispatch, self.start, self.end = [-1] * count, [-1] * count, [-1] * count
        self.taken = [0, 0, 0]
        self.free, self.drained = [begin] * 3, [begin] * 3
        self.position, self.now = 0, self.code

    def run(self) -> Generator[int, int, int]:
        """Yields when the block comes to SyncAll and is sent when it may go on; answers when it finishes."""
        while True:
            moved = True
            while moved:
                moved = any([self._pipe(queue) for queue in range(3)])  # noqa: C419 - each of them
                moved = self._scalar() or moved
            if self.position == len(self.kind):
                break
            assert self.kind[self.position] == SYNC_ALL, "the timeline has an order that the replay cannot follow"
            self.now = max(self.now + self.issue[self.position], *map(self._settled, range(3)))
            self.now = max(self.now, (yield self.now))
            self._note(self.now, self.now)
        ended = max(self.now + self.trailing, max(self.end, default=0))
        return ended + self.scalar.epilogue_cycles

    def _settled(self, queue: int) -> int:
        taken = self.taken[queue]
        latest = self.start[self.queues[queue][taken - 1]] if taken else self.begin
        return max(self.drained[queue], latest)

    def _idle(self, queue: int) -> bool:
        """Whether the pipe has taken everything in front of the scalar unit's position."""
        positions, taken = self.queues[queue], self.taken[queue]
        return taken == len(positions) or positions[taken] >= self.position

    def _note(self, start: int, end: int) -> None:
        self.dispatch[self.position] = self.start[self.position] = start
        self.end[self.position] = end
        self.position += 1

    def _scalar(self) -> bool:
        """Dispatch and do what can be dispatched and done; whether there was anything."""
        first = self.position
        while self.position < len(self.kind):
            kind = self.kind[self.position]
            if not (self._queued() if kind <= LAST_QUEUED else self._special(kind)):
                break
        return self.position > first

    def _queued(self) -> bool:
        position = self.position
        earlier = self.room[position]
        left = self.start[earlier] if earlier >= 0 else 0
        if left < 0:
            return False
        self.now = max(self.now + self.issue[position], left)
        late = self.sync.from_scalar_cycles if self.handed_over[position] else 0
        self.dispatch[position] = self.now + late
        self.position += 1
        return True

    def _special(self, kind: int) -> bool:
        position, sync = self.position, self.sync
        issue = self.issue[position]
        if kind == SCALAR_SET:
            self.now += issue
            self._note(self.now, self.now + sync.from_scalar_cycles)
        elif kind == SCALAR_WAIT:
            seen = self.end[self.setter[position]]
            if seen < 0:
                return False
            self.now = max(self.now + issue, seen - sync.flag_cycles + sync.to_scalar_cycles)
            self._note(self.now, self.now)
        elif kind == SCALAR_ACCESS:
            needed = self.drains.get(position, ())
            if not all(map(self._idle, needed)):
                return False
            start = max([self.now, *(self._settled(queue) + sync.to_scalar_cycles for queue in needed)])
            self.now = start + issue + self.access[position] + self.missed[position]
            self._note(start, self.now)
        else:
            if kind == SYNC_ALL or not all(map(self._idle, range(3))):
                return False
            self.now = max(self.now + issue, *map(self._settled, range(3)))
            self._note(self.now, self.now)
        return True

    def _pipe(self, queue: int) -> bool:
        """Take what has been dispatched and has its flags; whether there was anything."""
        positions, first = self.queues[queue], self.taken[queue]
        while self.taken[queue] < len(positions):
            position = positions[self.taken[queue]]
            if position >= self.position or not self._take(queue, position):
                break
            self.taken[queue] += 1
        return self.taken[queue] > first

    def _take(self, queue: int, position: int) -> bool:
        kind, drained = self.kind[position], self.drained[queue]
        start = max(self.dispatch[position], self.free[queue])
        if kind == VECTOR:
            after = max(self.free[queue], drained) if self.barrier[position] else self.free[queue]
            start = max(self.dispatch[position], after + self.lead[position])
            free = start + self.occupancy[position]
            end = free + self.tail[position]
        elif kind == COPY:
            left = start + self.moving[position]
            free, end = left + self.gap, left + self.latency[position]
        elif kind == SET:
            free, end = start + self.holds[queue], max(start, drained) + self.sync.flag_cycles
        else:
            if kind == WAIT:
                seen = self.end[self.setter[position]]
                if seen < 0:
                    return False
                start = max(start, seen)
            elif kind == BARRIER:
                start = max(start, drained)
            free = end = start + self.holds[queue]
        self.start[position], self.end[position], self.free[queue] = start, end, free
        if kind in (VECTOR, COPY):
            self.drained[queue] = max(drained, end)
        return True
