"""Operands of vector instructions by address and stride, and the dims that an instruction sequence has to walk."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ascend_sim import asc

BLOCK_BYTES = 32
REPEAT_BYTES = 256
MAX_REPEATS = 255
MAX_STRIDE_BLOCKS = 255

Call = tuple[Callable[..., Any], tuple[Any, ...]]  # an asc call and its arguments


@dataclass(frozen=True, slots=True)
class Operand:
    """A box in unified buffer: first byte, bytes per step along every axis, and where its buffer ends."""

    dtype: asc.DataType
    addr: int
    strides: tuple[int, ...]
    end: int

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    def tensor(self, offset: int = 0) -> asc.LocalTensor:
        """The buffer from `offset` bytes into the box on."""
        start = self.addr + offset
        return asc.LocalTensor(self.dtype, asc.TPosition.VECCALC, start, (self.end - start) // self.itemsize)

    def with_strides(self, strides: Sequence[int]) -> Operand:
        return replace(self, strides=tuple(strides))


@dataclass(frozen=True, slots=True)
class Dim:
    """`size` steps; `strides` per operand."""

    size: int
    strides: tuple[int, ...]


def collapsed(sizes: Sequence[int], operands: Sequence[Operand]) -> list[Dim]:
    """The axes with more than one step, neighbours joined where all operands go on without a gap; the last one has the
    destination's elements side by side.
    """
    found: list[Dim] = []
    for axis, size in enumerate(sizes):
        if size <= 1:
            continue
        strides = tuple(operand.strides[axis] for operand in operands)
        if found and all(outer == size * inner for outer, inner in zip(found[-1].strides, strides, strict=True)):
            found[-1] = Dim(found[-1].size * size, strides)
        else:
            found.append(Dim(size, strides))
    if not found or found[-1].strides[0] != operands[0].itemsize:
        found.append(Dim(1, tuple(operand.itemsize for operand in operands)))
    return found


def places(dims: Sequence[Dim], count: int) -> Iterator[tuple[int, ...]]:
    """The byte offsets of every operand (`count` of them) for every combination of steps, outermost dim slowest."""
    for index in itertools.product(*(range(dim.size) for dim in dims)):
        yield tuple(sum(i * dim.strides[k] for i, dim in zip(index, dims, strict=True)) for k in range(count))


def chunks(total: int, most: int) -> Iterator[tuple[int, int]]:
    """(first, count) of pieces of at most `most`."""
    for first in range(0, total, most):
        yield first, min(most, total - first)
