"""UB blocks of 32 B that an instruction touches, as bits of one integer: overlap is then one `&`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from ascend_sim.program import BLOCK_BYTES, Memory, Region


def block_bits(regions: Iterable[Region]) -> int:
    """Bits of all UB blocks that `regions` touch; GM is left out."""
    bits = 0
    for region in regions:
        if region.memory is Memory.UB and region.length > 0:
            bits |= _known(region.start, region.length, region.dims)
    return bits


@lru_cache(maxsize=1 << 12)
def _known(start: int, length: int, dims: tuple[tuple[int, int], ...]) -> int:
    """The tiles of a kernel, and what is asked of its launch later, touch the same regions."""
    return _bits(start, length, dims)


def _bits(start: int, length: int, dims: tuple[tuple[int, int], ...]) -> int:
    while dims and dims[-1][1] == length and dims[-1][0] > 0:  # runs that follow each other are one
        length *= dims[-1][0]
        dims = dims[:-1]
    if not dims:
        first = start // BLOCK_BYTES
        last = (start + length - 1) // BLOCK_BYTES
        return ((1 << last - first + 1) - 1) << first
    (count, stride), inner = dims[0], dims[1:]
    bits = 0
    for step in range(count):
        bits |= _bits(start + step * stride, length, inner)
    return bits
