"""One block on its core: the instructions as the units see them, and the times that they find out."""

from __future__ import annotations

from array import array
from collections import defaultdict, deque

from ascend_sim.errors import KernelError
from ascend_sim.machine.costs import (
    COPY,
    LAST_QUEUED,
    SCALAR_ACCESS,
    SCALAR_SET,
    SCALAR_WAIT,
    SET,
    WAIT,
    CostModel,
    Op,
)
from ascend_sim.program import CoreProgram, HardEvent, Memory
from ascend_sim.timeline import CoreTimeline


class Block:
    """`items[queue]`: the instructions of a queue in order, then a number that is never reached. `room[i]`: the
    instruction that must have left the queue before `i` fits in, -1 if there is room anyway. `addresses[queue]` and
    `scalar_addresses`: GM addresses in the order of use. `flags[event * 1024 + id]`: SetFlags not yet waited for.
    Times in the arrays are -1 until known."""

    __slots__ = (
        "addresses",
        "cause",
        "dispatch",
        "end",
        "flags",
        "items",
        "ops",
        "peer",
        "program",
        "room",
        "scalar_addresses",
        "scalar_touches_ub",
        "start",
        "timeline",
        "wait",
    )

    def __init__(self, program: CoreProgram, core: int, begin: int, costs: CostModel, depths: tuple[int, ...]) -> None:
        self.program = program
        lower = costs.lower
        self.ops: list[Op] = [lower(instr) for instr in program.instrs]
        count = len(self.ops)
        self.timeline = CoreTimeline(
            program,
            core,
            begin,
            dispatch=array("q", [-1]) * count,
            start=array("q", [-1]) * count,
            end=array("q", [-1]) * count,
            cause=array("b", [0]) * count,
            peer=array("i", [-1]) * count,
            wait=array("i", [0]) * count,
        )
        self.dispatch = self.timeline.dispatch
        self.start = self.timeline.start
        self.end = self.timeline.end
        self.cause = self.timeline.cause
        self.peer = self.timeline.peer
        self.wait = self.timeline.wait
        self.flags: defaultdict[int, deque[int]] = defaultdict(deque)
        self.items: tuple[list[int], ...] = ([], [], [])
        self.addresses: tuple[list[int], ...] = ([], [], [])
        self.scalar_addresses: deque[int] = deque()
        self.scalar_touches_ub = False
        self._sort()
        self.room = array("i", [-1]) * count
        for items, depth in zip(self.items, depths, strict=True):
            room = self.room
            for later, earlier in zip(items[depth:], items, strict=False):
                room[later] = earlier
            items.append(count)

    def _sort(self) -> None:
        appends = [items.append for items in self.items]
        address = iter(self.program.gm_addresses)
        raised: dict[int, int] = {}  # flags set and not waited for, in program order
        for index, op in enumerate(self.ops):
            kind = op.kind
            if kind <= LAST_QUEUED:
                appends[op.queue](index)
                if kind == COPY:
                    self.addresses[op.queue].append(next(address))
            if kind in (SET, SCALAR_SET):
                if raised.get(op.flag, 0) > 0:
                    raise KernelError(_set_twice(self.program, index, op))
                raised[op.flag] = raised.get(op.flag, 0) + 1
            elif kind in (WAIT, SCALAR_WAIT):
                raised[op.flag] = raised.get(op.flag, 0) - 1
            elif kind == SCALAR_ACCESS:
                if op.work.memory is Memory.GM:
                    self.scalar_addresses.append(next(address))
                else:
                    self.scalar_touches_ub = True


def flag_name(flag: int) -> str:
    """ "MTE2_V id 0" of a packed flag."""
    return f"{HardEvent(flag // 1024).name} id {flag % 1024}"


def _set_twice(program: CoreProgram, index: int, op: Op) -> str:
    earlier = next(
        other
        for other in reversed(program.instrs[:index])
        if getattr(other.work, "event", None) is op.work.event and other.work.event_id == op.work.event_id  # type: ignore[union-attr]
    )
    here = f" at {op.instr.place}" if op.instr.place else ""
    there = f" at {earlier.place}" if earlier.place else ""
    return (
        f"block {program.block}: SetFlag {flag_name(op.flag)}{here} sets a flag that is still set (SetFlag{there}): "
        "between two sets of one event and id a WaitFlag must stand, or the hardware may hang"
    )
