"""A block's instructions sorted for the units that run them, apart from addresses and times: blocks that run the same
instructions (most do) share one."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from ascend_sim.machine.costs import BARRIER, COPY, LAST_QUEUED, SCALAR_ACCESS, VECTOR, WAIT, CostModel, Op
from ascend_sim.machine.order import Order, order_of
from ascend_sim.program import CoreProgram, Instr, Memory

SCALAR_USER = 3
"""In `gm_users`: the scalar unit; 0 to 2 are the queues."""

Step = tuple[int, int, int, int, int, bool]
"""An instruction in its queue: position, kind, then lead, occupancy, tail and barrier (vector) or setter (WaitFlag)."""


@dataclass(slots=True)
class Layout:
    """`steps[queue]`: the queue's instructions in order, then one that never comes. `room[i]`: the instruction that
    must have left the queue before `i` fits in, -1 if there is room anyway. `issue[i]`: scalar
    cycles of it. `stops`: positions at which the scalar unit does more than dispatch, then the number of all.
    `gm_users`: who takes each GM address, in order; `transfers`, `transfer_positions`: which transfers there are, and
    whose address is theirs. `scalar_cycles`: what the scalar unit works in all. `bypasses_l2`: whether some transfer
    does.
    """

    instrs: list[Instr]
    ops: list[Op]
    order: Order
    room: array[int]
    issue: list[int]
    steps: tuple[list[Step], ...] = field(default_factory=lambda: ([], [], []))
    stops: list[int] = field(default_factory=list)
    gm_users: list[int] = field(default_factory=list)
    transfers: list[Op] = field(default_factory=list)
    transfer_positions: list[int] = field(default_factory=list)
    scalar_cycles: int = 0
    bypasses_l2: bool = False


class Layouts:
    """The layouts of one launch. `depths`: entries of the queues."""

    def __init__(self, costs: CostModel, depths: tuple[int, ...], auto_sync: bool) -> None:
        self._costs = costs
        self._depths = depths
        self._auto_sync = auto_sync
        self._known: list[Layout] = []

    def of(self, program: CoreProgram) -> Layout:
        """The layout of a block; raises `KernelError` for a flag that is set twice."""
        for known in self._known:
            if known.instrs == program.instrs:
                return known
        layout = self._build(program)
        self._known.append(layout)
        return layout

    def _build(self, program: CoreProgram) -> Layout:
        lower = self._costs.lower
        ops = [lower(instr) for instr in program.instrs]
        order = order_of(program, ops, self._auto_sync)
        layout = Layout(program.instrs, ops, order, array("i", [-1]) * len(ops), [op.issue for op in ops])
        for index, op in enumerate(ops):
            if op.kind <= LAST_QUEUED:
                layout.steps[op.queue].append(_step(index, op, order))
            if op.kind == COPY:
                layout.transfer_positions.append(len(layout.gm_users))
                layout.transfers.append(op)
                layout.gm_users.append(op.queue)
                layout.bypasses_l2 |= op.work.l2_bypass
            elif op.kind == SCALAR_ACCESS and op.work.memory is Memory.GM:
                layout.gm_users.append(SCALAR_USER)
        layout.stops = [i for i, op in enumerate(ops) if op.kind > LAST_QUEUED or i in order.handed_over]
        layout.stops.append(len(ops))
        layout.scalar_cycles = sum(layout.issue) + sum(op.occupancy for op in ops if op.kind == SCALAR_ACCESS)
        for steps, depth in zip(layout.steps, self._depths, strict=True):
            for later, earlier in zip(steps[depth:], steps, strict=False):
                layout.room[later[0]] = earlier[0]
            steps.append((len(ops), BARRIER, 0, 0, 0, False))
        return layout


def _step(index: int, op: Op, order: Order) -> Step:
    if op.kind == VECTOR:
        return index, VECTOR, op.lead, op.occupancy, op.tail, index in order.barriers
    return index, op.kind, order.setter[index] if op.kind == WAIT else 0, 0, 0, False
