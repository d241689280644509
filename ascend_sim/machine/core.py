"""One AI vector core: scalar unit and three pipes, advancing together until only the memory system can tell more."""

from __future__ import annotations

from collections.abc import Callable

from ascend_sim.machine.block import Block
from ascend_sim.machine.costs import MTE2, MTE3, CostModel
from ascend_sim.machine.hazards import Pending
from ascend_sim.machine.memory import Memory
from ascend_sim.machine.pipes import TransferPipe, VectorPipe
from ascend_sim.machine.scalar import ScalarUnit
from ascend_sim.program import CoreProgram
from ascend_sim.soc.models import Soc


class Core:
    """`finished(core, cycle)` is called when the block on it has ended, `arrive(core, cycle)` when it is at SyncAll."""

    def __init__(
        self,
        number: int,
        soc: Soc,
        costs: CostModel,
        memory: Memory,
        auto_sync: bool,
        states: dict[int, Pending],
        arrive: Callable[[Core, int], None],
        finished: Callable[[Core, int], None],
    ) -> None:
        timing = soc.require_timing()
        self.number = number
        self.block: Block | None = None
        self._costs = costs
        self._scalar_timing = timing.scalar
        self._depths = (timing.queues.vector_entries, timing.queues.mte2_entries, timing.queues.mte3_entries)
        self.vector = VectorPipe(timing, auto_sync, states)
        self.mte2 = TransferPipe(MTE2, timing, memory, number)
        self.mte3 = TransferPipe(MTE3, timing, memory, number)
        self.mte2.resume = self.mte3.resume = self.advance
        self.pipes = (self.vector, self.mte2, self.mte3)
        self.scalar = ScalarUnit(soc, costs, self.pipes, auto_sync, lambda cycle: arrive(self, cycle))
        self._finished = finished

    def begin(self, program: CoreProgram, cycle: int) -> Block:
        """Put a block on the core; it starts in `cycle`. Call `advance` afterwards."""
        block = self.block = Block(program, self.number, cycle, self._costs, self._depths)
        for pipe in self.pipes:
            pipe.enter(block, cycle)
        self.scalar.enter(block, cycle + self._scalar_timing.prologue_cycles)
        return block

    def advance(self) -> None:
        """Let every unit go on as far as it can."""
        scalar, vector, mte2, mte3 = self.scalar, self.vector, self.mte2, self.mte3
        while True:
            moved = scalar.run()
            position = scalar.position
            moved |= mte2.run(position)
            moved |= vector.run(position)
            moved |= mte3.run(position)
            if not moved:
                break
        block = self.block
        if block is not None and position == len(block.ops) and scalar.idle():
            self._finish(block)

    def release(self, cycle: int) -> None:
        """All cores have come to SyncAll; this one goes on in `cycle`."""
        self.scalar.released = cycle

    def _finish(self, block: Block) -> None:
        scalar = self.scalar
        trailing = self._costs.calls(block.program.trailing_calls)
        prologue = self._scalar_timing.prologue_cycles
        epilogue = self._scalar_timing.epilogue_cycles
        done = max(scalar.now + trailing, *(pipe.drained for pipe in self.pipes), *(pipe.free for pipe in self.pipes))
        block.timeline.scalar_cycles = prologue + scalar.busy + trailing + epilogue
        block.timeline.finish = done + epilogue
        self.block = None
        self._finished(self, block.timeline.finish)
