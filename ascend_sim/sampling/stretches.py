"""What the recorded part of a block stands for: stretches of instructions, each with the rounds that it speaks for.

Of a tile loop the first rounds, while the pipes fill, and the last one count for themselves; those between, the
pattern, stand for all others. Loops inside loops multiply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ascend_sim.asc.tiles import LoopKey, Round, TileLoop

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

Halves = Mapping[LoopKey, int]
"""Loops of which only one half (0 or 1) of the pattern is to speak for what was left out."""


@dataclass(frozen=True, slots=True)
class Stretches:
    """Instructions `ends[i - 1]` to `ends[i]` of a block stand for `weights[i]` times as many."""

    ends: Ints
    weights: Floats

    @property
    def instructions(self) -> float:
        """How many the whole block has."""
        return float(np.dot(np.diff(self.ends, prepend=0), self.weights))

    def per_instruction(self) -> Floats:
        return np.repeat(self.weights, np.diff(self.ends, prepend=0))


def stretches(
    block: Round | None, instructions: int, halves: Halves | None = None, outermost: bool = True
) -> Stretches:
    """Of a block with so many recorded `instructions`; rounds that the outermost loops have left out count if
    `outermost`, and else only those of loops inside them."""
    if block is None:
        return Stretches(np.array([instructions]), np.ones(1))
    block.end = instructions
    found = list(_of_round(block, 1.0, halves or {}, outermost))
    return Stretches(np.array([end for end, _ in found]), np.array([weight for _, weight in found]))


def _of_round(block: Round, weight: float, halves: Halves, counted: bool) -> Iterator[tuple[int, float]]:
    for loop in block.loops:
        yield loop.rounds[0].first, weight
        weights = shares(loop, halves) if counted else [1.0] * len(loop.rounds)
        for inner, share in zip(loop.rounds, weights, strict=True):
            yield from _of_round(inner, weight * share, halves, counted or not loop.whole)
    yield block.end, weight


def shares(loop: TileLoop, halves: Halves) -> list[float]:
    """For each recorded round, how many it stands for."""
    count = len(loop.rounds)
    if loop.whole:
        return [1.0] * count
    pattern = range(loop.lead, count - 1)
    half = halves.get(loop.key)
    if half is not None:
        middle = loop.lead + len(pattern) // 2
        pattern = range(loop.lead, middle) if half == 0 else range(middle, count - 1)
    share = (loop.total - loop.lead - 1) / len(pattern)
    between = [share if index in pattern else 0.0 for index in range(loop.lead, count - 1)]
    return [1.0] * loop.lead + between + [1.0]
