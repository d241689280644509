"""Copies between global memory and unified buffer.

One DataCopy where both sides are one run of whole 32 B blocks, else DataCopyPad: rows with gaps on both sides, each on
a 32 B block of its own in unified buffer. Dims beyond rows are a loop.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from ascend_sim import asc
from ascend_sim.frontends.pypto.lowering.operands import BLOCK_BYTES, Call, Operand, chunks

MAX_ROWS = 4095
MAX_ROW_BYTES = (1 << 21) - BLOCK_BYTES


@dataclass(frozen=True, slots=True)
class Transfer:
    """One copy: `elements` behind the box's first element in GM, the place in unified buffer, rows and gaps.

    `rows` is None for one run of `count` elements.
    """

    elements: int
    local: asc.LocalTensor
    count: int
    rows: asc.DataCopyExtParams | None

    def load(self, source: asc.GlobalTensor) -> Call:
        """GM -> UB; `source` begins at the copy's own first element."""
        if self.rows is None:
            return asc.data_copy, (self.local, source, self.count)
        return asc.data_copy_pad, (self.local, source, self.rows, asc.DataCopyPadExtParams(self.local.dtype))

    def store(self, target: asc.GlobalTensor) -> Call:
        """UB -> GM."""
        if self.rows is None:
            return asc.data_copy, (target, self.local, self.count)
        return asc.data_copy_pad, (target, self.local, self.rows)


def transfers(sizes: Sequence[int], pitches: Sequence[int], local: Operand, to_ub: bool) -> list[Transfer]:
    """The copies of a box of `sizes` whose elements lie `pitches` elements apart in GM along every axis."""
    dims = _dims(sizes, pitches, local)
    *outer, (width, _, _) = dims
    rows, step, pitch = outer.pop() if outer else (1, 0, 0)
    row_bytes = width * local.itemsize
    found: list[Transfer] = []
    for index in itertools.product(*(range(size) for size, _, _ in outer)):
        at = sum(i * ub for i, (_, ub, _) in zip(index, outer, strict=True))
        elements = sum(i * gm for i, (_, _, gm) in zip(index, outer, strict=True))
        if rows == 1 and row_bytes % BLOCK_BYTES == 0:
            found.append(Transfer(elements, local.tensor(at), width, None))
            continue
        gap = pitch * local.itemsize - row_bytes if rows > 1 else 0
        blocks = (step - -(-row_bytes // BLOCK_BYTES) * BLOCK_BYTES) // BLOCK_BYTES if rows > 1 else 0
        for first, count in chunks(rows, MAX_ROWS):
            params = asc.DataCopyExtParams(count, row_bytes, gap if to_ub else blocks, blocks if to_ub else gap)
            place = local.tensor(at + first * step)
            found.append(Transfer(elements + first * pitch, place, 0, params))
    return found


def _dims(sizes: Sequence[int], pitches: Sequence[int], local: Operand) -> list[tuple[int, int, int]]:
    """(steps, bytes in UB, elements in GM) per dim, joined where both sides go on without a gap; the last is a row."""
    found: list[tuple[int, int, int]] = []
    for size, pitch, stride in zip(sizes, pitches, local.strides, strict=True):
        if size == 1:
            continue
        if found and found[-1][1] == size * stride and found[-1][2] == size * pitch:
            found[-1] = (found[-1][0] * size, stride, pitch)
        else:
            found.append((size, stride, pitch))
    row = found[-1] if found else (1, 0, 0)
    if not found or row[1] != local.itemsize or row[2] != 1 or row[0] * local.itemsize > MAX_ROW_BYTES:
        found.append((1, local.itemsize, 1))
    return found
