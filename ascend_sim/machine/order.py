"""What program order alone decides about a block: which SetFlag a WaitFlag waits for, where the compiler puts barriers,
and where it makes the scalar unit and a pipe wait for each other. Nothing here depends on time.

* The n-th WaitFlag of an event and id belongs to the n-th SetFlag of it.
* cce-auto-sync on 2201 puts a PIPE_V barrier before a vector instruction that touches UB blocks which an earlier one
  writes and no barrier has yet waited for.
* It also orders GetValue and SetValue on UB with V, MTE2 and MTE3: a read waits for pipes that write the block, a write
  for pipes that touch it, and a pipe that touches what SetValue wrote is handed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ascend_sim.errors import KernelError
from ascend_sim.machine.costs import (
    BARRIER,
    BARRIER_ALL,
    LAST_QUEUED,
    MTE2,
    MTE3,
    QUEUE_OF,
    SCALAR_ACCESS,
    SCALAR_SET,
    SCALAR_WAIT,
    SET,
    SYNC_ALL,
    VECTOR,
    WAIT,
    Op,
    V,
)
from ascend_sim.machine.hazards import Pending
from ascend_sim.program import CoreProgram, HardEvent, Memory


@dataclass(slots=True)
class Order:
    """By position in the block. `setter`: of each WaitFlag; its own position if nobody ever sets the flag. `barriers`:
    vector instructions with a compiler's barrier before them. `drains`: of a scalar access, the queues that it waits
    for. `handed_over`: instructions that touch what SetValue wrote. `left_set`: SetFlags that no WaitFlag
    belongs to."""

    setter: dict[int, int] = field(default_factory=dict)
    barriers: set[int] = field(default_factory=set)
    drains: dict[int, tuple[int, ...]] = field(default_factory=dict)
    handed_over: set[int] = field(default_factory=set)
    left_set: list[int] = field(default_factory=list)


def order_of(program: CoreProgram, ops: Sequence[Op], auto_sync: bool) -> Order:
    """The order within one block; raises `KernelError` for a flag that is set twice."""
    order = Order()
    _pair_flags(program, ops, order)
    if auto_sync:
        _vector_barriers(ops, order)
        if any(op.kind == SCALAR_ACCESS and op.work.memory is Memory.UB for op in ops):
            _scalar_waits(ops, order)
    return order


def _pair_flags(program: CoreProgram, ops: Sequence[Op], order: Order) -> None:
    sets: dict[int, list[int]] = {}
    waits: dict[int, list[int]] = {}
    for index, op in enumerate(ops):
        kind = op.kind
        if kind in (SET, SCALAR_SET):
            raised = sets.setdefault(op.flag, [])
            if len(raised) > len(waits.get(op.flag, ())):
                raise KernelError(_set_twice(program, raised[-1], index, op))
            raised.append(index)
        elif kind in (WAIT, SCALAR_WAIT):
            waits.setdefault(op.flag, []).append(index)
    for flag, waiting in waits.items():
        setters = sets.get(flag, [])
        for turn, index in enumerate(waiting):
            order.setter[index] = setters[turn] if turn < len(setters) else index
    for flag, setters in sets.items():
        order.left_set += setters[len(waits.get(flag, ())) :]


def _vector_barriers(ops: Sequence[Op], order: Order) -> None:
    states: dict[int, Pending] = {}
    clean = state = states[0] = Pending(0, states)
    barriers = order.barriers
    for index, op in enumerate(ops):
        if op.kind == VECTOR:
            barrier, state = state[op]
            if barrier:
                barriers.add(index)
        elif op.kind in (BARRIER_ALL, SYNC_ALL) or (op.kind == BARRIER and op.queue == V):
            state = clean


class _Guard:
    """What a pipe touches and writes since the scalar unit last waited for it, and what SetValue `stored` unseen."""

    __slots__ = ("stored", "touched", "written")

    def __init__(self) -> None:
        self.touched = self.written = self.stored = 0

    def clear(self) -> None:
        self.touched = self.written = 0


def _scalar_waits(ops: Sequence[Op], order: Order) -> None:
    guards = {queue: _Guard() for queue in (V, MTE2, MTE3)}
    for index, op in enumerate(ops):
        kind = op.kind
        if kind <= LAST_QUEUED:
            guard = guards[op.queue]
            guard.touched |= op.touches
            guard.written |= op.writes
            if guard.stored & op.touches:
                guard.stored = 0
                order.handed_over.add(index)
        elif kind == SCALAR_WAIT:  # the pipe that set the flag has been waited for
            guards[QUEUE_OF[op.work.event.source]].clear()
        elif kind in (BARRIER_ALL, SYNC_ALL):
            for guard in guards.values():
                guard.clear()
        elif kind == SCALAR_ACCESS and op.work.memory is Memory.UB:
            store = op.work.store
            needed = tuple(q for q, guard in guards.items() if (guard.touched if store else guard.written) & op.touches)
            if needed:
                order.drains[index] = needed
                for queue in needed:
                    guards[queue].clear()
            if store:
                for guard in guards.values():
                    guard.stored |= op.writes


def flag_name(flag: int) -> str:
    """The name of a packed flag, for example "MTE2_V id 0"."""
    return f"{HardEvent(flag // 1024).name} id {flag % 1024}"


def _set_twice(program: CoreProgram, earlier: int, index: int, op: Op) -> str:
    before = program.instrs[earlier].place
    here = f" at {op.instr.place}" if op.instr.place else ""
    there = f" at {before}" if before else ""
    return (
        f"block {program.block}: SetFlag {flag_name(op.flag)}{here} sets a flag that is still set (SetFlag{there}): "
        "between two sets of one event and id a WaitFlag must stand, or the hardware may hang"
    )
