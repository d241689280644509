"""The pipes of a core: each takes its instructions in order and works ahead as far as all that it needs is known.

An instruction starts when it has been dispatched, its pipe is free, and what it waits for has happened. It leaves its
queue when it starts. A flag or barrier holds the pipe for a moment; a SetFlag takes effect when all earlier work of its
pipe is done, without stopping the pipe; a WaitFlag stops it until the flag is set.
"""

from __future__ import annotations

from ascend_sim.machine.block import Block
from ascend_sim.machine.costs import BARRIER, COPY, PIPE_OF, SET, VECTOR, WAIT, V
from ascend_sim.machine.hazards import Pending, pending
from ascend_sim.machine.memory import Memory
from ascend_sim.program import PipeID
from ascend_sim.soc.timing import Timing
from ascend_sim.timeline import Cause

_DISPATCH, _QUEUE, _FLAG = int(Cause.DISPATCH), int(Cause.QUEUE), int(Cause.FLAG)
_BARRIER, _AUTO_SYNC = int(Cause.BARRIER), int(Cause.AUTO_SYNC)


class Pipe:
    """What V, MTE2 and MTE3 have in common. `free`: the next instruction may start; `drained`: all work so far is
    done; `last`: the instruction that was done last; `taken`: how many have started; `flight`: the transfer whose end
    is not yet known, -1 if none; `blocked_on`: the flag that the next instruction waits for, -1 if none."""

    __slots__ = ("block", "blocked_on", "drained", "flag_cycles", "flight", "free", "hold", "last", "queue", "taken")

    block: Block

    def __init__(self, queue: int, hold_cycles: int, flag_cycles: int) -> None:
        self.queue = queue
        self.hold = hold_cycles
        self.flag_cycles = flag_cycles
        self.free = self.drained = self.taken = 0
        self.last = self.flight = self.blocked_on = -1

    @property
    def pipe(self) -> PipeID:
        return PIPE_OF[self.queue]

    def enter(self, block: Block, begin: int) -> None:
        """Start on a new block."""
        self.block = block
        self.free = self.drained = begin
        self.taken = 0
        self.last = self.flight = self.blocked_on = -1

    def idle(self, position: int) -> bool:
        """Whether every instruction before `position` is done."""
        return self.flight < 0 and self.block.items[self.queue][self.taken] >= position

    def _control(self, index: int, kind: int) -> bool:
        """A flag or barrier; False if it has to wait for a flag that nobody has set yet."""
        block = self.block
        dispatched, free = block.dispatch[index], self.free
        begin = free if free > dispatched else dispatched
        cause = _DISPATCH if dispatched > free else 0
        if kind == WAIT:
            raised = block.flags[block.ops[index].flag]
            if not raised:
                self.blocked_on = block.ops[index].flag
                return False
            self.blocked_on = -1
            setter = raised.popleft()
            if block.end[setter] > begin:
                begin, cause = block.end[setter], _FLAG
                block.peer[index] = setter
        elif kind == BARRIER and self.drained > begin:
            begin, cause = self.drained, _BARRIER
            block.peer[index] = self.last
        block.start[index] = begin
        self.free = begin + self.hold
        if kind == SET:
            done = self.drained if self.drained > begin else begin
            block.end[index] = done + self.flag_cycles
            block.flags[block.ops[index].flag].append(index)
        else:
            block.end[index] = self.free
        if cause and not (cause == _DISPATCH and block.cause[index] == _QUEUE):
            block.cause[index] = cause
            block.wait[index] = begin - free
        return True


class VectorPipe(Pipe):
    """PIPE_V. With `auto_sync` the compiler's barriers stand between dependent instructions."""

    __slots__ = ("_clean", "_pending", "auto_sync")

    def __init__(self, timing: Timing, auto_sync: bool, states: dict[int, Pending]) -> None:
        super().__init__(V, timing.sync.vector_hold_cycles, timing.sync.flag_cycles)
        self.auto_sync = auto_sync
        self._clean = pending(0, states)
        self._pending = self._clean

    def enter(self, block: Block, begin: int) -> None:
        super().enter(block, begin)
        self._pending = self._clean

    def run(self, position: int) -> bool:  # noqa: PLR0912 (the hot loop: calls would halve its speed)
        """Take what has been dispatched (the instructions before `position`); whether anything could be taken."""
        block = self.block
        items, taken = block.items[V], self.taken
        index = items[taken]
        if index >= position:
            return False
        ops, dispatch, start, end = block.ops, block.dispatch, block.start, block.end
        auto_sync, state = self.auto_sync, self._pending
        begun = taken
        free, drained, last = self.free, self.drained, self.last
        while index < position:
            op = ops[index]
            kind = op.kind
            if kind == VECTOR:
                ready = fit = free + op.lead
                barrier = False
                if auto_sync:
                    barrier, state = state[op]
                    if barrier and drained > free:
                        ready = drained + op.lead
                begin = dispatch[index]
                if begin > ready:
                    if block.cause[index] != _QUEUE:
                        block.cause[index] = _DISPATCH
                        block.wait[index] = begin - fit
                else:
                    begin = ready
                    if ready > fit:
                        block.cause[index] = _AUTO_SYNC
                        block.wait[index] = ready - fit
                        block.peer[index] = last
                start[index] = begin
                free = begin + op.occupancy
                done = free + op.tail
                end[index] = done
                if done >= drained:
                    drained = done
                    last = index
            else:
                self.free, self.drained, self.last = free, drained, last
                if not self._control(index, kind):
                    break
                free = self.free
                if kind == BARRIER:
                    state = self._clean
            taken += 1
            index = items[taken]
        self.free, self.drained, self.last, self.taken, self._pending = free, drained, last, taken, state
        return taken > begun


class TransferPipe(Pipe):
    """PIPE_MTE2 or PIPE_MTE3 with its engine, which moves one transfer after the other."""

    __slots__ = ("_address", "_copies", "_memory", "core", "gap", "resume")

    def __init__(self, queue: int, timing: Timing, memory: Memory, core: int) -> None:
        super().__init__(queue, timing.sync.transfer_hold_cycles, timing.sync.flag_cycles)
        self.gap = timing.memory.issue_gap_cycles
        self.core = core
        self._memory = memory
        self._copies = 0
        self.resume = _nothing

    def enter(self, block: Block, begin: int) -> None:
        super().enter(block, begin)
        self._copies = 0

    def run(self, position: int) -> bool:
        """Take what has been dispatched, up to a transfer whose end only the memory system can tell."""
        block = self.block
        items = block.items[self.queue]
        begun = self.taken
        while self.flight < 0 and (index := items[self.taken]) < position:
            op = block.ops[index]
            if op.kind != COPY:
                if not self._control(index, op.kind):
                    break
                self.taken += 1
                continue
            begin, free = block.dispatch[index], self.free
            if begin > free:
                if block.cause[index] != _QUEUE:
                    block.cause[index] = _DISPATCH
                    block.wait[index] = begin - free
            else:
                begin = free
            block.start[index] = begin
            self.flight = index
            self.taken += 1
            address = block.addresses[self.queue][self._copies]
            self._copies += 1
            self._memory.request(begin, self.core, op.work, address, self._done)
        return self.taken > begun

    def _done(self, cycle: int, latency_cycles: int) -> None:
        end = cycle + latency_cycles
        self.block.end[self.flight] = end
        if end >= self.drained:
            self.drained = end
            self.last = self.flight
        self.free = cycle + self.gap
        self.flight = -1
        self.resume()


def _nothing() -> None:
    """Stands for the core's `advance` until the core is built."""
