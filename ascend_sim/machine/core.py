"""One AI vector core: scalar unit and three pipes, advancing together until only the memory system can tell more."""

from __future__ import annotations

from collections.abc import Callable

from ascend_sim.machine.block import Block
from ascend_sim.machine.costs import MTE2, MTE3, CostModel
from ascend_sim.machine.layout import Layouts
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
        layouts: Layouts,
        memory: Memory,
        arrive: Callable[[Core, int], None],
        finished: Callable[[Core, int], None],
    ) -> None:
        timing = soc.require_timing()
        self.number = number
        self.block: Block | None = None
        self._costs = costs
        self._layouts = layouts
        self._timing = timing.scalar
        self._finished = finished
        vector = VectorPipe(timing)
        mte2 = TransferPipe(MTE2, timing, memory, number, self.advance)
        mte3 = TransferPipe(MTE3, timing, memory, number, self.advance)
        self.pipes = (vector, mte2, mte3)  # by queue number
        self.scalar = ScalarUnit(soc, self.pipes, lambda cycle: arrive(self, cycle))

    def begin(self, program: CoreProgram, cycle: int, late_cycles: int) -> Block:
        """Put a block on the core; it starts in `cycle`, its prologue takes `late_cycles` more than usual. Call
        `advance` afterwards."""
        block = self.block = Block(program, self._layouts.of(program), self.number, cycle, late_cycles)
        for pipe in self.pipes:
            pipe.enter(block, cycle)
        self.scalar.enter(block, cycle + self._timing.prologue_cycles + late_cycles)
        return block

    def start_cold(self, load_cycles: int, store_cycles: int) -> None:
        """The core's first load and first store take so much longer."""
        _, mte2, mte3 = self.pipes
        mte2.start_cold(load_cycles)
        mte3.start_cold(store_cycles)

    def advance(self) -> None:
        """Let every unit go on as far as it can.

        The scalar unit is asked only when a pipe has run out of dispatched instructions or needs one not yet
        dispatched: when its times are worked out makes no difference to them, and long stretches are quicker.
        """
        block = self.block
        if block is None:
            return
        end, scalar = block.end, self.scalar
        vector, mte2, mte3 = self.pipes
        position = scalar.position
        while True:
            moved = False
            needs = mte2.needs
            if end[needs] >= 0 if needs >= 0 else mte2.next < position:
                mte2.run(position)
                moved = True
            needs = vector.needs
            if end[needs] >= 0 if needs >= 0 else vector.next < position:
                vector.run(position)
                moved = True
            needs = mte3.needs
            if end[needs] >= 0 if needs >= 0 else mte3.next < position:
                mte3.run(position)
                moved = True
            if moved:
                continue
            if position == len(end):
                break
            if 0 <= mte2.needs < position and 0 <= vector.needs < position and 0 <= mte3.needs < position:
                return
            scalar.run()
            if scalar.position == position:
                return
            position = scalar.position
        if scalar.idle():
            self._finish(block)

    def release(self, cycle: int) -> None:
        """All cores have come to SyncAll; this one goes on in `cycle`."""
        self.scalar.released = cycle

    def _finish(self, block: Block) -> None:
        timing, timeline = self._timing, block.timeline
        trailing = self._costs.calls(block.program.trailing_calls)
        timeline.scalar_cycles = timing.prologue_cycles + block.layout.scalar_cycles + trailing + timing.epilogue_cycles
        ended = max(self.scalar.now + trailing, max(block.end, default=0))
        timeline.finish = ended + timing.epilogue_cycles
        self.block = None
        self._finished(self, timeline.finish)
