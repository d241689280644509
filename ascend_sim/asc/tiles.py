"""Loops over tiles, and recordings that leave out the middle rounds of them.

A loop of hundreds of equal tiles need not be recorded in full to know what it costs: `asc.tiles` marks it, and an
`Excerpt` on the device takes in its first rounds and its last one. What was left out is on its account.
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
"""Kernels may take turns with two buffers or flags by the number of a tile: as many rounds as this stay in step."""


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
class Account:
    """What the excerpt of one block holds. `kept`: rounds of each loop that were recorded, `full`: rounds that there
    are. `segments`: from instruction number `first` on, `(first, weight, loop)`: how many instructions of the whole
    each recorded one stands for, and the innermost loop that it is in."""

    kept: dict[LoopKey, int] = field(default_factory=dict)
    full: dict[LoopKey, float] = field(default_factory=dict)
    segments: list[tuple[int, float, LoopKey | None]] = field(default_factory=lambda: [(0, 1.0, None)])

    def weights(self, instructions: int) -> Iterator[tuple[int, int, float, LoopKey | None]]:
        """`(first, end, weight, loop)` of each stretch of the `instructions` recorded ones."""
        ends = [first for first, _, _ in self.segments[1:]] + [instructions]
        for (first, weight, loop), end in zip(self.segments, ends, strict=True):
            if end > first:
                yield first, end, weight, loop

    def enter(self, instructions: int, weight: float, loop: LoopKey | None) -> None:
        self.segments.append((instructions, weight, loop))

    def count(self, loop: LoopKey, kept: int, full: float) -> None:
        self.kept[loop] = self.kept.get(loop, 0) + kept
        self.full[loop] = self.full.get(loop, 0.0) + full


class Excerpt:
    """Takes in at most `limits[loop]` (else `default`; None: all) rounds each time that a tile loop runs, 2 or more:
    the first ones and the last. `accounts`: by block."""

    def __init__(self, default: int | None, limits: Mapping[LoopKey, int] | None = None) -> None:
        self.default = default
        self.limits = dict(limits or {})
        self.accounts: dict[int, Account] = {}

    def take(self, rounds: Sequence[Any], loop: LoopKey) -> Iterator[Any]:
        total = len(rounds)
        limit = self.limits.get(loop, self.default)
        kept = total if limit is None else min(total, limit + (total - limit) % PARITY)
        if not kept:
            return
        block = RECORDER.block
        account = self.accounts.setdefault(block, Account())
        instrs = RECORDER.launch.blocks[block].core.instrs
        _, outer, around = account.segments[-1]
        account.count(loop, kept, total * outer)
        weight = (total - 1) / (kept - 1) if kept > 1 else 1.0
        for index in range(kept - 1):
            account.enter(len(instrs), outer * weight, loop)
            yield rounds[index]
        account.enter(len(instrs), outer, loop)
        yield rounds[total - 1]
        account.enter(len(instrs), outer, around)
