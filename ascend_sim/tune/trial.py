"""One tiling of a call, timed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ascend_sim.explain.account import account
from ascend_sim.explain.reasons import Reason
from ascend_sim.host.space import balance
from ascend_sim.host.tiling import Tiling
from ascend_sim.program import Program
from ascend_sim.sampling.calls import TimedCall
from ascend_sim.sampling.estimate import Estimate
from ascend_sim.sampling.warp import Warp

WORK = "work"
"""What a pipe does beside the reasons for which it stands still."""


@dataclass(frozen=True, slots=True)
class Trial:
    """`error`: relative, on the duration, because only part of the launch was simulated (0: all of it). `account`: of
    the block that ends last, us by pipe, of work and of each reason for a gap. `simulated`: instructions."""

    tiling: Tiling
    choices: Mapping[str, int | str]
    balance: float
    duration_us: float
    error: float
    bound: str
    ratios: Mapping[str, float]
    account: Mapping[str, Mapping[str, float]]
    simulated: int

    def to_json(self) -> dict[str, Any]:
        return {
            "duration_us": round(self.duration_us, 4),
            "sampling_error": round(self.error, 5),
            "block_dim": self.tiling.block_dim,
            "key": self.tiling.key,
            "choices": dict(self.choices),
            "ub_bytes": self.tiling.ub_used_bytes,
            "balance": round(self.balance, 4),
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
    return trial_of(call, tiling, call.time(tiling, exact=exact, rough=rough), space.choices(tiling))


def trial_of(call: TimedCall, tiling: Tiling, found: Estimate, choices: Mapping[str, int | str]) -> Trial:
    space = call.operator.space_on(call.chip.name)
    metrics = found.whole.metrics
    return Trial(
        tiling=tiling,
        choices=choices,
        balance=balance(space.coverage(tiling, call.context)),
        duration_us=found.duration_us,
        error=found.error,
        bound=metrics.bound,
        ratios={name: use.ratio for name, use in metrics.pipes.items()},
        account=account_of(found),
        simulated=found.simulated,
    )


def account_of(found: Estimate) -> dict[str, dict[str, float]]:
    """Where the time of the block that ends last goes, in us."""
    whole = found.whole
    program, timeline = whole.launch.program, whole.launch.timeline
    ends = [Warp(line, block).finish(line) for line, block in zip(timeline.cores, whole.blocks, strict=True)]
    last = ends.index(max(ends))
    line, block = timeline.cores[last], whole.blocks[last]
    warp = Warp(line, block)
    alone = Program(program.kernel, [line.program], auto_sync=program.auto_sync)
    timeline = type(timeline)(timeline.clock_mhz, [line], line.finish, timeline.launch_us)
    (of_block,) = account(alone, timeline, whole.launch.soc).blocks
    total = warp.finish(line) - line.begin
    parts: dict[str, dict[str, float]] = {}
    for name, pipe in of_block.pipes.items():
        gaps = pipe.gaps
        cycles = warp(gaps.end) - warp(gaps.begin)
        mine: dict[str, float] = {}
        for reason in Reason:
            us = float(cycles[gaps.reason == reason].sum()) / timeline.clock_mhz
            if us > 0:
                mine[reason.text] = us
        parts[name] = {WORK: (total - float(cycles.sum())) / timeline.clock_mhz, **mine}
    return parts
