"""A block's record and timeline as columns of numbers: what the account, the critical path and the replay read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ascend_sim.explain.variants import NO_BANKS, ChangedCosts
from ascend_sim.machine.channel import UNIT
from ascend_sim.machine.costs import COPY, SCALAR_ACCESS, VECTOR, CostModel, Op
from ascend_sim.machine.layout import Layout, Layouts
from ascend_sim.machine.memory import footprint
from ascend_sim.program import Instr, Program
from ascend_sim.soc import Soc
from ascend_sim.soc.timing import MemoryTiming
from ascend_sim.timeline import CoreTimeline, Stage, Timeline

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

SCALAR = 3
"""The scalar unit's number beside the machine's queues V, MTE2, MTE3."""

PIPE_NAMES = ("vec", "mte2", "mte3", "scalar")


@dataclass(slots=True)
class Prices:
    """What blocks with the same instructions share, by position: the machine's costs in cycles and what program order
    decides. `room`: who must have left the queue first, -1 if there is room anyway; `setter`: of a WaitFlag, else -1;
    `conflict`: cycles of `occupancy` that are due to UB banks; `queues`: positions of each queue's instructions, and
    `queued` whether a position is among them.
    `instrs[code[position]]` is the instruction; the table holds each distinct one once."""

    layout: Layout
    instrs: list[Instr]
    code: Ints
    kind: Ints
    issue: Ints
    lead: Ints
    occupancy: Ints
    tail: Ints
    conflict: Ints
    room: Ints
    setter: Ints
    barrier: Bools
    handed_over: Bools
    working: Bools
    queued: Bools
    queues: tuple[Ints, ...]


@dataclass(slots=True)
class Block:
    """One block; times are cycles from the launch's zero.

    `left`: when the instruction has left its pipe to the next one's work (a transfer: when all bytes have passed).
    `own`: of a transfer, the cycles it takes alone with its data in L2; `alone`: those with what it had from
    HBM, still alone. `free`: from when on the pipe can take the next instruction. `after_scalar`: when the scalar unit
    was through with the instruction. `code`: when it came to the first one.
    """

    line: CoreTimeline
    prices: Prices
    start: Ints
    end: Ints
    dispatch: Ints
    left: Ints
    free: Ints
    own: Ints
    alone: Ints
    after_scalar: Ints
    code: int

    @property
    def number(self) -> int:
        return self.line.program.block


class Columns:
    """The blocks of a launch, in the timeline's order; prices are worked out once for equal blocks."""

    def __init__(self, program: Program, timeline: Timeline, soc: Soc) -> None:
        self.program = program
        self.timeline = timeline
        self.soc = soc
        self.timing = soc.require_timing()
        self.costs = CostModel(soc)
        self._bankless = ChangedCosts(soc, NO_BANKS)
        queues = self.timing.queues
        depths = (queues.vector_entries, queues.mte2_entries, queues.mte3_entries)
        self._layouts = Layouts(self.costs, depths, program.auto_sync)
        self._prices: dict[int, Prices] = {}

    @cached_property
    def blocks(self) -> list[Block]:
        return [self._block(line) for line in self.timeline.cores]

    def _block(self, line: CoreTimeline) -> Block:
        layout = self._layouts.of(line.program)
        prices = self._prices.get(id(layout))
        if prices is None:
            prices = self._prices[id(layout)] = self._price(layout)
        start, end, dispatch = (np.asarray(times, np.int64) for times in (line.start, line.end, line.dispatch))
        copies = prices.kind == COPY
        vectors = prices.kind == VECTOR
        left = np.where(copies, np.asarray(line.left, np.int64), end)
        left[vectors] = start[vectors] + prices.occupancy[vectors]
        flags = ~prices.working
        left[flags] = start[flags] + self._holds(prices)[flags]
        free = left + np.where(copies, self.timing.memory.issue_gap_cycles, 0)
        own, alone = self._transfers(line, prices, left - start)
        after = np.where(prices.handed_over, dispatch - self.timing.sync.from_scalar_cycles, dispatch)
        accesses = prices.kind == SCALAR_ACCESS
        after[accesses] = end[accesses]
        code = line.begin + self.timing.scalar.prologue_cycles + line.late_cycles
        return Block(line, prices, start, end, dispatch, left, free, own, alone, after, code)

    def _holds(self, prices: Prices) -> Ints:
        """How long a flag or barrier holds its pipe; the scalar unit's own hold nothing."""
        sync = self.timing.sync
        holds = np.zeros(len(prices.kind), np.int64)
        for positions, cycles in zip(
            prices.queues,
            (sync.vector_hold_cycles, sync.transfer_hold_cycles, sync.transfer_hold_cycles),
            strict=True,
        ):
            holds[positions] = cycles
        return holds

    def _transfers(self, line: CoreTimeline, prices: Prices, taken: Ints) -> tuple[Ints, Ints]:
        """`own` and `alone` of each transfer, which took `taken` cycles; 0 for other instructions."""
        memory, layout, addresses = self.timing.memory, prices.layout, line.program.gm_addresses
        hbm = int(memory.hbm_gbps_per_core * 1000 / self.soc.clock_mhz * UNIT)
        own, alone = np.zeros_like(taken), np.zeros_like(taken)
        at = np.flatnonzero(prices.kind == COPY)
        pairs = zip(layout.transfers, map(addresses.__getitem__, layout.transfer_positions), strict=True)
        own[at] = [own_cycles(memory, op, address) for op, address in pairs]
        own = np.minimum(own, taken)
        from_hbm = at[np.asarray(line.stage, np.int8)[at] == Stage.HBM]
        asked = np.asarray(line.hbm_bytes, np.int64)[from_hbm] * UNIT
        alone[at] = own[at]
        alone[from_hbm] = np.clip(-(-asked // hbm), own[from_hbm], taken[from_hbm])
        return own, alone

    def _price(self, layout: Layout) -> Prices:
        numbers: dict[Op, int] = {}
        codes = np.fromiter((numbers.setdefault(op, len(numbers)) for op in layout.ops), np.int64, len(layout.ops))

        def column(name: str) -> Ints:
            return np.array([getattr(op, name) for op in numbers], np.int64)[codes] if numbers else codes

        kind, queue = column("kind"), column("queue")
        lower = self._bankless.lower
        conflict = [op.occupancy - lower(op.instr).occupancy if op.kind == VECTOR else 0 for op in numbers]
        setter = np.full(len(codes), -1, np.int64)
        for position, by in layout.order.setter.items():
            setter[position] = by
        barrier, handed_over = np.zeros(len(codes), np.bool_), np.zeros(len(codes), np.bool_)
        barrier[list(layout.order.barriers)] = True
        handed_over[list(layout.order.handed_over)] = True
        return Prices(
            layout=layout,
            instrs=[op.instr for op in numbers],
            code=codes,
            kind=kind,
            issue=column("issue"),
            lead=column("lead"),
            occupancy=column("occupancy"),
            tail=column("tail"),
            conflict=np.array(conflict, np.int64)[codes] if numbers else codes,
            room=np.asarray(layout.room, np.int64),
            setter=setter,
            barrier=barrier,
            handed_over=handed_over,
            working=np.isin(kind, (VECTOR, COPY, SCALAR_ACCESS)),
            queued=(queue >= 0) & (queue < SCALAR),
            queues=tuple(np.flatnonzero(queue == number) for number in range(SCALAR)),
        )


def own_cycles(memory: MemoryTiming, op: Op, address: int) -> int:
    """What the transfer `op` at GM byte `address` takes alone, with its data in L2: port, rows, and for an atomic store
    the reading of what it adds to."""
    load, store = (int(rate * UNIT) for rate in (memory.port_load_bytes_per_cycle, memory.port_store_bytes_per_cycle))
    moved = footprint(op, address, memory.piece_bytes).moved_bytes * UNIT
    cycles = max(op.occupancy, -(-moved // (load if op.work.to_ub else store)))
    return max(cycles, -(-2 * moved // max(load, store))) if op.work.atomic else cycles
