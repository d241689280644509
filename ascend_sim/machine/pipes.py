"""The pipes of a core: each takes its instructions in order and works ahead as far as all that it needs is known.

An instruction starts when it has been dispatched, its pipe is free, and what it waits for has happened. It leaves its
queue when it starts. A flag or barrier holds the pipe for a moment; a SetFlag takes effect when all earlier work of its
pipe is done, without stopping the pipe; a WaitFlag stops it until the flag is set.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable

from ascend_sim.machine.block import Block
from ascend_sim.machine.costs import COPY, MTE2, PIPE_OF, SET, VECTOR, WAIT, V
from ascend_sim.machine.layout import Step
from ascend_sim.machine.memory import LOAD, STORE, Engine, Memory
from ascend_sim.program import PipeID
from ascend_sim.soc.timing import Timing
from ascend_sim.timeline import Cause

_DISPATCH, _QUEUE, _FLAG = int(Cause.DISPATCH), int(Cause.QUEUE), int(Cause.FLAG)
_BARRIER, _AUTO_SYNC = int(Cause.BARRIER), int(Cause.AUTO_SYNC)


class Pipe:
    """What V, MTE2 and MTE3 have in common.

    `taken`: how many instructions have started; `next`: the position of the one after them; `needs`: the instruction
    whose end must be known before the pipe can go on (a SetFlag, or the transfer under way), -1 if none; `free`: the
    next instruction may start; `drained`: all work so far is done; `last`: the instruction that was done last.
    """

    __slots__ = (
        "block",
        "cause",
        "dispatch",
        "drained",
        "end",
        "flag_cycles",
        "free",
        "hold",
        "last",
        "needs",
        "next",
        "queue",
        "start",
        "steps",
        "taken",
        "wait",
    )

    block: Block
    steps: list[Step]
    dispatch: array[int]
    start: array[int]
    end: array[int]
    cause: array[int]
    wait: array[int]

    def __init__(self, queue: int, hold_cycles: int, flag_cycles: int) -> None:
        self.queue = queue
        self.hold = hold_cycles
        self.flag_cycles = flag_cycles
        self.free = self.drained = self.taken = self.next = 0
        self.last = self.needs = -1

    @property
    def pipe(self) -> PipeID:
        return PIPE_OF[self.queue]

    def enter(self, block: Block, begin: int) -> None:
        """Start on a new block."""
        self.block = block
        self.steps = block.layout.steps[self.queue]
        self.dispatch, self.start, self.end = block.dispatch, block.start, block.end
        self.cause, self.wait = block.cause, block.wait
        self.free = self.drained = begin
        self.taken = 0
        self.next = self.steps[0][0]
        self.last = self.needs = -1

    def idle(self, position: int) -> bool:
        """Whether every instruction before `position` is done."""
        return self.needs < 0 and self.next >= position

    def settled(self) -> tuple[int, int]:
        """The cycle by which everything taken so far has started and its work is done, and what that hangs on."""
        if self.taken:
            latest = self.steps[self.taken - 1][0]
            if self.start[latest] > self.drained:
                return self.start[latest], latest
        return self.drained, self.last

    def _waited(self, index: int, cause: int, cycles: int, peer: int) -> None:
        if cause != _DISPATCH or self.cause[index] != _QUEUE:
            self.cause[index] = cause
            self.wait[index] = cycles
            self.block.peer[index] = peer

    def _barrier(self, index: int) -> None:
        """The kernel's own barrier: all earlier work of the pipe must be done."""
        dispatched, free = self.dispatch[index], self.free
        begin = max(dispatched, free, self.drained)
        if begin > free:
            by_barrier = begin > dispatched
            self._waited(index, _BARRIER if by_barrier else _DISPATCH, begin - free, self.last if by_barrier else -1)
        self.start[index] = begin
        self.end[index] = self.free = begin + self.hold


class VectorPipe(Pipe):
    """PIPE_V, with the compiler's barriers between dependent instructions."""

    __slots__ = ()

    def __init__(self, timing: Timing) -> None:
        super().__init__(V, timing.sync.vector_hold_cycles, timing.sync.flag_cycles)

    def run(self, position: int) -> None:  # noqa: PLR0912, PLR0915 (the hot loop: calls would halve its speed)
        """Take what has been dispatched (the instructions before `position`), up to a flag not known to be set."""
        steps, taken = self.steps, self.taken
        dispatch, start, end = self.dispatch, self.start, self.end
        free, drained, last, hold = self.free, self.drained, self.last, self.hold
        self.needs = -1
        while True:
            index, kind, lead, occupancy, tail, barrier = steps[taken]
            if index >= position:
                break
            begin = dispatch[index]
            if kind == VECTOR:
                fit = free + lead
                if barrier and drained > free and begin <= drained + lead:
                    begin = drained + lead
                    self._waited(index, _AUTO_SYNC, drained - free, last)
                elif begin > fit:
                    self._waited(index, _DISPATCH, begin - fit, -1)
                else:
                    begin = fit
                start[index] = begin
                free = begin + occupancy
                end[index] = begin = free + tail
                if begin >= drained:
                    drained = begin
                    last = index
            elif kind == SET:
                if begin > free:
                    self._waited(index, _DISPATCH, begin - free, -1)
                else:
                    begin = free
                start[index] = begin
                free = begin + hold
                end[index] = (drained if drained > begin else begin) + self.flag_cycles
            elif kind == WAIT:
                seen = end[lead]
                if seen < 0:
                    self.needs = lead
                    break
                if seen > free and seen > begin:
                    begin = seen
                    self._waited(index, _FLAG, seen - free, lead)
                elif begin > free:
                    self._waited(index, _DISPATCH, begin - free, -1)
                else:
                    begin = free
                start[index] = begin
                end[index] = free = begin + hold
            else:
                self.free, self.drained, self.last = free, drained, last
                self._barrier(index)
                free = self.free
            taken += 1
        self.free, self.drained, self.last, self.taken, self.next = free, drained, last, taken, index


class TransferPipe(Pipe):
    """PIPE_MTE2 or PIPE_MTE3 with its engine, which moves one transfer after the other. `resume` is called when a
    transfer's end is known."""

    __slots__ = ("_addresses", "_engine", "_gap", "_resume")

    def __init__(self, queue: int, timing: Timing, memory: Memory, core: int, resume: Callable[[], None]) -> None:
        super().__init__(queue, timing.sync.transfer_hold_cycles, timing.sync.flag_cycles)
        self._gap = timing.memory.issue_gap_cycles
        self._engine = Engine(memory, core, LOAD if queue == MTE2 else STORE, self._done)
        self._resume = resume

    def start_cold(self, late_cycles: int) -> None:
        """The first transfer takes so much longer."""
        self._engine.late_cycles = late_cycles

    def enter(self, block: Block, begin: int) -> None:
        super().enter(block, begin)
        self._addresses = iter(block.addresses[self.queue])

    def run(self, position: int) -> None:
        """Take what has been dispatched, up to a flag not known to be set or a transfer (only the memory system can
        tell its end)."""
        steps, taken = self.steps, self.taken
        start, end = self.start, self.end
        free = self.free
        self.needs = -1
        while True:
            index, kind, detail, _, _, _ = steps[taken]
            if index >= position:
                break
            begin = self.dispatch[index]
            if kind == WAIT:
                seen = end[detail]
                if seen < 0:
                    self.needs = detail
                    break
                if seen > free and seen > begin:
                    begin = seen
                    self._waited(index, _FLAG, seen - free, detail)
                elif begin > free:
                    self._waited(index, _DISPATCH, begin - free, -1)
                else:
                    begin = free
                start[index] = begin
                end[index] = free = begin + self.hold
            elif kind > WAIT:
                self.free = free
                self._barrier(index)
                free = self.free
            else:
                if begin > free:
                    self._waited(index, _DISPATCH, begin - free, -1)
                else:
                    begin = free
                start[index] = begin
                if kind == COPY:
                    self.needs = index
                    self._engine.begin(begin, self.block.layout.ops[index], next(self._addresses))
                    taken += 1
                    index = steps[taken][0]
                    break
                free = begin + self.hold
                drained = self.drained
                end[index] = (drained if drained > begin else begin) + self.flag_cycles
            taken += 1
        self.free, self.taken, self.next = free, taken, index

    def _done(self, cycle: int, latency_cycles: int) -> None:
        index, block, transfer = self.needs, self.block, self._engine.transfer
        end = self.end[index] = cycle + latency_cycles
        block.left[index] = cycle
        block.stage[index] = transfer.stage
        block.hbm_bytes[index] = transfer.hbm_bytes
        block.missed_bytes[index] = transfer.missed_bytes
        if end >= self.drained:
            self.drained = end
            self.last = index
        self.free = cycle + self._gap
        self._resume()
