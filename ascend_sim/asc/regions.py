"""Questions about the exact bytes that operands touch."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ascend_sim.program import Region


def hull(region: Region) -> tuple[int, int]:
    """First byte and one past the last byte."""
    return region.start, region.start + sum((count - 1) * stride for count, stride in region.dims) + region.length


def touched(region: Region) -> npt.NDArray[np.bool_]:
    """A flag per byte of the region's hull: is the byte in the region?"""
    low, high = hull(region)
    flags = np.zeros(high - low, np.bool_)
    shape = (*(count for count, _ in region.dims), region.length)
    strides = (*(stride for _, stride in region.dims), 1)
    np.ndarray(shape, np.bool_, flags, 0, strides)[...] = True
    return flags


def overlap(first: Iterable[Region], second: Iterable[Region]) -> bool:
    """Whether any byte is in both; exact, strides included."""
    others = tuple(second)
    return any(a.memory is b.memory and _share(a, b) for a in first for b in others)


def _share(a: Region, b: Region) -> bool:
    (a_low, a_high), (b_low, b_high) = hull(a), hull(b)
    low, high = max(a_low, b_low), min(a_high, b_high)
    if low >= high:
        return False
    if not a.dims and not b.dims:
        return True
    return bool((touched(a)[low - a_low : high - a_low] & touched(b)[low - b_low : high - b_low]).any())
