"""Figures of one launch under msprof's definitions, worked out with numpy from its Program and Timeline.

Task Duration is the launch overhead plus the time from the first block's begin to the last block's end; AIV time is a
core's own time, that of all its blocks where there are more blocks than cores; a pipe's busy time is the union of the
intervals in which it has an instruction in flight (flags and barriers are not work); times and ratios are means over
the cores, as msprof prints them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.keyed import Keyed
from ascend_sim.program import PipeID, Program
from ascend_sim.report.codes import Codes, Codes32
from ascend_sim.report.waits import Wait, WaitTable
from ascend_sim.timeline import CoreTimeline, MemoryCounters, Timeline

Ints = npt.NDArray[np.int64]

PIPES: dict[str, PipeID] = {
    "scalar": PipeID.PIPE_S,
    "vec": PipeID.PIPE_V,
    "mte2": PipeID.PIPE_MTE2,
    "mte3": PipeID.PIPE_MTE3,
}


@dataclass(frozen=True, slots=True)
class PipeUse(Keyed):
    """`busy_us`: mean over cores; `ratio`: mean over cores of busy time / AIV time (0..1); `instructions`: in all."""

    busy_us: float
    ratio: float
    instructions: int

    def to_json(self) -> dict[str, float]:
        return {"busy_us": round(self.busy_us, 4), "ratio": round(self.ratio, 4)}


@dataclass(frozen=True, slots=True)
class Spread(Keyed):
    """A time in us over the cores of a launch."""

    mean: float
    min: float
    max: float

    def to_json(self) -> dict[str, float]:
        return {"mean": round(self.mean, 4), "min": round(self.min, 4), "max": round(self.max, 4)}


@dataclass(frozen=True, slots=True)
class Metrics:
    """`bound` names the pipe with the largest ratio; `aiv_cycles` and `busy_cycles` hold one number per core."""

    duration_us: float
    launch_us: float
    aiv_time_us: Spread
    pipes: dict[str, PipeUse]
    bound: str
    waits: list[Wait]
    memory: MemoryCounters
    instructions: int
    aiv_cycles: Ints
    busy_cycles: dict[str, Ints] = field(default_factory=dict)


def measure(program: Program, timeline: Timeline) -> Metrics:
    """Reduce one launch; about 0.2 s for a million instructions."""
    codes = Codes()
    waits = WaitTable(codes)
    seats = {core: seat for seat, core in enumerate(sorted({block.core for block in timeline.cores}))}
    aiv = np.zeros(len(seats), np.int64)
    busy = {name: np.zeros(len(seats), np.int64) for name in PIPES}
    counts = dict.fromkeys(PIPES, 0)
    for core in timeline.cores:
        found = codes.of(core.program.instrs)
        aiv[seats[core.core]] += core.finish - core.begin
        _add_block(core, found, seats[core.core], codes, busy, counts)
        waits.add(core, found)
    pipes = {name: _use(busy[name], aiv, counts[name], timeline) for name in PIPES}
    return Metrics(
        duration_us=timeline.launch_us + timeline.to_us(timeline.duration_cycles),
        launch_us=timeline.launch_us,
        aiv_time_us=_spread(aiv, timeline),
        pipes=pipes,
        bound=max(pipes, key=lambda name: pipes[name].ratio),
        waits=waits.collect(timeline, float(aiv.sum()), len(seats)),
        memory=timeline.memory,
        instructions=program.instructions,
        aiv_cycles=aiv,
        busy_cycles=busy,
    )


def _add_block(
    core: CoreTimeline, found: Codes32, seat: int, codes: Codes, busy: dict[str, Ints], counts: dict[str, int]
) -> None:
    """Busy cycles and instruction counts of one block, onto row `seat` of `busy` and onto `counts`."""
    pipe = codes.pipe[found]
    working = codes.working[found]
    start = np.asarray(core.start, np.int64)
    end = np.asarray(core.end, np.int64)
    for name, number in PIPES.items():
        chosen = pipe == number
        counts[name] += int(np.count_nonzero(chosen))
        if number is PipeID.PIPE_S:
            busy[name][seat] += core.scalar_cycles
        else:
            chosen &= working
            busy[name][seat] += union_cycles(start[chosen], end[chosen])


def union_cycles(start: Ints, end: Ints) -> int:
    """Length of the union of the intervals `[start, end)`, which may overlap and come in any order."""
    if not len(start):
        return 0
    if np.any(start[1:] < start[:-1]):
        order = np.argsort(start, kind="stable")
        start, end = start[order], end[order]
    covered = np.maximum.accumulate(end)
    fresh = end.copy()
    fresh -= start
    fresh[1:] = end[1:] - np.maximum(start[1:], covered[:-1])
    return int(np.maximum(fresh, 0).sum())


def _use(busy: Ints, aiv: Ints, instructions: int, timeline: Timeline) -> PipeUse:
    if not len(aiv):
        return PipeUse(0.0, 0.0, 0)
    ratios = busy / np.maximum(aiv, 1)
    return PipeUse(timeline.to_us(float(busy.mean())), float(ratios.mean()), instructions)


def _spread(cycles: Ints, timeline: Timeline) -> Spread:
    if not len(cycles):
        return Spread(0.0, 0.0, 0.0)
    return Spread(*(timeline.to_us(float(value)) for value in (cycles.mean(), cycles.min(), cycles.max())))


def hit_ratio(hit_bytes: int, total_bytes: int) -> float | None:
    """Share of `total_bytes` that L2 served, or None when nothing was asked for."""
    return hit_bytes / total_bytes if total_bytes else None


def memory_json(memory: MemoryCounters) -> dict[str, Any]:
    """The counters by name (bytes) and the two L2 hit ratios (0..1, null without traffic)."""
    return {
        "read_bytes": memory.read_bytes,
        "written_bytes": memory.written_bytes,
        "hbm_read_bytes": memory.hbm_read_bytes,
        "hbm_written_bytes": memory.hbm_written_bytes,
        "l2_read_hit_ratio": hit_ratio(memory.l2_read_hit_bytes, memory.read_bytes),
        "l2_write_hit_ratio": hit_ratio(memory.l2_write_hit_bytes, memory.written_bytes),
    }
