"""How a vector instruction walks: which lanes of which repeats take part, and where each operand keeps them.

A repeat is 256 B of the widest operand. `Walk` says which lanes are active; `Layout` says where lane `j` of repeat `r`
of one operand lives: `start + r * repeat_stride + (j // per_block) * block_stride + (j % per_block) * size` bytes,
where a block is 32 B. From the two come the exact regions of the record, the bank model's access and the numpy views.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.isa.dtypes import DataType
from ascend_sim.program import BLOCK_BYTES, Access, Memory, Region

Bytes = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Walk:
    """`repeats` repeats of `lanes` lanes; bit j of `body` (of `last`, in the last repeat) makes lane j active."""

    lanes: int
    repeats: int
    body: int
    last: int

    @classmethod
    def masked(cls, lanes: int, repeats: int, bits: int) -> Walk:
        """Normal mode: the same lanes of every repeat."""
        bits &= (1 << lanes) - 1
        return cls(lanes, repeats, bits, bits)

    @classmethod
    def counted(cls, lanes: int, count: int) -> Walk:
        """Counter mode: the first `count` elements, `lanes` a repeat."""
        repeats = -(-count // lanes)
        full = (1 << lanes) - 1
        return cls(lanes, repeats, full, full if count % lanes == 0 else (1 << count % lanes) - 1)

    @cached_property
    def elements(self) -> int:
        return 0 if not self.repeats else (self.repeats - 1) * self.body.bit_count() + self.last.bit_count()

    @property
    def uniform(self) -> bool:
        return self.body == self.last or self.repeats <= 1

    @cached_property
    def progression(self) -> tuple[int, int, int] | None:
        """(first lane, step, lanes) when every repeat has the same evenly spaced lanes, else None."""
        lanes = lane_numbers(self.last)
        if not self.uniform or not len(lanes):
            return None
        step = int(lanes[1] - lanes[0]) if len(lanes) > 1 else 1
        return (int(lanes[0]), step, len(lanes)) if (np.diff(lanes) == step).all() else None

    @cached_property
    def dense(self) -> bool:
        """Whether the active elements are the first `elements` of the walk, without a hole."""
        last_is_prefix = self.last & (self.last + 1) == 0
        return last_is_prefix and (self.repeats <= 1 or self.body == (1 << self.lanes) - 1)

    def active(self) -> tuple[Offsets, Offsets]:
        """Repeat and lane number of every active element, in the order of execution."""
        body = lane_numbers(self.body)
        last = lane_numbers(self.last) if self.repeats else body[:0]
        ahead = max(self.repeats - 1, 0)
        repeat = np.concatenate([np.repeat(np.arange(ahead), len(body)), np.full(len(last), ahead)])
        lane = np.concatenate([np.tile(body, ahead), last])
        return repeat.astype(np.int64), lane.astype(np.int64)

    def one_repeat(self, index: int) -> Walk:
        """The walk of repeat `index` alone."""
        bits = self.last if index == self.repeats - 1 else self.body
        return Walk(self.lanes, 1, bits, bits)


def lane_numbers(bits: int) -> Offsets:
    """Positions of the set bits, ascending."""
    return np.array([lane for lane in range(bits.bit_length()) if bits >> lane & 1], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where one operand keeps its lanes in UB; strides in bytes, `start` a byte address."""

    dtype: DataType
    start: int
    block_stride: int
    repeat_stride: int

    @property
    def per_block(self) -> int:
        return BLOCK_BYTES // self.dtype.itemsize

    def at(self, repeat: Any, lane: Any) -> Any:
        """Byte address of lane `lane` of repeat `repeat` (numbers or arrays)."""
        block, inside = lane // self.per_block, lane % self.per_block
        return self.start + repeat * self.repeat_stride + block * self.block_stride + inside * self.dtype.itemsize

    def contiguous(self, walk: Walk) -> bool:
        """Whether the lanes of the walk follow each other without a gap."""
        one_block = max(walk.body, walk.last).bit_length() <= self.per_block
        joined = walk.repeats <= 1 or self.repeat_stride == walk.lanes * self.dtype.itemsize
        return joined and (self.block_stride == BLOCK_BYTES or (walk.repeats <= 1 and one_block))

    def shifted(self, repeats: int) -> Layout:
        """The layout that starts `repeats` repeats later."""
        start = self.start + repeats * self.repeat_stride
        return Layout(self.dtype, start, self.block_stride, self.repeat_stride)

    def end(self, walk: Walk) -> int:
        """First byte address past everything that the walk touches (strides are never negative)."""
        ends = [self.start]
        for bits, repeat in ((walk.body, walk.repeats - 2), (walk.last, walk.repeats - 1)):
            if repeat >= 0 and bits:
                ends.append(self.at(repeat, bits.bit_length() - 1) + self.dtype.itemsize)
        return int(max(ends))

    def access(self, walk: Walk) -> Access:
        """Blocks touched per repeat, for the bank model."""
        top = max(walk.body if walk.repeats > 1 else 0, walk.last).bit_length()
        return Access(self.start, -(-top // self.per_block), self.block_stride, self.repeat_stride)

    def regions(self, walk: Walk) -> tuple[Region, ...]:
        """Exactly the bytes that the active lanes occupy."""
        if not walk.elements:
            return ()
        if walk.dense and self.contiguous(walk):
            return (Region(Memory.UB, self.start, walk.elements * self.dtype.itemsize),)
        if walk.uniform:
            return tuple(self._repeated(walk.last, walk.repeats, 0))
        ahead = walk.repeats - 1
        return (*self._repeated(walk.body, ahead, 0), *self._repeated(walk.last, 1, ahead))

    def _repeated(self, bits: int, repeats: int, first: int) -> Iterable[Region]:
        size = self.dtype.itemsize
        starts = np.unique(self.at(first, lane_numbers(bits)))
        runs = fold_runs([(int(start), size, ()) for start in starts])
        for start, length, dims in runs:
            outer = ((repeats, self.repeat_stride),) if repeats > 1 and self.repeat_stride else ()
            if outer and not dims and self.repeat_stride == length:
                yield Region(Memory.UB, start, length * repeats)
            else:
                yield Region(Memory.UB, start, length, outer + dims)


Run = tuple[int, int, tuple[tuple[int, int], ...]]


def fold_runs(runs: list[Run]) -> list[Run]:
    """Join touching runs, then fold equal ones at equal distances into dims, until nothing folds any more."""
    joined: list[Run] = []
    for start, length, dims in runs:
        if joined and not dims and not joined[-1][2] and joined[-1][0] + joined[-1][1] == start:
            joined[-1] = (joined[-1][0], joined[-1][1] + length, ())
        else:
            joined.append((start, length, dims))
    while True:
        folded = _fold_once(joined)
        if len(folded) == len(joined):
            return folded
        joined = folded


def _fold_once(runs: list[Run]) -> list[Run]:
    folded: list[Run] = []
    index = 0
    while index < len(runs):
        start, length, dims = runs[index]
        after = index + 1
        if after < len(runs):
            step = runs[after][0] - start
            while after < len(runs) and runs[after] == (start + (after - index) * step, length, dims):
                after += 1
        count = after - index
        folded.append((start, length, dims if count == 1 else ((count, runs[index + 1][0] - start), *dims)))
        index = after
    return folded
