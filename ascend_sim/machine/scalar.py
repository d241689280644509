"""The scalar unit: runs the program in order, dispatches to the pipes' queues, executes its own instructions.

It stands still when a queue is full, at a WaitFlag of its own, at PIPE_ALL and SyncAll, and when it reads or writes UB
that a pipe is still working on (the compiler orders S with V, MTE2 and MTE3 around GetValue and SetValue).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from ascend_sim.machine.block import Block
from ascend_sim.machine.costs import (
    BARRIER_ALL,
    LAST_QUEUED,
    SCALAR_ACCESS,
    SCALAR_SET,
    SCALAR_WAIT,
    CostModel,
    Op,
)
from ascend_sim.machine.pipes import Pipe
from ascend_sim.program import Memory
from ascend_sim.soc.models import Soc
from ascend_sim.timeline import Cause

_QUEUE, _FLAG, _BARRIER, _AUTO_SYNC = int(Cause.QUEUE), int(Cause.FLAG), int(Cause.BARRIER), int(Cause.AUTO_SYNC)
_CORES, _MEMORY = int(Cause.CORES), int(Cause.MEMORY)


class DataCache:
    """The scalar unit's cache of GM: lines last touched, as long as they fit."""

    __slots__ = ("_capacity", "_line_bytes", "_lines")

    def __init__(self, nbytes: int, line_bytes: int) -> None:
        self._capacity = max(1, nbytes // line_bytes)
        self._line_bytes = line_bytes
        self._lines: OrderedDict[int, None] = OrderedDict()

    def touch(self, address: int) -> bool:
        """Whether the line was there; it is afterwards."""
        line = address // self._line_bytes
        if line in self._lines:
            self._lines.move_to_end(line)
            return True
        self._lines[line] = None
        if len(self._lines) > self._capacity:
            self._lines.popitem(last=False)
        return False


class ScalarUnit:
    """`position`: the next instruction; `now`: when the unit comes to it; `busy`: cycles worked so far."""

    __slots__ = (
        "_arrive",
        "_costs",
        "_guards",
        "_sync",
        "_timing",
        "arrived",
        "auto_sync",
        "block",
        "busy",
        "cache",
        "now",
        "pipes",
        "position",
        "released",
        "soc",
    )

    block: Block

    def __init__(
        self, soc: Soc, costs: CostModel, pipes: tuple[Pipe, ...], auto_sync: bool, arrive: Callable[[int], None]
    ) -> None:
        timing = soc.require_timing()
        self.soc = soc
        self.pipes = pipes
        self.auto_sync = auto_sync
        self.cache = DataCache(soc.dcache.aiv_bytes, soc.dcache.line_bytes)
        self._arrive = arrive
        self._costs = costs
        self._timing = timing.scalar
        self._sync = timing.sync
        self.position = self.now = self.busy = 0
        self.arrived = self.released = -1
        self._guards: list[_Guard] = []

    def enter(self, block: Block, begin: int) -> None:
        """Start on a new block whose own code begins in cycle `begin`."""
        self.block = block
        self.position = self.busy = 0
        self.now = begin
        self.arrived = self.released = -1
        self.cache = DataCache(self.soc.dcache.aiv_bytes, self.soc.dcache.line_bytes)
        guarded = self.auto_sync and block.scalar_touches_ub
        self._guards = [_Guard(pipe) for pipe in self.pipes] if guarded else []

    def run(self) -> bool:
        """Go on as far as possible; whether that was at least one instruction."""
        block = self.block
        ops, room, dispatch, start = block.ops, block.room, block.dispatch, block.start
        position, now = self.position, self.now
        begun = position
        busy = self.busy
        guards = self._guards
        count = len(ops)
        while position < count:
            op = ops[position]
            if op.kind <= LAST_QUEUED:
                earlier = room[position]
                if earlier >= 0:
                    left = start[earlier]
                    if left < 0:
                        break
                    now += op.issue
                    if left > now:
                        block.cause[position] = _QUEUE
                        block.wait[position] = left - now
                        now = left
                else:
                    now += op.issue
                busy += op.issue
                if guards and op.touches:
                    dispatch[position] = now + self._hand_over(op, guards)
                else:
                    dispatch[position] = now
            else:
                self.position, self.now = position, now
                if not self._own(op):
                    break
                now = self.now
                busy += self._worked(op)
            position += 1
        self.position, self.now, self.busy = position, now, busy
        return position > begun

    def idle(self) -> bool:
        """Whether the pipes have done everything that has been dispatched."""
        position = self.position
        return all(pipe.idle(position) for pipe in self.pipes)

    def _worked(self, op: Op) -> int:
        if op.kind != SCALAR_ACCESS:
            return op.issue
        return op.issue + self._access_cycles(op)

    def _own(self, op: Op) -> bool:
        """Execute one of the unit's own instructions; False if it must wait for something not yet known."""
        if op.kind == SCALAR_SET:
            self.now += op.issue
            self._record(self.now, self.now + self._sync.from_scalar_cycles)
            self.block.flags[op.flag].append(self.position)
            return True
        if op.kind == SCALAR_WAIT:
            return self._wait(op)
        if op.kind == SCALAR_ACCESS:
            return self._access(op)
        if not self.idle():
            return False
        if op.kind == BARRIER_ALL:
            self._drain(op)
            self._record(self.now, self.now)
            return True
        return self._sync_all(op)

    def _record(self, begin: int, end: int) -> None:
        self.block.dispatch[self.position] = self.block.start[self.position] = begin
        self.block.end[self.position] = end

    def _stall(self, until: int, cause: int, peer: int) -> None:
        if until > self.now:
            self.block.cause[self.position] = cause
            self.block.wait[self.position] = until - self.now
            self.block.peer[self.position] = peer
            self.now = until

    def _wait(self, op: Op) -> bool:
        raised = self.block.flags[op.flag]
        if not raised:
            return False
        setter = raised.popleft()
        self.now += op.issue
        self._stall(self.block.end[setter] - self._sync.flag_cycles + self._sync.to_scalar_cycles, _FLAG, setter)
        self._record(self.now, self.now)
        if self._guards:  # the pipe behind the flag has been waited for
            source = op.work.event.source
            for guard in self._guards:
                if guard.pipe.pipe is source:
                    guard.clear()
        return True

    def _drain(self, op: Op) -> None:
        self.now += op.issue
        pipe = max(self.pipes, key=lambda pipe: pipe.drained)
        self._stall(pipe.drained, _BARRIER, pipe.last)
        for guard in self._guards:
            guard.clear()

    def _sync_all(self, op: Op) -> bool:
        if self.arrived < 0:
            self._drain(op)
            self.arrived = self.now
            self._arrive(self.now)
        if self.released < 0:
            return False
        drained = self.block.wait[self.position]
        self.now = self.released
        self.block.cause[self.position] = _CORES
        self.block.wait[self.position] = drained + self.released - self.arrived
        self.block.peer[self.position] = -1
        self.arrived = self.released = -1
        self._record(self.now, self.now)
        return True

    def _access(self, op: Op) -> bool:
        if op.work.memory is Memory.UB and self._guards:
            needed = [guard for guard in self._guards if guard.meets(op)]
            if not all(guard.pipe.idle(self.position) for guard in needed):
                return False
            for guard in needed:
                self._stall(guard.pipe.drained + self._sync.to_scalar_cycles, _AUTO_SYNC, guard.pipe.last)
                guard.clear()
            if op.work.store:
                for guard in self._guards:
                    guard.stored |= op.writes
        begin = self.now
        self.now += op.issue + self._access_cycles(op)
        if op.work.memory is Memory.GM:
            miss = 0 if self.cache.touch(self.block.scalar_addresses.popleft()) else self._miss_cycles(op)
            self._stall(self.now + miss, _MEMORY, -1)
        self._record(begin, self.now)
        return True

    def _access_cycles(self, op: Op) -> int:
        timing, work = self._timing, op.work
        if work.memory is Memory.GM:
            return timing.gm_store_cycles if work.store else timing.gm_load_cycles
        return timing.ub_store_cycles if work.store else timing.ub_load_cycles

    def _miss_cycles(self, op: Op) -> int:
        timing = self._timing
        if op.work.store:
            return max(0, timing.gm_store_miss_cycles - timing.gm_store_cycles)
        return max(0, timing.gm_load_miss_cycles - timing.gm_load_cycles)

    def _hand_over(self, op: Op, guards: list[_Guard]) -> int:
        """Extra cycles of dispatch where an instruction touches what SetValue wrote; note what it touches itself."""
        guard = guards[op.queue]
        guard.touched |= op.touches
        guard.written |= op.writes
        if guard.stored & op.touches:
            guard.stored = 0
            return self._sync.from_scalar_cycles
        return 0


class _Guard:
    """What a pipe touches and writes since the scalar unit last waited for it, and what SetValue `stored` unseen."""

    __slots__ = ("pipe", "stored", "touched", "written")

    def __init__(self, pipe: Pipe) -> None:
        self.pipe = pipe
        self.touched = self.written = self.stored = 0

    def meets(self, op: Op) -> bool:
        return bool((self.touched if op.work.store else self.written) & op.touches)

    def clear(self) -> None:
        self.touched = self.written = 0
