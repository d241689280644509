"""Loops over tiles, and recordings that leave out the middle rounds of them.

A loop of hundreds of equal tiles need not be recorded in full to know what it costs: `asc.tiles` marks it, and an
`Excerpt` on the device takes in its first rounds and its last one, and remembers what it left out.
"""

from __future__ import annotations

import itertools
import math
import sys
from array import array
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, TypeVar

import numpy as np

from ascend_sim.asc.recorder import RECORDER
from ascend_sim.program import CopyWork, CoreProgram, Program, Repeat

__all__ = ["tiles"]

T = TypeVar("T")
LoopKey = tuple[CodeType, int]
"""Where a loop stands: code object and instruction."""

PERIODS = 2
"""Periods of a pattern at least, so that one can be held against another."""
PARITY = 2
"""Kernels may take turns with two buffers or flags by the number of a tile, so rounds are left out in pairs."""
PATTERN_INSTRUCTIONS = 64
"""Instructions of a pattern at least: fewer could hide behind a latency or in a queue."""
LONG_ROUND_INSTRUCTIONS = 128
"""Behind the first round of that size the pipes are full; behind shorter ones it takes two, as long as double-buffered
queues have room."""
LONG_PERIOD_INSTRUCTIONS = 2000
"""A longer period is not waited for: its rounds are so long that where they begin in a line matters little."""
NEARLY = 4
"""A block that has recorded this share (1 in so many) of what it should is sparing with what follows."""
LINE_BYTES = 4096
APART_BYTES = 1 << 44
MOST_RUNS = 64
"""Runs of equal rounds in a group at most."""
SMALL = 4
"""A transfer this many times smaller than the largest of a round counts for little."""


def tiles(rounds: Sequence[T], kind: Callable[[T], Hashable] | None = None) -> Sequence[T] | Iterator[T]:
    """`for tile in asc.tiles(range(count))`: a loop over tiles. Nothing but `rounds`, unless an excerpt is recorded.

    `kind`: what a round does, where not all do the same; rounds of different kinds never stand for one another.
    Not in pyasc: for a board leave it away.
    """
    excerpt: Excerpt | None = RECORDER.excerpt
    if excerpt is None:
        return rounds
    frame = sys._getframe(1)
    key = frame.f_code, frame.f_lasti
    return (
        excerpt.take(rounds, key) if kind is None else _by_kind(excerpt, rounds, key, [kind(this) for this in rounds])
    )


def _by_kind(excerpt: Excerpt, rounds: Sequence[T], key: LoopKey, kinds: Sequence[Hashable]) -> Iterator[T]:
    """Runs of equal rounds as a loop each; where the runs repeat themselves, in a loop over groups of them."""
    runs: list[Sequence[T]] = []
    looks: list[Hashable] = []
    at = 0
    for kind, equal in itertools.groupby(kinds):
        count = sum(1 for _ in equal)
        runs.append(rounds[at : at + count])
        looks.append((kind, count))
        at += count
    size, groups = _groups(looks[1:-1])
    first, last = 1, 1 + size * groups
    for run in runs[:first]:
        yield from excerpt.take(run, key)
    for at in excerpt.take(range(first, last, size), (key[0], ~key[1])):
        for run in runs[at : at + size]:
            yield from excerpt.take(run, key)
    for run in runs[last:]:
        yield from excerpt.take(run, key)


def _groups(looks: Sequence[Hashable]) -> tuple[int, int]:
    """`(size, number)` of the smallest groups into which `looks` falls, all alike; what is left over is the beginning
    of another one. `(1, 0)` where there are none."""
    for size in range(1, min(len(looks) // 2, MOST_RUNS) + 1):
        if looks[size:] == looks[:-size]:
            return size, len(looks) // size
    return 1, 0


@dataclass(slots=True)
class Round:
    """One recorded round of a tile loop, or a whole block: instructions `first` to `end` of the block, and the tile
    loops that ran in it."""

    first: int
    end: int = -1
    loops: list[TileLoop] = field(default_factory=list)

    @property
    def instructions(self) -> int:
        """About how many the round has in the whole."""
        return self.end - self.first + sum(loop.left_out_instructions for loop in self.loops)

    def all_loops(self) -> Iterator[TileLoop]:
        """The loops in it and those inside them, as they ran."""
        for loop in self.loops:
            yield loop
            for inner in loop.rounds:
                yield from inner.all_loops()


@dataclass(slots=True)
class TileLoop:
    """One run of a tile loop of `total` rounds, of which the first ones and the last were recorded.

    Those behind the first `lead` and before the last are the pattern, which stands for all that were left out; it is
    made up of periods of `period` rounds.
    """

    key: LoopKey
    total: int
    rounds: list[Round] = field(default_factory=list)
    lead: int = 0
    period: int = 1

    @property
    def whole(self) -> bool:
        return len(self.rounds) == self.total

    @property
    def left_out_instructions(self) -> int:
        """About how many instructions of the whole were not recorded, also of loops inside."""
        inside = sum(inner.left_out_instructions for this in self.rounds for inner in this.loops)
        if self.whole:
            return inside
        pattern = self.pattern
        return inside + (self.total - len(self.rounds)) * sum(this.instructions for this in pattern) // len(pattern)

    @property
    def pattern(self) -> list[Round]:
        return self.rounds[self.lead : -1]


class Excerpt:
    """Takes in a few rounds each time that a tile loop runs: as many as `patterns` says of it, else as few as will do.

    `blocks`: what was recorded, by block; a block without tile loops is missing. `reach_bytes`: GM that was touched
    before so many other bytes were is not in L2 any more; see `move_apart`. `limit`: how many instructions to record
    if that can be; more where even the shortest excerpt of every loop has more.
    """

    def __init__(
        self,
        patterns: Mapping[LoopKey, int] | None = None,
        reach_bytes: float = math.inf,
        limit: float = math.inf,
    ) -> None:
        self.patterns = dict(patterns or {})
        self.reach_bytes = reach_bytes
        self.limit = limit
        self._gaps: dict[int, list[int]] = {}
        self.blocks: dict[int, Round] = {}
        self._inside: dict[int, Round] = {}

    def take(self, rounds: Sequence[Any], key: LoopKey) -> Iterator[Any]:
        block = RECORDER.block
        core: CoreProgram = RECORDER.launch.blocks[block].core
        around = self._inside.setdefault(block, self.blocks.setdefault(block, Round(0)))
        loop = TileLoop(key, len(rounds))
        starts: list[int] = []  # the numbers of the GM addresses at which the rounds begin
        index = 0
        while index < loop.total:
            if not index:
                around.loops.append(loop)
            this = Round(len(core.instrs))
            starts.append(len(core.gm_addresses))
            loop.rounds.append(this)
            self._inside[block] = this
            yield rounds[index]
            this.end = len(core.instrs)
            if index == 1 and this.end > this.first:  # rounds without instructions collect work for later
                self._plan(loop, core, starts)
            index += 1
            if loop.lead and index == loop.lead + self._repeated(loop):
                self._leave_out(loop, core, starts)
                index = loop.total - 1
        self._inside[block] = around

    @property
    def _limit_of_block(self) -> float:
        return self.limit / RECORDER.block_dim

    def _repeated(self, loop: TileLoop) -> int:
        """Rounds of the pattern of a loop whose second round has been recorded."""
        wanted = self.patterns.get(loop.key)
        if wanted is None and loop.rounds[0].first * NEARLY >= self._limit_of_block:
            wanted = PERIODS
        if wanted is None:
            wanted = max(PERIODS, -(-PATTERN_INSTRUCTIONS // (loop.rounds[1].end - loop.rounds[1].first)))
        return -(-wanted // (PERIODS * loop.period)) * PERIODS * loop.period

    def _leave_out(self, loop: TileLoop, core: CoreProgram, starts: Sequence[int]) -> None:
        """Rounds are left out of a loop whose pattern has been recorded: note what they touch."""
        one, two = loop.rounds[loop.lead : loop.lead + 2]
        left_out = loop.total - 1 - len(loop.rounds)
        first, end, last = (*starts, len(core.gm_addresses))[loop.lead : loop.lead + 3]
        if end > first and last - end == end - first and all(inner.whole for inner in one.all_loops()):
            core.repeats.append(Repeat(first, end, left_out))
        works = (instr.work for instr in core.instrs[one.first : two.first])
        nbytes = sum(work.nbytes for work in works if isinstance(work, CopyWork))
        if nbytes * left_out * RECORDER.block_dim >= self.reach_bytes:
            self._gaps.setdefault(core.block, []).append(len(core.gm_addresses))

    def move_apart(self, program: Program) -> None:
        """Move what comes behind so many rounds left out that L2 has forgotten what came before to other addresses, so
        that it finds nothing of it."""
        for core in program.blocks:
            addresses = core.gm_addresses
            for gap in self._gaps.get(core.block, ()):
                moved = np.frombuffer(addresses, np.int64)[gap:] + APART_BYTES
                addresses[gap:] = array("q", moved.tobytes())

    def _plan(self, loop: TileLoop, core: CoreProgram, starts: Sequence[int]) -> None:
        """Decide where the pattern begins, if rounds are to be left out: a whole number of periods (and of pairs).

        `starts`: the numbers of the GM addresses at which the rounds begin.
        """
        this = loop.rounds[1]
        loop.period = _period(core, this, *starts)
        longest = min(LONG_PERIOD_INSTRUCTIONS, self._limit_of_block / (PERIODS + 1))
        if loop.period * (this.end - this.first) > longest:
            loop.period = 1
        left_out = self._left_out(loop)
        if left_out <= 0 and loop.period > 1:
            loop.period = 1
            left_out = self._left_out(loop)
        loop.lead = loop.total - 1 - self._repeated(loop) - left_out if left_out > 0 else 0

    def _left_out(self, loop: TileLoop) -> int:
        """How many rounds of a loop can be left out: whole periods, and pairs."""
        second = loop.rounds[1]
        size = second.end - second.first if math.isinf(self.limit) else second.instructions
        least = 1 if size >= LONG_ROUND_INSTRUCTIONS else 2
        step = math.lcm(loop.period, PARITY)
        return (loop.total - least - self._repeated(loop) - 1) // step * step


def _period(core: CoreProgram, this: Round, before: int, first: int) -> int:
    """After how many rounds the transfers begin at the same place of an L2 line again; `this`: the second round, whose
    GM addresses begin at number `first`, those of the round before it at `before`.

    Small transfers do not count: rows of cos and sin beside tiles of x.
    """
    works = [instr.work for instr in core.instrs[this.first : this.end] if instr.uses_gm]
    addresses = core.gm_addresses
    if len(works) != len(addresses) - first or len(works) != first - before:
        return 1
    sizes = [work.nbytes if isinstance(work, CopyWork) else 0 for work in works]
    period = 1
    for number, nbytes in enumerate(sizes):
        if nbytes * SMALL > max(sizes):
            period = max(
                period, LINE_BYTES // math.gcd(LINE_BYTES, addresses[first + number] - addresses[before + number])
            )
    return period
