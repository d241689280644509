"""One tiling of a call, timed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ascend_sim.accuracy.expected import operator_kind
from ascend_sim.explain.account import account
from ascend_sim.explain.columns import Block
from ascend_sim.explain.gaps import Gaps
from ascend_sim.explain.reasons import Reason
from ascend_sim.host.space import evenness, loads
from ascend_sim.host.tiling import Tiling
from ascend_sim.program import PipeID, Program
from ascend_sim.sampling.calls import TimedCall
from ascend_sim.sampling.estimate import Estimate
from ascend_sim.sampling.stretches import Floats
from ascend_sim.sampling.warp import Warp
from ascend_sim.sampling.whole import Whole

PIPES = {PipeID.PIPE_V: "vec", PipeID.PIPE_MTE2: "mte2", PipeID.PIPE_MTE3: "mte3", PipeID.PIPE_S: "scalar"}

WORK = "work"
"""What a pipe does beside the reasons for which it stands still."""
LAUNCH = "launch"
BEFORE = "until its block starts"
"""The time in front of the block that ends last."""


@dataclass(frozen=True, slots=True)
class Trial:
    """`error`: relative, on the duration, because only part of the launch was simulated (0: all of it). `account`: of
    the block that ends last, us by pipe, of work, of each reason for a gap, and of what is in front of the block; each
    pipe's add up to the duration. `busiest`: share of all work that the core has which has most. `kind`: of measured
    kernels like this one. `instructions`: of the whole launch."""

    tiling: Tiling
    choices: Mapping[str, int | str]
    balance: float
    busiest: float
    duration_us: float
    error: float
    bound: str
    ratios: Mapping[str, float]
    account: Mapping[str, Mapping[str, float]]
    kind: str
    instructions: int

    def to_json(self) -> dict[str, Any]:
        return {
            "duration_us": round(self.duration_us, 4),
            "sampling_error": round(self.error, 5),
            "block_dim": self.tiling.block_dim,
            "key": self.tiling.key,
            "choices": dict(self.choices),
            "ub_bytes": self.tiling.ub_used_bytes,
            "balance": round(self.balance, 4),
            "busiest_core": round(self.busiest, 5),
            "bound": self.bound,
            "pipes": {name: round(ratio, 4) for name, ratio in self.ratios.items()},
            "account_us": {
                pipe: {name: round(us, 3) for name, us in parts.items()} for pipe, parts in self.account.items()
            },
            "tiling": self.tiling.to_json(),
        }


def try_out(call: TimedCall, tiling: Tiling, *, exact: bool = False, rough: bool = False) -> Trial:
    """Time `tiling`, without values."""
    space = call.operator.space_on(call.chip.name)
    found = call.time(tiling, exact=exact, rough=rough)
    metrics = found.whole.metrics
    work = loads(space.coverage(tiling, call.context), min(tiling.block_dim, call.context.cores))
    return Trial(
        tiling=tiling,
        choices=space.choices(tiling),
        balance=evenness(work),
        busiest=max(work) / sum(work) if any(work) else 0.0,
        duration_us=found.duration_us,
        error=found.error,
        bound=metrics.bound,
        ratios={name: use.ratio for name, use in metrics.pipes.items()},
        account=account_of(found),
        kind=operator_kind(call.operator, found.whole.launch.program),
        instructions=found.whole.instructions,
    )


def account_of(found: Estimate) -> dict[str, dict[str, float]]:
    """Where the time of the block that ends last goes, in us.

    The duration comes from what rounds cost while all cores are busy, the blocks' own times from their own rounds: the
    blocks of a core share what is left of the duration behind its idle time as their own times go.
    """
    whole = found.whole
    program, timeline = whole.launch.program, whole.launch.timeline
    last = _ends_last(whole)
    line, warp = timeline.cores[last.index], last.warp
    alone = Program(program.kernel, [line.program], auto_sync=program.auto_sync)
    alone_timeline = type(timeline)(timeline.clock_mhz, [line], line.finish, timeline.launch_us)
    (of_block,) = account(alone, alone_timeline, whole.launch.soc).blocks
    idle_us = timeline.to_us(last.idle)
    us_per_cycle = (found.duration_us - timeline.launch_us - idle_us) / (last.before + last.cycles)
    around = {BEFORE: idle_us + last.before * us_per_cycle, LAUNCH: timeline.launch_us}
    parts: dict[str, dict[str, float]] = {}
    for name, pipe in of_block.pipes.items():
        gaps = pipe.gaps
        lasting_us = (warp(gaps.end) - warp(gaps.begin)) * us_per_cycle
        waits = _by_reason(gaps, lasting_us, of_block.columns)
        parts[name] = {WORK: last.cycles * us_per_cycle - sum(waits.values()), **waits, **around}
    return parts


@dataclass(frozen=True, slots=True)
class _Last:
    """A block that ends last, in cycles of the whole: it takes `cycles`; `before` it other blocks of its core did, and
    `idle` the core waited for one to begin."""

    index: int
    warp: Warp
    cycles: float
    before: float
    idle: int

    @property
    def end(self) -> float:
        return self.idle + self.before + self.cycles


def _ends_last(whole: Whole) -> _Last:
    before: dict[int, float] = defaultdict(float)
    busy: dict[int, int] = defaultdict(int)
    found: list[_Last] = []
    lines = whole.launch.timeline.cores
    for index in sorted(range(len(lines)), key=lambda index: lines[index].begin):
        line = lines[index]
        warp = Warp(line, whole.blocks[index])
        cycles = warp.finish(line) - line.begin
        found.append(_Last(index, warp, cycles, before[line.core], line.begin - busy[line.core]))
        before[line.core] += cycles
        busy[line.core] += line.finish - line.begin
    return max(found, key=lambda block: block.end)


WAITS = {Reason.FLAG: "waits for", Reason.BARRIER: "PipeBarrier behind"}


def _by_reason(gaps: Gaps, lasting_us: Floats, block: Block) -> dict[str, float]:
    """Sums of `lasting_us`; waits for flags and at barriers by the pipe whose work is waited for."""
    found: dict[str, float] = {}
    for reason in Reason:
        mine = gaps.reason == reason
        causes = gaps.cause[mine].tolist() if reason in WAITS else [-1] * int(mine.sum())
        for cause, cycles in zip(causes, lasting_us[mine].tolist(), strict=True):
            pipe = PIPES.get(block.prices.instrs[block.prices.code[cause]].pipe) if cause >= 0 else None
            name = reason.text if pipe is None else f"{WAITS[reason]} {pipe}"
            found[name] = found.get(name, 0.0) + cycles
    return {name: us for name, us in found.items() if us > 0}
