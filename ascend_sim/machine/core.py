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
from ascend_sim.timeline import CoreTimeline


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
        self._turns = (mte2, vector, mte3)  # as data flow, so that most rounds get everything done
        self.scalar = ScalarUnit(soc, self.pipes, lambda cycle: arrive(self, cycle))

    def begin(self, program: CoreProgram, cycle: int, late_cycles: int) -> CoreTimeline:
        """Put a block on the core; it starts in `cycle`, its prologue takes `late_cycles` more than usual. Call
        `advance` afterwards."""
        block = self.block = Block(program, self._layouts.of(program), self.number, cycle)
        for pipe in self.pipes:
            pipe.enter(block, cycle)
        self.scalar.enter(block, cycle + self._timing.prologue_cycles + late_cycles)
        return block.timeline

    def advance(self) -> None:
        """Let every unit go on as far as it can.

        The scalar unit is asked only when a pipe has run out of dispatched instructions or needs one not yet
        dispatched: when its times are worked out makes no difference to them, and long stretches are quicker.
        """
        block = self.block
        if block is None:
            return
        end, scalar = block.end, self.scalar
        position = scalar.position
        moved = True
        while moved:
            moved = wanted = False
            for pipe in self._turns:
                needs = pipe.needs
                if needs < 0:
                    if pipe.next < position:
                        pipe.run(position)
                        moved = True
                    else:
                        wanted = True
                elif end[needs] >= 0:
                    pipe.run(position)
                    moved = True
                elif needs >= position:
                    wanted = True
            if wanted and not moved and position < len(end):
                scalar.run()
                if scalar.position > position:
                    position = scalar.position
                    moved = True
        if position == len(end) and scalar.idle():
            self._finish(block)

    def release(self, cycle: int) -> None:
        """All cores have come to SyncAll; this one goes on in `cycle`."""
        self.scalar.released = cycle

    def _finish(self, block: Block) -> None:
        timing, timeline = self._timing, block.timeline
        trailing = self._costs.calls(block.program.trailing_calls)
        ends = [self.scalar.now + trailing, *(pipe.settled() for pipe in self.pipes)]
        timeline.scalar_cycles = timing.prologue_cycles + block.layout.scalar_cycles + trailing + timing.epilogue_cycles
        timeline.finish = max(ends) + timing.epilogue_cycles
        self.block = None
        self._finished(self, timeline.finish)
