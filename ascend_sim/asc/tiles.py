"""Loops over tiles, and recordings that leave out the middle rounds of them.

A loop of hundreds of equal tiles need not be recorded in full to know what it costs: `asc.tiles` marks it, and an
`Excerpt` on the device takes in its first rounds and its last one, and remembers what it left out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, TypeVar

from ascend_sim.asc.recorder import RECORDER

__all__ = ["tiles"]

T = TypeVar("T")
LoopKey = tuple[CodeType, int]
"""Where a loop stands: code object and instruction."""

PARITY = 2
"""Kernels may take turns with two buffers or flags by the number of a tile, so rounds are left out in pairs."""


def tiles(rounds: Sequence[T]) -> Sequence[T] | Iterator[T]:
    """`for tile in asc.tiles(range(count))`: a loop over tiles. Nothing but `rounds`, unless an excerpt is recorded.

    Not in pyasc: for a board leave it away.
    """
    excerpt: Excerpt | None = RECORDER.excerpt
    if excerpt is None:
        return rounds
    frame = sys._getframe(1)
    return excerpt.take(rounds, (frame.f_code, frame.f_lasti))


@dataclass(slots=True)
class Round:
    """One recorded round of a tile loop, or a whole block: instructions `first` to `end` of the block, and the tile
    loops that ran in it."""

    first: int
    end: int = -1
    loops: list[TileLoop] = field(default_factory=list)

    def all_loops(self) -> Iterator[TileLoop]:
        """The loops in it and those inside them, as they ran."""
        for loop in self.loops:
            yield loop
            for inner in loop.rounds:
                yield from inner.all_loops()


@dataclass(slots=True)
class TileLoop:
    """One run of a tile loop of `total` rounds, of which the first ones and the last were recorded."""

    key: LoopKey
    total: int
    rounds: list[Round] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        return len(self.rounds) == self.total


class Excerpt:
    """Takes in `limits[loop]` rounds (else `default`) each time that a tile loop runs, or one more.

    `blocks`: what was recorded, by block; a block without tile loops is missing.
    """

    def __init__(self, default: int, limits: Mapping[LoopKey, int] | None = None) -> None:
        self.default = default
        self.limits = dict(limits or {})
        self.blocks: dict[int, Round] = {}
        self._inside: dict[int, Round] = {}

    def take(self, rounds: Sequence[Any], key: LoopKey) -> Iterator[Any]:
        total = len(rounds)
        limit = self.limits.get(key, self.default)
        kept = min(total, limit + (total - limit) % PARITY)
        if not kept:
            return
        block = RECORDER.block
        instrs = RECORDER.launch.blocks[block].core.instrs
        if block not in self.blocks:
            self.blocks[block] = self._inside[block] = Round(0)
        around = self._inside[block]
        loop = TileLoop(key, total)
        around.loops.append(loop)
        for index in (*range(kept - 1), total - 1):
            this = Round(len(instrs))
            loop.rounds.append(this)
            self._inside[block] = this
            yield rounds[index]
            this.end = len(instrs)
        self._inside[block] = around
