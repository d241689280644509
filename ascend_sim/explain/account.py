"""The account of a launch's time: for each pipe of each block, work and gaps, every gap with its reason.

Both are read off record and timeline: the machine's rules (what an instruction has to wait for) are applied backwards,
so the account needs nothing from the machine but its times, and its gaps add up to the idle cycles exactly.

`report.waits` is the quick look at the same time: the machine's own last cause of each wait, which starts with the
block and does not ask what the scalar unit stood at. A share there may be larger than here, and the difference is
listed here under the start of the block and under what the scalar unit waited for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ascend_sim.explain.as_json import account_json
from ascend_sim.explain.balance import Balance, balance_of
from ascend_sim.explain.bound import Bound, Roofline, bound_of, roofline
from ascend_sim.explain.columns import PIPE_NAMES, SCALAR, Block, Columns
from ascend_sim.explain.findings import Finding, findings_of
from ascend_sim.explain.fold import Stretch, fold, links_of
from ascend_sim.explain.gaps import Gaps
from ascend_sim.explain.path import Step, critical_path
from ascend_sim.explain.queues import queue_gaps, settle
from ascend_sim.explain.reasons import Reason
from ascend_sim.explain.scalars import scalar_gaps
from ascend_sim.explain.sums import Sum, add_up
from ascend_sim.explain.totals import PipeTotal, total_of
from ascend_sim.explain.whatif import SCENARIOS, Answer, ask, predict
from ascend_sim.program import Instr, Program
from ascend_sim.soc import Soc
from ascend_sim.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Gap:
    """`pipe` did no work in cycles `[begin, end)` of the launch. `instr` is what it did next (None: nothing), `cause`
    what it waited for (None: nothing in particular); their positions in the block are `index` and `cause_index`.
    `in_flight`: results of the pipe's own were still on their way, so msprof counts the cycles as busy."""

    block: int
    core: int
    pipe: str
    begin: int
    end: int
    reason: Reason
    in_flight: bool
    index: int
    cause_index: int
    instr: Instr | None
    cause: Instr | None

    @property
    def cycles(self) -> int:
        return self.end - self.begin


@dataclass(frozen=True, slots=True)
class PipeAccount:
    """One pipe in one block. All cycles of the block are either work or a gap; those gaps that are not `in_flight` are
    the `idle_cycles`, all other cycles the `busy_cycles` of msprof."""

    pipe: str
    cycles: int
    gaps: Gaps

    @property
    def work_cycles(self) -> int:
        return self.cycles - int(self.gaps.cycles.sum())

    @property
    def idle_cycles(self) -> int:
        return int(self.gaps.cycles[~self.gaps.in_flight].sum())

    @property
    def busy_cycles(self) -> int:
        return self.cycles - self.idle_cycles

    def by_reason(self, *, in_flight: bool | None = None) -> dict[Reason, int]:
        """Cycles of gaps by reason, longest first; `in_flight` picks those that are, or are not."""
        gaps = self.gaps
        weight = gaps.cycles if in_flight is None else np.where(gaps.in_flight == in_flight, gaps.cycles, 0)
        sums = np.bincount(gaps.reason, weights=weight, minlength=len(Reason)).astype(np.int64).tolist()
        return {reason: sums[reason] for reason in sorted(Reason, key=lambda r: -sums[r]) if sums[reason]}


@dataclass(frozen=True, slots=True)
class BlockAccount:
    """One block on its core: its `begin` and `finish`, and its pipes ("vec", "mte2", "mte3", "scalar")."""

    block: int
    core: int
    begin: int
    finish: int
    pipes: dict[str, PipeAccount]
    columns: Block

    def gaps(self, pipe: str | None = None) -> Iterator[Gap]:
        """The gaps of one pipe or of all, each as an object."""
        instrs = self.columns.line.program.instrs
        for name in self.pipes if pipe is None else [pipe]:
            gaps = self.pipes[name].gaps
            rows = zip(
                *(c.tolist() for c in (gaps.begin, gaps.end, gaps.reason, gaps.in_flight, gaps.index, gaps.cause)),
                strict=True,
            )
            for begin, end, reason, flight, index, cause in rows:
                instr = instrs[index] if index >= 0 else None
                by = instrs[cause] if cause >= 0 else None
                where = (self.block, self.core, name, begin, end, Reason(reason), flight)
                yield Gap(*where, index, cause, instr, by)


class Account:
    """Where the time of one launch went. Nothing is worked out before it is asked for."""

    def __init__(self, program: Program, timeline: Timeline, soc: Soc) -> None:
        self.program = program
        self.timeline = timeline
        self.soc = soc
        self.columns = Columns(program, timeline, soc)

    @cached_property
    def blocks(self) -> list[BlockAccount]:
        """In the program's order."""
        return [self._block(block) for block in self.columns.blocks]

    @cached_property
    def pipes(self) -> dict[str, PipeTotal]:
        """Each pipe over all blocks."""
        per_us = self.cores * self.timeline.clock_mhz
        return {name: total_of(name, [block.pipes[name] for block in self.blocks], per_us) for name in PIPE_NAMES}

    @cached_property
    def sums(self) -> list[Sum]:
        """All gaps by pipe, reason and source lines, longest first."""
        gaps = [(block.columns.prices, [pipe.gaps for pipe in block.pipes.values()]) for block in self.blocks]
        return add_up(gaps, cores=self.cores, aiv_cycles=self.aiv_cycles, clock_mhz=self.timeline.clock_mhz)

    @property
    def cores(self) -> int:
        """How many cores the launch used."""
        return max(1, len({line.core for line in self.timeline.cores}))

    @property
    def aiv_cycles(self) -> int:
        """AIV time of all cores together."""
        return sum(line.finish - line.begin for line in self.timeline.cores)

    @cached_property
    def path(self) -> list[Step]:
        """The critical path through the core that finishes last."""
        return critical_path(self.columns)

    @cached_property
    def chain(self) -> list[Stretch]:
        """The critical path as links, repeated stretches folded."""
        return fold(links_of(self.path))

    @cached_property
    def bound(self) -> Bound:
        """What limits the launch, by the parts of its critical path."""
        return bound_of(self.path)

    @cached_property
    def roofline(self) -> Roofline:
        """Rates of the launch beside the chip's."""
        return roofline(self.columns)

    @cached_property
    def balance(self) -> Balance:
        """How evenly the cores are loaded."""
        return balance_of(self.timeline, self.soc)

    @cached_property
    def findings(self) -> list[Finding]:
        """What is worth saying in words, with hints, the largest share first."""
        return findings_of(self)

    @cached_property
    def answers(self) -> list[Answer]:
        """What if: the launch timed again under every scenario, the largest gain first."""
        return sorted((self.what_if(key) for key in SCENARIOS), key=lambda answer: -answer.gain_us)

    def what_if(self, key: str) -> Answer:
        """The launch timed again under one of `SCENARIOS`."""
        return ask(self.columns, SCENARIOS[key])

    def predicted_us(self, key: str) -> float:
        """The Task Duration that the account itself expects under a scenario, without asking the machine."""
        return predict(self.columns, SCENARIOS[key])

    def to_json(self) -> dict[str, Any]:
        """Everything that the explanation says, as a dict ready for `json.dumps`."""
        return account_json(self)

    def _block(self, block: Block) -> BlockAccount:
        line, costs = block.line, self.columns.costs
        settled = settle(block)
        trailing = costs.calls(line.program.trailing_calls)
        stalls = scalar_gaps(block, settled, trailing, costs.scalar.epilogue_cycles)
        gaps = [queue_gaps(block, queue, settled, stalls) for queue in range(SCALAR)]
        cycles = line.finish - line.begin
        pipes = {name: PipeAccount(name, cycles, g) for name, g in zip(PIPE_NAMES, (*gaps, stalls), strict=True)}
        return BlockAccount(block.number, line.core, line.begin, line.finish, pipes, block)


def account(program: Program, timeline: Timeline, soc: Soc) -> Account:
    """The account of a launch that the machine of `soc` has timed."""
    return Account(program, timeline, soc)
