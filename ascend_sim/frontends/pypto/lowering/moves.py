"""Moves inside unified buffer: the pieces of concat and assemble, and plain copies.

DataCopy moves rows of whole 32 B blocks. A row that ends inside a block goes by Copy, which masks the rest, and so do
rows that are one row repeated.
"""

from __future__ import annotations

from collections.abc import Sequence

from ascend_sim import asc
from ascend_sim.frontends.pypto.errors import LoweringError
from ascend_sim.frontends.pypto.graph import Node
from ascend_sim.frontends.pypto.lowering.operands import (
    BLOCK_BYTES,
    MAX_REPEATS,
    REPEAT_BYTES,
    Call,
    Dim,
    Operand,
    chunks,
    collapsed,
    places,
)

MAX_ROWS = 4095
MAX_GAP_BLOCKS = 65535
MAX_COPY_STRIDE_BLOCKS = 4095


def move(node: Node, sizes: Sequence[int], target: Operand, source: Operand) -> list[Call]:
    """The calls that copy `source` to `target`."""
    dims = collapsed(sizes, [target, source])
    row_bytes = dims[-1].size * target.itemsize
    if dims[-1].size > 1 and dims[-1].strides[1] == 0:
        raise LoweringError(
            f"{node.name}: a copy cannot repeat one element along a row; expand in float16 or float32, by a product "
            "with 1.0 for instance"
        )
    for operand, k in ((target, 0), (source, 1)):
        misplaced = operand.addr % BLOCK_BYTES or any(dim.strides[k] % BLOCK_BYTES for dim in dims[:-1])
        if misplaced or (dims[-1].size > 1 and dims[-1].strides[k] != operand.itemsize):
            raise LoweringError(
                f"{node.name}: a row of {row_bytes} B would move from or to the inside of a 32 B block; make the last "
                "dim of the parts a multiple of 32 B"
            )
    repeated = len(dims) > 1 and dims[-2].strides[1] == 0 and dims[-2].size > -(-row_bytes // REPEAT_BYTES)
    if row_bytes % BLOCK_BYTES == 0 and not repeated:
        return _by_blocks(dims, target, source, row_bytes)
    return _by_mask(dims, target, source)


def _by_blocks(dims: Sequence[Dim], target: Operand, source: Operand, row_bytes: int) -> list[Call]:
    """DataCopy: all steps of the second-last dim in one call, as rows with gaps."""
    *outer, inner = dims
    if not outer:
        return [(asc.data_copy, (target.tensor(), source.tensor(), inner.size))]
    *others, rows = outer
    gaps = [(stride - row_bytes) // BLOCK_BYTES for stride in rows.strides]
    if not all(0 <= gap <= MAX_GAP_BLOCKS for gap in gaps):
        others, rows, gaps = outer, Dim(1, (0, 0)), [0, 0]
    found: list[Call] = []
    for to, of in places(others, 2):
        for first, count in chunks(rows.size, MAX_ROWS):
            params = asc.DataCopyParams(count, row_bytes // BLOCK_BYTES, gaps[1], gaps[0])
            ends = target.tensor(to + first * rows.strides[0]), source.tensor(of + first * rows.strides[1])
            found.append((asc.data_copy, (*ends, params)))
    return found


def _by_mask(dims: Sequence[Dim], target: Operand, source: Operand) -> list[Call]:
    """Copy under a mask: repeats along the second-last dim, a call per 256 B of a row."""
    *outer, inner = dims
    along = outer.pop() if outer else Dim(1, (0, 0))
    if any(stride > MAX_COPY_STRIDE_BLOCKS * BLOCK_BYTES for stride in along.strides):
        outer, along = [*outer, along], Dim(1, (0, 0))
    lanes = REPEAT_BYTES // target.itemsize
    found: list[Call] = []
    for to, of in places(outer, 2):
        for first, repeats in chunks(along.size, MAX_REPEATS):
            for column, mask in chunks(inner.size, lanes):
                at = column * target.itemsize
                ends = (
                    target.tensor(to + first * along.strides[0] + at),
                    source.tensor(of + first * along.strides[1] + at),
                )
                steps = [stride // BLOCK_BYTES for stride in along.strides]
                params = asc.CopyRepeatParams(1, 1, *steps)
                found.append((asc.copy, (*ends, mask, repeats, params)))
    return found
