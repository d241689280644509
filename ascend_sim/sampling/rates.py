"""What a round of a tile loop costs while all cores are in the middle of it.

The first and the last rounds of an excerpt are those of cores that have just begun, or of which others have ended
already: memory is less busy then. So a loop is measured in a window of time in which all of its cores repeat the
pattern, and behind its first rounds. Loops inside it count with what they have left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ascend_sim.asc.tiles import Round, TileLoop
from ascend_sim.sampling.stretches import Floats, Halves, Ints, Stretches
from ascend_sim.sampling.warp import Warp
from ascend_sim.timeline import CoreTimeline

SETTLING = 0.3
"""The window begins behind this share of the pattern."""
LEAST_ROUNDS = 1.5
"""A window shorter than so many rounds (or periods) is none."""

Path = tuple[object, ...]
"""Which run of which loop: the same for cores that do the same."""


@dataclass(slots=True)
class Run:
    """One run, on one core, of a loop that left out rounds and lies in none that did; `marks`: when each period of its
    pattern begins, and the last one ends."""

    core: int
    loop: TileLoop
    marks: Ints
    warp: Warp

    @property
    def left_out(self) -> int:
        return self.loop.total - len(self.loop.rounds)

    def cycles(self, begin: float, end: float) -> float:
        """Of a round, with what loops in it left out, on average between two points of time; 0: too short to say."""
        periods = np.arange(len(self.marks), dtype=np.float64)
        first, last = np.interp([begin, end], self.marks, periods)
        if last - first < LEAST_ROUNDS:
            return 0.0
        return (self.warp.at(end) - self.warp.at(begin)) / float(last - first) / self.loop.period


def outermost(block: Round, path: Path = ()) -> Iterator[tuple[Path, TileLoop]]:
    """The loops that left out rounds and lie in none that did."""
    for number, loop in enumerate(block.loops):
        here = (*path, loop.key, number)
        if not loop.whole:
            yield here, loop
            continue
        for index, this in enumerate(loop.rounds):
            yield from outermost(this, (*here, index))


class Runs:
    """All runs of loops that left out rounds, ready to be asked what these cost. `inner`: what lines stand for but for
    outermost loops."""

    def __init__(
        self,
        lines: Sequence[CoreTimeline],
        blocks: Mapping[int, Round],
        inner: Sequence[Stretches],
        dones: Sequence[Ints],
    ) -> None:
        self._fixed: dict[int, float] = defaultdict(float)
        runs: dict[Path, list[Run]] = defaultdict(list)
        waves: dict[int, int] = defaultdict(int)
        for line, stretch, done in zip(lines, inner, dones, strict=True):
            warp = Warp(line, stretch, done)
            self._fixed[line.core] += warp.finish(line) - line.finish
            block = blocks.get(line.program.block)
            for path, loop in () if block is None else outermost(block):
                marks = done[[this.first - 1 for this in loop.rounds[loop.lead :: loop.period]]]
                runs[(waves[line.core], *path)].append(Run(line.core, loop, marks, warp))
            waves[line.core] += 1
        self._runs = list(runs.values())

    def left_out_cycles(self, halves: Halves) -> Floats:
        """By core, what all rounds that were left out cost."""
        found = dict(self._fixed)
        for same in self._runs:
            for run, cycles in zip(same, _costs(same, halves.get(same[0].loop.key)), strict=True):
                found[run.core] += run.left_out * cycles
        return np.array([found[core] for core in sorted(found)])


def _costs(runs: Sequence[Run], half: int | None) -> Floats:
    """Cycles of a round in each of the runs, in the window of all or in one half of it."""
    begin = max(int(run.marks[int(SETTLING * (len(run.marks) - 1))]) for run in runs)
    end = min(int(run.marks[-1]) for run in runs)
    costs = np.array([run.cycles(*_half(begin, end, half)) for run in runs]) if end > begin else np.zeros(len(runs))
    if np.all(costs > 0):
        return costs
    return np.array([_alone(run, half) for run in runs])


def _alone(run: Run, half: int | None) -> float:
    """Of a round of the pattern, whatever other cores do."""
    middle = len(run.marks) // 2
    first, last = {None: (0, -1), 0: (0, middle), 1: (middle, -1)}[half]
    marks = run.marks
    periods = (last % len(marks)) - first
    if periods <= 0:
        first, last, periods = 0, -1, len(marks) - 1
    return (run.warp.at(marks[last]) - run.warp.at(marks[first])) / periods / run.loop.period


def _half(begin: float, end: float, half: int | None) -> tuple[float, float]:
    middle = (begin + end) / 2
    return {None: (begin, end), 0: (begin, middle), 1: (middle, end)}[half]
