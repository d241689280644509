"""The figures of a whole launch from an excerpt of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from ascend_sim.asc.tiles import Excerpt, LoopKey, Round
from ascend_sim.host.device import Launch
from ascend_sim.machine.costs import SCALAR_ACCESS, CostModel
from ascend_sim.program import CopyWork, Instr
from ascend_sim.report.metrics import Metrics, PipeUse, measure
from ascend_sim.sampling.rates import Runs, outermost
from ascend_sim.sampling.stretches import Floats, Halves, Ints, Stretches, stretches
from ascend_sim.sampling.unrest import unrest_cycles
from ascend_sim.sampling.warp import done_by, warped
from ascend_sim.timeline import CoreTimeline, MemoryCounters, Timeline


class Whole:
    """`launch` is a launch in full (`excerpt` is None) or an excerpt of one, from which the whole is worked out."""

    def __init__(self, launch: Launch, excerpt: Excerpt | None) -> None:
        self.launch = launch
        self.excerpt = excerpt
        self.blocks = self._stretches({})
        self._by_inner_halves: dict[frozenset[tuple[LoopKey, int]], Runs] = {}
        self._by_halves: dict[frozenset[tuple[LoopKey, int]], Floats] = {}

    @property
    def recorded(self) -> int:
        """Instructions that were simulated."""
        return self.launch.program.instructions

    @cached_property
    def instructions(self) -> int:
        """Instructions of the whole."""
        return round(sum(block.instructions for block in self.blocks))

    @property
    def complete(self) -> bool:
        """Whether nothing has been left out."""
        return self.instructions == self.recorded

    def _stretches(self, halves: Halves, outermost: bool = True) -> list[Stretches]:
        blocks = self._recorded_blocks
        return [
            stretches(blocks.get(core.block), len(core.instrs), halves, outermost)
            for core in self.launch.program.blocks
        ]

    def _lines(self) -> Sequence[CoreTimeline]:
        return self.launch.timeline.cores

    def left_out_cycles(self, halves: Halves) -> Floats:
        """By core, how much longer its blocks take than their excerpts; see `Halves`."""
        asked = frozenset(halves.items())
        found = self._by_halves.get(asked)
        if found is None:
            inner = {key: half for key, half in halves.items() if key in self._inner_keys}
            found = self._by_halves[asked] = self._runs(inner).left_out_cycles(halves)
        return found

    def _runs(self, halves: Halves) -> Runs:
        """`halves`: of loops inside others only."""
        asked = frozenset(halves.items())
        found = self._by_inner_halves.get(asked)
        if found is None:
            inner = self._stretches(halves, outermost=False)
            found = self._by_inner_halves[asked] = Runs(self._lines(), self._recorded_blocks, inner, self._done)
        return found

    @cached_property
    def _inner_keys(self) -> set[LoopKey]:
        """Loops that left out rounds inside rounds of others that did."""
        return {
            inner.key
            for block in self._recorded_blocks.values()
            for _, loop in outermost(block)
            for this in loop.rounds
            for inner in this.all_loops()
            if not inner.whole
        }

    @cached_property
    def _done(self) -> list[Ints]:
        """By block, when its instructions are done; see `done_by`."""
        return [done_by(line) for line in self._lines()]

    @property
    def _recorded_blocks(self) -> Mapping[int, Round]:
        return {} if self.excerpt is None else self.excerpt.blocks

    @cached_property
    def finishes(self) -> Floats:
        """By core, when the excerpt of its last block is through, in cycles."""
        found: dict[int, int] = defaultdict(int)
        for line in self._lines():
            found[line.core] = max(found[line.core], line.finish)
        return np.array([found[core] for core in sorted(found)], np.float64)

    @cached_property
    def left_out(self) -> Floats:
        """By core, how many instructions have been left out."""
        found: dict[int, float] = defaultdict(float)
        for line, block in zip(self._lines(), self.blocks, strict=True):
            found[line.core] += block.instructions - len(line.program.instrs)
        return np.array([found[core] for core in sorted(found)])

    def duration_cycles(self, halves: Halves | None = None) -> float:
        """With all cores as fast as those that have as much left to do are on average."""
        extra = self.left_out_cycles(halves or {})
        return float(np.max(self.finishes + self._even(extra)))

    def _even(self, extra: Floats) -> Floats:
        """`extra` averaged over the cores of which as much has been left out."""
        even = extra.copy()
        work = np.rint(self.left_out)
        for amount in np.unique(work):
            even[work == amount] = extra[work == amount].mean()
        return even

    def spread_cycles(self) -> tuple[float, float]:
        """`(more, error)`: how much longer than `duration_cycles` the launch takes because cores are not equally fast,
        and how far off that may be.

        Cores differ for good (their rows lie otherwise in memory) or by chance (who comes first). In the first case the
        first half of the repeated rounds tells the order of the second: their correlation is the share that lasts.
        """
        one, other = (
            extra - self._even(extra)
            for extra in (self.left_out_cycles(dict.fromkeys(self.patterns(), half)) for half in (0, 1))
        )
        square = float(np.sum(((one + other) / 2) ** 2))
        lasting = min(1.0, max(0.0, float(np.sum(one * other)) / square)) if square else 0.0
        extra = self.left_out_cycles({})
        even = self._even(extra)
        low, high = (float(np.max(self.finishes + even + share * (extra - even))) for share in (0.0, 1.0))
        found = float(np.max(self.finishes + even + lasting * (extra - even)))
        return found - low, abs(high - low) * min(lasting, 1 - lasting)

    def unrest_cycles(self) -> float:
        """A standard deviation, by chance, of the time of all rounds that were left out; mean of the cores."""
        return unrest_cycles(self._lines(), self._recorded_blocks, self._done)

    def loops_in_turn(self) -> int:
        """How many loops of which rounds were left out follow each other in a block, at most."""
        return max((sum(1 for _ in outermost(block)) for block in self._recorded_blocks.values()), default=0)

    def patterns(self) -> dict[LoopKey, int]:
        """Of each tile loop of which rounds were left out: the most rounds of one run of it that are repeated."""
        found: dict[LoopKey, int] = {}
        for block in self._recorded_blocks.values():
            for loop in block.all_loops():
                if not loop.whole:
                    found[loop.key] = max(found.get(loop.key, 0), len(loop.pattern))
        return found

    # -- the whole for reports ----------------------------------------------------------------------------------------

    @cached_property
    def timeline(self) -> Timeline:
        """The launch's timeline in the time of the whole, with the traffic of the whole."""
        timeline = self.launch.timeline
        if self.complete:
            return timeline
        lines: list[CoreTimeline] = []
        later: dict[int, int] = defaultdict(int)
        scalar = _ScalarCycles(self.launch)
        for line, block in sorted(
            zip(self._lines(), self.blocks, strict=True), key=lambda pair: (pair[0].core, pair[0].begin)
        ):
            stretched = warped(line, block, scalar.of(line, block), later[line.core])
            later[line.core] = stretched.finish - line.finish
            lines.append(stretched)
        order = {id(line.program): number for number, line in enumerate(self._lines())}
        lines.sort(key=lambda line: order[id(line.program)])
        duration = max((line.finish for line in lines), default=0)
        return replace(timeline, cores=lines, duration_cycles=duration, memory=self._traffic())

    def _copies(self) -> Iterator[tuple[CopyWork, float]]:
        """Each recorded transfer, and how many of the whole it stands for."""
        for core, block in zip(self.launch.program.blocks, self.blocks, strict=True):
            for instr, weight in zip(core.instrs, block.per_instruction(), strict=True):
                if isinstance(instr.work, CopyWork):
                    yield instr.work, weight

    def _traffic(self) -> MemoryCounters:
        """Bytes by stretch; what L2 held and HBM moved of them, in the proportions of the excerpt."""
        counters = self.launch.timeline.memory
        read = written = 0.0
        for work, weight in self._copies():
            if work.to_ub:
                read += weight * work.nbytes
            else:
                written += weight * work.nbytes
        more_read = read / counters.read_bytes if counters.read_bytes else 1.0
        more_written = written / counters.written_bytes if counters.written_bytes else 1.0
        return MemoryCounters(
            read_bytes=round(read),
            written_bytes=round(written),
            l2_read_hit_bytes=round(counters.l2_read_hit_bytes * more_read),
            l2_write_hit_bytes=round(counters.l2_write_hit_bytes * more_written),
            hbm_read_bytes=round(counters.hbm_read_bytes * more_read),
            hbm_written_bytes=round(counters.hbm_written_bytes * more_written),
        )

    @cached_property
    def metrics(self) -> Metrics:
        """Figures of the whole; waits are listed with how often they were seen in the excerpt."""
        found = measure(self.launch.program, self.timeline)
        if self.complete:
            return found
        more = self.instructions / max(1, self.recorded)
        pipes = {
            name: PipeUse(use.busy_us, use.ratio, round(use.instructions * more)) for name, use in found.pipes.items()
        }
        return replace(found, pipes=pipes, instructions=self.instructions)


class _ScalarCycles:
    """What the scalar unit works in a whole block."""

    def __init__(self, launch: Launch) -> None:
        self._costs = CostModel(launch.soc)

        self._known: dict[int, int] = {}

    def of(self, line: CoreTimeline, block: Stretches) -> int:
        instrs = line.program.instrs
        cycles = np.fromiter(map(self._cycles, instrs), np.float64, len(instrs))
        return line.scalar_cycles + round(float(np.dot(block.per_instruction() - 1.0, cycles)))

    def _cycles(self, instr: Instr) -> int:
        found = self._known.get(id(instr))
        if found is None:
            op = self._costs.lower(instr)
            found = self._known[id(instr)] = op.issue + (op.occupancy if op.kind == SCALAR_ACCESS else 0)
        return found
