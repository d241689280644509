"""From the time of an excerpt to the time of the whole: the stretches of a block are stretched, one after another."""

from __future__ import annotations

from array import array
from dataclasses import replace

import numpy as np

from ascend_sim.sampling.stretches import Floats, Ints, Stretches
from ascend_sim.timeline import CoreTimeline


def done_by(line: CoreTimeline) -> Ints:
    """When each instruction of a block and all before it have ended, in cycles; behind them the block's begin, for what
    ends before any instruction does."""
    ends = np.asarray(line.end, np.int64)
    return np.append(np.maximum.accumulate(ends) if len(ends) else ends, line.begin)


class Warp:
    """The time of one block. A stretch lasts from when all work in front of it is done until its own is.

    `done`: that of the block, where it is known.
    """

    def __init__(self, line: CoreTimeline, found: Stretches, done: Ints | None = None) -> None:
        at = (done_by(line) if done is None else done)[found.ends - 1]
        self._at: Ints = np.maximum.accumulate(np.concatenate([[line.begin], at]))
        lasts = np.diff(self._at) * found.weights
        self._whole: Floats = line.begin + np.concatenate([[0.0], np.cumsum(lasts)])

    def __call__(self, cycles: Ints) -> Floats:
        """Cycles of the excerpt as cycles of the whole; in front of and behind the stretches time passes as it did."""
        whole: Floats = np.interp(cycles, self._at, self._whole)
        whole += np.minimum(cycles - self._at[0], 0) + np.maximum(cycles - self._at[-1], 0)
        return whole

    def at(self, cycle: float) -> float:
        return float(self(np.array([cycle]))[0])

    def finish(self, line: CoreTimeline) -> float:
        return float(self(np.array([line.finish]))[0])


def warped(line: CoreTimeline, found: Stretches, scalar_cycles: int, shift: int) -> CoreTimeline:
    """The block's timeline in the time of the whole, in which it begins `shift` cycles later; each instruction still
    stands for itself alone, so what is counted by instruction is not that of the whole."""
    warp = Warp(line, found)

    def of(times: array[int]) -> array[int]:
        whole = np.rint(warp(np.asarray(times, np.int64))).astype(np.int64) + shift
        return array("q", whole.tobytes())

    wait = np.rint(np.asarray(line.wait, np.float64) * found.per_instruction()).astype(np.int32)
    return replace(
        line,
        begin=line.begin + shift,
        finish=round(warp.finish(line)) + shift,
        scalar_cycles=scalar_cycles,
        dispatch=of(line.dispatch),
        start=of(line.start),
        end=of(line.end),
        wait=array("i", wait.tobytes()),
    )
