"""The scalar unit: runs the program in order, dispatches to the pipes' queues, executes its own instructions.

It stands still when a queue is full, at a WaitFlag of its own, at PIPE_ALL and SyncAll, and when it reads or writes UB
that a pipe is still working on (see `order`).
"""

from __future__ import annotations

from collections.abc import Callable

from ascend_sim.machine.block import Block
from ascend_sim.machine.costs import BARRIER_ALL, SCALAR_ACCESS, SCALAR_SET, SCALAR_WAIT, SYNC_ALL, Op
from ascend_sim.machine.datacache import DataCache
from ascend_sim.machine.pipes import Pipe
from ascend_sim.program import Memory
from ascend_sim.soc.models import Soc
from ascend_sim.timeline import Cause

_QUEUE, _FLAG, _BARRIER, _AUTO_SYNC = int(Cause.QUEUE), int(Cause.FLAG), int(Cause.BARRIER), int(Cause.AUTO_SYNC)
_CORES, _MEMORY = int(Cause.CORES), int(Cause.MEMORY)


class ScalarUnit:
    """`position`: the next instruction; `now`: when the unit comes to it. `arrived`, `released`: at and from SyncAll,
    -1 if not. `arrive(cycle)` tells the other cores. `warm`: L2 holds what GetValue reads in GM."""

    __slots__ = (
        "_arrive",
        "_cache",
        "_soc",
        "_specials",
        "_stop",
        "_sync",
        "arrived",
        "block",
        "now",
        "pipes",
        "position",
        "released",
        "warm",
    )

    block: Block

    def __init__(self, soc: Soc, pipes: tuple[Pipe, ...], arrive: Callable[[int], None]) -> None:
        self._soc = soc
        self._sync = soc.require_timing().sync
        self.warm = True
        self._arrive = arrive
        self.pipes = pipes
        self._specials: dict[int, Callable[[Op], bool]] = {
            SCALAR_SET: self._set,
            SCALAR_WAIT: self._wait,
            SCALAR_ACCESS: self._access,
            BARRIER_ALL: self._drain,
            SYNC_ALL: self._sync_all,
        }
        self.position = self.now = self._stop = 0
        self.arrived = self.released = -1

    def enter(self, block: Block, begin: int) -> None:
        """Start on a new block whose own code begins in cycle `begin`; the data cache is cold."""
        self.block = block
        self.position = self._stop = 0
        self.now = begin
        self.arrived = self.released = -1
        self._cache = DataCache(self._soc.dcache.aiv_bytes, self._soc.dcache.line_bytes)

    def run(self) -> None:
        """Go on as far as possible."""
        block = self.block
        layout = block.layout
        room, issue, stops = layout.room, layout.issue, layout.stops
        dispatch, start = block.dispatch, block.start
        now = self.now
        begun = self.position
        while True:
            stop = stops[self._stop]
            for position in range(begun, stop):
                earlier = room[position]
                if earlier >= 0:
                    left = start[earlier]
                    if left < 0:
                        self.position, self.now = position, now
                        return
                    now += issue[position]
                    if left > now:
                        block.cause[position] = _QUEUE
                        block.wait[position] = left - now
                        now = left
                else:
                    now += issue[position]
                dispatch[position] = now
            self.position, self.now = stop, now
            if stop == len(room) or not self._special(layout.ops[stop]):
                return
            now = self.now
            begun = self.position = stop + 1
            self._stop += 1

    def idle(self) -> bool:
        """Whether the pipes have done everything that has been dispatched."""
        position = self.position
        return all(pipe.idle(position) for pipe in self.pipes)

    def _special(self, op: Op) -> bool:
        """What is more than dispatching; False if it must wait for something not yet known."""
        return self._specials.get(op.kind, self._hand_over)(op)

    def _set(self, op: Op) -> bool:
        self.now += op.issue
        self._record(self.now, self.now + self._sync.from_scalar_cycles)
        return True

    def _drain(self, op: Op) -> bool:
        """PIPE_ALL: every pipe must have done everything."""
        if not self.idle():
            return False
        self.now += op.issue
        until, peer = max(pipe.settled() for pipe in self.pipes)
        self._stall(until, _BARRIER, peer)
        self._record(self.now, self.now)
        return True

    def _record(self, begin: int, end: int) -> None:
        self.block.dispatch[self.position] = self.block.start[self.position] = begin
        self.block.end[self.position] = end

    def _stall(self, until: int, cause: int, peer: int) -> None:
        if until > self.now:
            self.block.cause[self.position] = cause
            self.block.wait[self.position] += until - self.now
            self.block.peer[self.position] = peer
            self.now = until

    def _hand_over(self, op: Op) -> bool:
        """Dispatch an instruction that touches what SetValue wrote: its pipe sees it a little later."""
        earlier = self.block.layout.room[self.position]
        left = self.block.start[earlier] if earlier >= 0 else 0
        if left < 0:
            return False
        self.now += op.issue
        self._stall(left, _QUEUE, -1)
        self.block.dispatch[self.position] = self.now + self._sync.from_scalar_cycles
        return True

    def _wait(self, op: Op) -> bool:
        setter = self.block.layout.order.setter[self.position]
        set_at = self.block.end[setter]
        if set_at < 0:
            return False
        self.now += op.issue
        self._stall(set_at - self._sync.flag_cycles + self._sync.to_scalar_cycles, _FLAG, setter)
        self._record(self.now, self.now)
        return True

    def _sync_all(self, op: Op) -> bool:
        if self.arrived < 0:
            if not self._drain(op):
                return False
            self.arrived = self.now
            self._arrive(self.now)
        if self.released < 0:
            return False
        self._stall(self.released, _CORES, -1)
        self._record(self.now, self.now)
        self.arrived = self.released = -1
        return True

    def _access(self, op: Op) -> bool:
        needed = [self.pipes[queue] for queue in self.block.layout.order.drains.get(self.position, ())]
        if not all(pipe.idle(self.position) for pipe in needed):
            return False
        for pipe in needed:
            until, peer = pipe.settled()
            self._stall(until + self._sync.to_scalar_cycles, _AUTO_SYNC, peer)
        begin = self.now
        self.now += op.issue + op.occupancy
        if op.work.memory is Memory.GM and not self._cache.touch(self.block.scalar_addresses.popleft()):
            self._stall(self.now + (op.lead if self.warm else op.tail), _MEMORY, -1)
        self._record(begin, self.now)
        return True
