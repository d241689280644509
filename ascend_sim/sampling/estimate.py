"""How long a launch takes, from as little of it as will do.

A short excerpt of every tile loop is simulated and carried on (`stretches`). How far off that may be is told by what
the excerpt itself shows: `drift`, how much the answer changes when one half of the repeated rounds speaks for those
left out instead of the other, and `spread`, how much it hangs on cores being faster than others by chance. While that
is more than `TOLERANCE`, longer excerpts are taken, up to the whole launch.

What a tile costs also hangs on L2. A launch that fits in finds everything there, and so does its excerpt. A launch that
does not fit comes to every line once and finds none: its excerpt runs on an L2 full of other lines, of which as many
are written as the launch writes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ascend_sim.asc.tiles import Excerpt, LoopKey
from ascend_sim.host.device import Launch
from ascend_sim.sampling.whole import Whole

TOLERANCE = 0.004
"""Largest error (relative) at which an excerpt is good enough."""
ROUNDS = 5
"""Rounds of each loop in the first excerpt: two while double buffers fill, two that are repeated, the last."""
PATTERN_INSTRUCTIONS = 64
"""Of a block, in the rounds that are repeated: fewer could hide behind a latency or in a queue."""
WHOLE_INSTRUCTIONS = 60_000
"""A launch up to this size is simulated as it is."""
OTHERS = 0.003
"""What the state of L2 that an excerpt finds, where the launch does not fit in, may add to the error (relative): lines
are displaced in another order than by the launch before (0.23 % for 64 cores of a 950 that share HBM)."""
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


def estimate(
    run: Run, *, exact: bool = False, fits: bool = True, whole_instructions: int = WHOLE_INSTRUCTIONS
) -> Estimate:
    """`run(excerpt)` launches, and records no more than `excerpt` takes in; `exact`: simulate all of it; `fits`: all of
    it fits into L2."""
    limits: dict[LoopKey, int] = {}
    simulated = 0
    while not exact:
        excerpt = Excerpt(ROUNDS, limits)
        whole = Whole(run(excerpt), excerpt)
        simulated += whole.recorded
        if whole.complete or whole.instructions <= max(whole_instructions, WORTH * whole.recorded):
            break
        short = [key for key, pattern in whole.patterns().items() if pattern.instructions < PATTERN_INSTRUCTIONS]
        if not short:
            even = whole.duration_cycles()
            more, spread = whole.spread_cycles()
            drifts = {key: _drift(whole, key) for key in whole.patterns()}
            error = (spread + sum(drifts.values())) / (even + more)
            if error <= TOLERANCE:
                return Estimate(whole, _us(whole, even + more), error + (0.0 if fits else OTHERS), simulated)
            worst = max(drifts, key=lambda key: drifts[key])
            short = [worst] if drifts[worst] > 0 else list(drifts)  # no loop drifts: the cores differ
        for key in short:
            limits[key] = 2 * whole.patterns()[key].rounds - 1
    whole = Whole(run(None), None)
    return Estimate(whole, whole.metrics.duration_us, 0.0, simulated + whole.recorded)


def _us(whole: Whole, cycles: float) -> float:
    timeline = whole.launch.timeline
    return timeline.launch_us + timeline.to_us(cycles)


def _drift(whole: Whole, key: LoopKey) -> float:
    """By how many cycles the answers differ when one half or the other of the loop's pattern speaks for it."""
    return abs(whole.duration_cycles({key: 0}) - whole.duration_cycles({key: 1}))
