"""How far off the mean of the repeated rounds may be from that of all others, by chance.

What one core loses another one gains, and a long round is followed by a short one as often as not: so neither the
rounds of a core nor the cores are taken one by one. The mean over the cores tells, round by round, how much is left of
their unrest, and how much of it lasts from one round to the next. Cores that differ alike in both halves of the pattern
do so for good; where they do not, that is chance as well.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ascend_sim.asc.tiles import Round, TileLoop
from ascend_sim.sampling.rates import SETTLING, Path, outermost
from ascend_sim.sampling.stretches import Ints
from ascend_sim.timeline import CoreTimeline

FEWEST = 4
"""Periods that tell of themselves how unlike they are; of fewer it is told by how much one half differs from the other
(`drift`)."""
MOST_LASTING = 0.8
"""Correlation of a round with the next one that is believed at most: more is drift, which is judged by itself."""


def unrest_cycles(lines: Sequence[CoreTimeline], blocks: Mapping[int, Round], dones: Sequence[Ints]) -> float:
    """A standard deviation of the time of all rounds that were left out, mean of the cores, in cycles; loops in turn
    are taken to be off the same way. `dones`: of each block, when its instructions are done."""
    periods: dict[Path, list[Ints]] = defaultdict(list)
    left_out: dict[Path, float] = defaultdict(float)
    waves: dict[int, int] = defaultdict(int)
    for line, done in zip(lines, dones, strict=True):
        block = blocks.get(line.program.block)
        for path, loop in () if block is None else outermost(block):
            here = (waves[line.core], *path)
            periods[here].append(_periods(loop, done))
            left_out[here] += (loop.total - len(loop.rounds)) / loop.period
        waves[line.core] += 1
    return sum(left_out[path] * deviation(found) for path, found in periods.items()) / max(1, len(waves))


def _periods(loop: TileLoop, done: Ints) -> Ints:
    """What each period of the pattern takes, behind those in which the cores settle."""
    found = np.diff(done[[this.first - 1 for this in loop.rounds[loop.lead :: loop.period]]])
    return found[int(SETTLING * len(found)) :]


def deviation(runs: Sequence[Ints]) -> float:
    """Standard deviation of the mean of all periods of all cores; `runs`: by core, what its periods take. That of few
    periods is known so badly itself that it is taken for larger."""
    count = min(len(run) for run in runs)
    if not count:
        return 0.0
    periods = np.array([run[:count] for run in runs], np.float64)
    cores = 0.0
    if count > 1 and len(runs) > 1:
        changes = periods[:, : count // 2].mean(axis=1) - periods[:, -(count // 2) :].mean(axis=1)
        cores = float(np.std(changes, ddof=1)) / 2 / math.sqrt(len(runs))
    if count < FEWEST:
        return cores
    together = periods.mean(axis=0)
    lasting = _lasting(together - together.mean())
    rounds = float(np.std(together, ddof=1)) * math.sqrt((1 + lasting) / (1 - lasting) / count)
    return max(cores, rounds * (1 + 2 / (count - 1)))


def _lasting(differences: npt.NDArray[np.float64]) -> float:
    """Correlation of one with the next."""
    square = float(np.dot(differences, differences))
    return min(MOST_LASTING, max(0.0, float(np.dot(differences[1:], differences[:-1])) / square)) if square else 0.0
