"""Cost models of machines that do not exist: no bank conflicts, a faster vector unit, a free scalar unit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ascend_sim.machine.banks import BankModel
from ascend_sim.machine.costs import COPY, SCALAR_ACCESS, VECTOR, CostModel, Op
from ascend_sim.machine.ubports import Turn, UbLayout
from ascend_sim.machine.vf import VfTimer
from ascend_sim.program import Access, Instr
from ascend_sim.soc import Soc


class _Bankless(BankModel):
    """UB that serves every access at once."""

    def occupancy(
        self, writes: Sequence[Access], reads: Sequence[Access], repeats: int, cycles_per_repeat: float
    ) -> int:
        return math.ceil(repeats * cycles_per_repeat)


class _BanklessLayout(UbLayout):
    """The same for register loads and stores: ports count, banks do not."""

    def turns(self, start: int, length: int, blocks: int, block_stride: int) -> tuple[Turn, ...]:
        return ((0, 0),)


@dataclass(frozen=True, slots=True)
class Change:
    """How a cost model differs from the chip's: `banks` false leaves bank conflicts out, the speeds divide the cycles
    of a unit (infinity: none are left); of transfers that is the time for rows alone."""

    banks: bool = True
    vector_speed: float = 1.0
    scalar_speed: float = 1.0
    load_speed: float = 1.0
    store_speed: float = 1.0


class ChangedCosts(CostModel):
    """The cost model of `soc` with a change."""

    def __init__(self, soc: Soc, change: Change) -> None:
        super().__init__(soc)
        self._change = change
        if not change.banks:
            ub = soc.ub.banks
            self.banks = _Bankless.of(ub, self.vector.write_delay_cycles)
            if self.vf is not None:
                vf = soc.require_timing().vf
                assert vf is not None
                layout = UbLayout.of(soc.ub)
                self.vf = VfTimer.of(vf, _BanklessLayout(layout.groups, layout.row_bytes, layout.banks))

    def lower(self, instr: Instr) -> Op:
        known = id(instr) in self._lowered
        op = super().lower(instr)
        if not known:
            self._alter(op)
        return op

    def calls(self, packed: int) -> int:
        return faster(super().calls(packed), self._change.scalar_speed)

    def _alter(self, op: Op) -> None:
        change = self._change
        if change.scalar_speed != 1:
            # the calls in `issue` are already divided: rounding once more costs at most a cycle
            op.issue = faster(super().calls(op.instr.scalar_calls) + self._issue(op), change.scalar_speed)
            if op.kind == SCALAR_ACCESS:
                op.occupancy = faster(op.occupancy, change.scalar_speed)
        if change.vector_speed != 1 and op.kind == VECTOR:
            op.occupancy = faster(op.occupancy, change.vector_speed)
            op.lead = faster(op.lead, change.vector_speed)
            op.tail = faster(op.tail, change.vector_speed)
        if op.kind == COPY:
            op.occupancy = faster(op.occupancy, change.load_speed if op.work.to_ub else change.store_speed)

    def _issue(self, op: Op) -> int:
        """Cycles of the issue alone."""
        return op.issue - self.calls(op.instr.scalar_calls)


def faster(cycles: int, speed: float) -> int:
    """Cycles of a unit that is `speed` times as fast, rounded up."""
    return 0 if math.isinf(speed) else math.ceil(cycles / speed)


NO_BANKS = Change(banks=False)
