"""Boxes: axis-parallel parts of a tensor, a (first, past the last) pair per dim."""

from __future__ import annotations

import math
from collections.abc import Sequence

Box = tuple[tuple[int, int], ...]


def whole(shape: Sequence[int]) -> Box:
    return tuple((0, size) for size in shape)


def extents(box: Box) -> tuple[int, ...]:
    return tuple(high - low for low, high in box)


def volume(box: Box) -> int:
    return math.prod(extents(box))


def lows(box: Box) -> tuple[int, ...]:
    return tuple(low for low, _ in box)


def shifted(box: Box, offsets: Sequence[int]) -> Box:
    return tuple((low + by, high + by) for (low, high), by in zip(box, offsets, strict=True))


def contains(outer: Box, inner: Box) -> bool:
    return all(a <= c and d <= b for (a, b), (c, d) in zip(outer, inner, strict=True))


def overlap(a: Box, b: Box) -> Box | None:
    """What both have, or None."""
    found = tuple((max(p, r), min(q, s)) for (p, q), (r, s) in zip(a, b, strict=True))
    return found if all(low < high for low, high in found) else None


def union(a: Box, b: Box) -> Box | None:
    """The box that both together fill exactly, or None when they do not fill one."""
    different = [axis for axis in range(len(a)) if a[axis] != b[axis]]
    if len(different) > 1:
        return None
    if not different:
        return a
    axis = different[0]
    (low0, high0), (low1, high1) = sorted((a[axis], b[axis]))
    if low1 > high0:
        return None
    return (*a[:axis], (low0, max(high0, high1)), *a[axis + 1 :])
