"""How long a launch takes, from as little of it as will do.

A short excerpt of every tile loop is simulated and carried on at the rate of its middle (`rates`). How far off that may
be is told by what the excerpt itself shows: `drift`, how much the answer changes when one half of the repeated rounds
speaks for those left out instead of the other, `spread`, how much it hangs on cores being faster than others by chance,
and `unrest`, how much the mean of the repeated rounds does. While that is more than `TOLERANCE`, a longer excerpt is
taken, or the whole launch if it is not large.

What a tile costs also hangs on L2. A launch that fits in finds everything there, and so does its excerpt. A launch that
does not fit comes to every line once and finds none: its excerpt finds an L2 full of other lines, as the rounds that it
leaves out would leave them, and what comes behind these rounds finds nothing of what came before.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ascend_sim.asc.tiles import Excerpt, LoopKey
from ascend_sim.host.device import Launch
from ascend_sim.sampling.whole import Whole

TOLERANCE = 0.004
"""Largest error (relative) at which an excerpt is good enough."""
WHOLE_INSTRUCTIONS = 60_000
"""A launch up to this size is simulated as it is; ..."""
RATHER_WHOLE_INSTRUCTIONS = 400_000
"""... and up to this size if the first excerpt will not do."""
POOR = 0.10
"""An excerpt that may be further off (relative) than the model mostly is says little: ..."""
POOR_WHOLE_INSTRUCTIONS = 2_000_000
"""... launches up to this size, half a minute, are simulated in full then."""
BUDGET = 1 / 32
"""No more than this share of a larger launch is simulated; the error is then what it is."""
ROUGH_INSTRUCTIONS = 40_000
"""What a rough excerpt records if it can: so many that most launches are not hurried."""
LONGER = 1.2
"""An excerpt is not taken again for less than so many times its length."""
UNREST = 2.0
"""How far off an excerpt of restless rounds may be, in standard deviations of their mean."""
LEAST = 0.002
"""What an excerpt may be off (relative) though all of its rounds are alike: cores end with other rounds than they begin
with, and not all at once."""
OTHERS = 0.02
"""What an excerpt may be off (relative) because of what it finds in L2 where the launch does not fit in: real launches
displace lines in an order of their own, and for a while at the beginning in another one than later."""
CHANGE = 0.01
"""What it may be off (relative) there for each loop that follows another one: its first rounds displace the lines of
the loop before, and HBM has had a rest in between that is no longer than in the launch, but the rounds are fewer."""

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
        return self.whole.complete


def estimate(run: Run, *, exact: bool = False, rough: bool = False, fits: bool = True) -> Estimate:
    """`run(excerpt)` launches, and records no more than `excerpt` takes in.

    `exact`: simulate all of it. `rough`: one excerpt will do, whatever its error. `fits`: all of it fits into L2.
    """
    patterns: dict[LoopKey, int] = {}
    simulated = 0
    while not exact:
        excerpt = Excerpt(patterns, limit=ROUGH_INSTRUCTIONS if rough else math.inf)
        whole = Whole(run(excerpt), excerpt)
        simulated += whole.recorded
        if whole.complete and fits:
            return Estimate(whole, whole.metrics.duration_us, 0.0, simulated)
        if whole.complete or whole.instructions <= WHOLE_INSTRUCTIONS:
            break
        found = _judged(whole, simulated, fits)
        if found.error <= TOLERANCE or rough:
            return found
        if whole.instructions <= RATHER_WHOLE_INSTRUCTIONS:
            break
        longer = (BUDGET * whole.instructions - simulated) / whole.recorded
        if longer < LONGER:
            if found.error > POOR and whole.instructions <= POOR_WHOLE_INSTRUCTIONS:
                break
            return found
        worst = _worst(whole)
        for key in worst:
            patterns[key] = int((longer if len(worst) == 1 else min(2.0, longer)) * whole.patterns()[key])
    whole = Whole(run(None), None)
    return Estimate(whole, whole.metrics.duration_us, 0.0, simulated + whole.recorded)


def _judged(whole: Whole, simulated: int, fits: bool) -> Estimate:
    even = whole.duration_cycles()
    more, spread = whole.spread_cycles()
    drift = sum(_drift(whole, key) for key in whole.patterns())
    timeline = whole.launch.timeline
    duration = timeline.launch_us + timeline.to_us(even + more)
    error = LEAST if fits else OTHERS + CHANGE * (whole.loops_in_turn() - 1)
    error += (spread + drift + UNREST * whole.unrest_cycles()) / (even + more)
    return Estimate(whole, duration, error, simulated)


def _drift(whole: Whole, key: LoopKey) -> float:
    """By how many cycles the answers differ when one half or the other of the loop's pattern speaks for it."""
    return abs(whole.duration_cycles({key: 0}) - whole.duration_cycles({key: 1}))


def _worst(whole: Whole) -> set[LoopKey]:
    """The loop that drifts most, or all where none does: then it is the cores."""
    drifts = {key: _drift(whole, key) for key in whole.patterns()}
    worst = max(drifts, key=lambda key: drifts[key])
    return {worst} if drifts[worst] > 0 else set(drifts)
