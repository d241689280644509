"""The machine of one chip: starts blocks on cores, lets SimPy run, and hands back the timeline.

Blocks begin one after the other, a little apart. When there are more blocks than cores, a core that has ended its block
takes the next one (waves). SyncAll needs all blocks of a launch on cores at once.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from ascend_sim.errors import InputError, KernelError
from ascend_sim.machine.block import Block, Transfers
from ascend_sim.machine.clock import Clock
from ascend_sim.machine.core import Core
from ascend_sim.machine.costs import CostModel
from ascend_sim.machine.deadlock import deadlock
from ascend_sim.machine.l2 import L2
from ascend_sim.machine.layout import Layouts
from ascend_sim.machine.leftovers import leftover_flags
from ascend_sim.machine.memory import Memory
from ascend_sim.program import CoreProgram, Program, SyncWork
from ascend_sim.soc.models import Soc
from ascend_sim.soc.timing import ColdStart
from ascend_sim.timeline import Conditions, CoreTimeline, Timeline

L2State = Literal["warm", "cold", "keep", "endless"]
LaunchKind = Literal["back_to_back", "few_launches", "in_situ"]


class Machine:
    """The cores, L2 and HBM of `soc`; L2 keeps what launches leave in it.

    `costs` prices instructions in place of the chip's own model (what if the vector unit were twice as fast?).
    Raises `UnsupportedError` when the architecture's vector core is not simulated.
    """

    def __init__(self, soc: Soc, costs: CostModel | None = None) -> None:
        self.soc = soc
        self.timing = soc.require_timing()
        self.l2 = L2(soc.l2.bytes)
        self._costs = costs or CostModel(soc)

    def run(
        self,
        program: Program,
        l2: L2State = "warm",
        launch_kind: LaunchKind = "back_to_back",
        cold_start_us: float = 0.0,
    ) -> Timeline:
        """Time one launch.

        `l2`: "warm" finds L2 as the same launch just before would have left it, "cold" finds it empty, "keep" finds
        what earlier launches on this machine left, "endless" what a launch would have left that goes on like this one
        until nothing of its beginning is in L2 (for excerpts of such launches). `launch_kind`: a launch that does not
        follow others of its kernel "back_to_back" starts cold (see `ColdStart`); `cold_start_us` is added to the
        prologue of every block.
        Raises `DeadlockError` when instructions wait for ever, `KernelError` for broken synchronisation rules,
        `UnsupportedError` for instructions of the cube core.
        """
        if l2 not in ("warm", "cold", "keep", "endless"):
            raise InputError(f"l2={l2!r}: allowed are 'warm', 'cold', 'keep' and 'endless'")
        if launch_kind not in ("back_to_back", "few_launches", "in_situ"):
            raise InputError(f"launch_kind={launch_kind!r}: allowed are 'back_to_back', 'few_launches' and 'in_situ'")
        self._check(program)
        if l2 == "cold":
            self.l2.clear()
        with _no_garbage_collection():
            try:
                launch = _Launch(self.soc, self._costs, self.l2, program, launch_kind, cold_start_us)
                timeline = launch.run(l2)
                timeline.conditions = Conditions(l2, launch_kind, cold_start_us)
                return timeline
            finally:
                self._costs.forget()

    def _check(self, program: Program) -> None:
        cores = self.soc.cores.aiv
        if program.block_dim <= cores:
            return
        for block in program.blocks:
            for instr in set(block.instrs):
                if isinstance(instr.work, SyncWork):
                    where = f" at {instr.place}" if instr.place else ""
                    raise KernelError(
                        f"kernel {program.kernel!r}: SyncAll{where} with {program.block_dim} blocks on the {cores} "
                        f"vector cores of {self.soc.variant}: all blocks must run at once; at most {cores} can"
                    )


class _Launch:
    """One launch under way."""

    def __init__(
        self, soc: Soc, costs: CostModel, l2: L2, program: Program, kind: LaunchKind, cold_start_us: float
    ) -> None:
        timing = soc.require_timing()
        self.soc = soc
        self.timing = timing
        self.program = program
        self.kind = kind
        self.cold_start_us = cold_start_us
        self.l2 = l2
        self.clock = Clock()
        self.waiting = sorted(program.blocks, key=lambda block: block.block)
        self.waiting.reverse()
        count = min(soc.cores.aiv, program.block_dim)
        self.memory = Memory(soc, self.clock, l2, count)
        queues = timing.queues
        depths = (queues.vector_entries, queues.mte2_entries, queues.mte3_entries)
        self.layouts = Layouts(costs, depths, program.auto_sync)
        self.cores = [
            Core(number, soc, costs, self.layouts, self.memory, self._arrive, self._finished) for number in range(count)
        ]
        self.timelines: dict[int, CoreTimeline] = {}
        self.at_sync: list[tuple[Core, int]] = []
        self.leaving_flags: list[Block] = []

    def run(self, l2: L2State) -> Timeline:
        for core in self.cores:
            core.scalar.warm = l2 in ("warm", "endless") or not self.l2.empty
        if l2 in ("warm", "endless"):
            prepare = self.memory.warm if l2 == "warm" else self.memory.endless
            prepare([Transfers(block, self.layouts.of(block)) for block in reversed(self.waiting)])
        stagger = self.timing.launch.stagger_cycles
        for core in self.cores:
            core.start_cold(*map(self._cycles, self._cold_start.transfers_us(self.kind, len(self.cores))))
            self._begin(core, self.waiting.pop(), stagger * core.number, self._cycles(self._late_us(core.number)))
        for core in self.cores:
            core.advance()
        self.clock.exhaust()
        if self.waiting or any(core.block is not None for core in self.cores):
            raise deadlock(self.program, self.cores)
        return self._timeline()

    def _begin(self, core: Core, program: CoreProgram, cycle: int, late_cycles: int = 0) -> None:
        block = core.begin(program, cycle, late_cycles)
        self.timelines[id(program)] = block.timeline
        if block.layout.order.left_set:
            self.leaving_flags.append(block)

    @property
    def _cold_start(self) -> ColdStart:
        return self.timing.launch.cold_start

    def _late_us(self, number: int) -> float:
        """How much longer the prologue of the block takes that starts as number `number`."""
        return self.cold_start_us + self._cold_start.late_us(self.kind, number)

    def _cycles(self, us: float) -> int:
        return round(us * self.soc.clock_mhz)

    def _finished(self, core: Core, cycle: int) -> None:
        if self.waiting:
            self.clock.at(cycle, lambda cycle: self._next(core, cycle), 1 + 2 * core.number)

    def _next(self, core: Core, cycle: int) -> None:
        if self.waiting:
            self._begin(core, self.waiting.pop(), cycle + self.timing.launch.next_block_cycles)
            core.advance()

    def _arrive(self, core: Core, cycle: int) -> None:
        self.at_sync.append((core, cycle))
        if len(self.at_sync) < self.program.block_dim:
            return
        release = max(cycle for _, cycle in self.at_sync) + self.timing.sync.sync_all_cycles
        cores = [other for other, _ in self.at_sync]
        self.at_sync = []
        for other in cores:
            other.release(release)
        for other in cores:
            if other is not core:
                other.advance()

    def _timeline(self) -> Timeline:
        lines = [self.timelines[id(block)] for block in self.program.blocks]
        launch = self.timing.launch
        running = len(self.cores)
        staggered_us = launch.stagger_cycles * (running - 1) / self.soc.clock_mhz if running else 0.0
        return Timeline(
            clock_mhz=self.soc.clock_mhz,
            cores=lines,
            duration_cycles=max((line.finish for line in lines), default=0),
            launch_us=max(0.0, launch.overhead(max(1, running)) - staggered_us),
            memory=self.memory.counters,
            warnings=leftover_flags(self.leaving_flags),
            cold_start_us=self._late_us(running - 1) if running else 0.0,
        )


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
