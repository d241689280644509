"""How long a launch takes, from as little of it as will do.

A short excerpt of every tile loop is simulated and carried on (`stretches`). How far off that may be is told by what
the excerpt itself shows: `drift`, how much the answer changes when one half of the repeated rounds speaks for those
left out instead of the other, and `spread`, how much cores differ that have equally much left to do. While that is more
than `TOLERANCE`, longer excerpts are taken, up to the whole launch.

What a tile costs also hangs on L2. A launch that fits in finds everything there, and so does its excerpt. A launch that
does not fit comes to every line once and finds none: its excerpt runs on an L2 full of other lines, of which as many
are written as the launch writes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ascend_sim.asc.tiles import Excerpt, LoopKey
from ascend_sim.host.device import Launch
from ascend_sim.sampling.stretches import LEAD
from ascend_sim.sampling.whole import Whole

TOLERANCE = 0.0025
"""Largest error (relative) at which an excerpt is good enough."""
PATTERN = 4
"""Rounds that speak for those left out, at first."""
WHOLE_INSTRUCTIONS = 60_000
"""A launch up to this size is simulated as it is."""
WORTH = 3
"""An excerpt must be this many times smaller than the launch."""

Run = Callable[[Excerpt | None], Launch]


@dataclass(frozen=True, slots=True)
class Estimate:
    """`error`: how far off the duration may be, relative, because only part of the launch was simulated: 0 when it was
    not. `simulated`: instructions that were, in all attempts."""

    whole: Whole
    duration_us: float
    error: float
    simulated: int

    @property
    def exact(self) -> bool:
        return self.error == 0.0


def estimate(run: Run, *, exact: bool = False, whole_instructions: int = WHOLE_INSTRUCTIONS) -> Estimate:
    """`run(excerpt)` launches, and records no more than `excerpt` takes in; `exact`: simulate all of it."""
    if exact:
        return _in_full(run, 0)
    limits: dict[LoopKey, int] = {}
    simulated = 0
    while True:
        excerpt = Excerpt(LEAD + PATTERN + 1, limits)
        whole = Whole(run(excerpt), excerpt)
        simulated += whole.recorded
        if whole.complete:
            return Estimate(whole, _us(whole, whole.finishes.max(initial=0.0)), 0.0, simulated)
        if whole.instructions <= max(whole_instructions, WORTH * whole.recorded):
            return _in_full(run, simulated)
        low, high = whole.duration_cycles()
        duration = (low + high) / 2
        drifts = {key: _drift(whole, key, low) for key in whole.cut_loops()}
        error = ((high - low) / 2 + sum(drifts.values())) / duration
        if error <= TOLERANCE:
            return Estimate(whole, _us(whole, duration), error, simulated)
        _longer(whole, drifts, limits)


def _in_full(run: Run, simulated: int) -> Estimate:
    whole = Whole(run(None), None)
    return Estimate(whole, whole.metrics.duration_us, 0.0, simulated + whole.recorded)


def _us(whole: Whole, cycles: float) -> float:
    timeline = whole.launch.timeline
    return timeline.launch_us + timeline.to_us(cycles)


def _drift(whole: Whole, key: LoopKey, low: float) -> float:
    """By how many cycles the answer changes with one half of the loop's pattern instead of both."""
    return max(abs(whole.duration_cycles({key: half})[0] - low) for half in (0, 1))


def _longer(whole: Whole, drifts: dict[LoopKey, float], limits: dict[LoopKey, int]) -> None:
    """Twice as long a pattern in the loop that drifts most, or in all where none does: then it is the cores."""
    cut = whole.cut_loops()
    worst = max(drifts, key=lambda key: drifts[key])
    for key in [worst] if drifts[worst] > 0 else cut:
        pattern = cut[key] - LEAD - 1
        limits[key] = LEAD + 2 * pattern + 1
