"""Moves inside unified buffer: the pieces of concat and assemble, and plain copies.

DataCopy moves rows of whole 32 B blocks. A row that ends inside a block goes by Copy, which masks the rest, and so do
rows that are one row repeated, and rows of one repeated element, which Brcb spreads to a block first. Copy has 16 and
32 bit elements; others move as such words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ascend_sim import asc
from ascend_sim.frontends.pypto.errors import LoweringError
from ascend_sim.frontends.pypto.graph import Node
from ascend_sim.frontends.pypto.lowering import spreading
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


def scratch_bytes(sizes: Sequence[int], target: Operand, source: Operand) -> int:
    """Bytes that `move` needs beside its operands (which may lie at any address)."""
    return spreading.scratch_bytes(collapsed(sizes, [target, source]), [target, source])


def move(node: Node, sizes: Sequence[int], target: Operand, source: Operand, scratch: int = 0) -> list[Call]:
    """The calls that copy `source` to `target`; `scratch` is the address of `scratch_bytes` bytes."""
    dims = collapsed(sizes, [target, source])
    row_bytes = dims[-1].size * target.itemsize
    if dims[-1].size > 1 and dims[-1].strides[1] == 0:
        if target.itemsize not in (2, 4):
            raise LoweringError(
                f"{node.name}: Brcb repeats elements of 16 and 32 bits along a row, not {node.dtype.name}; cast before "
                "expanding"
            )
        calls, spread, dims = spreading.spread(dims, 1, source, scratch)
        return calls + _by_mask(dims, target, spread, src_stride=0)
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
    return _by_mask(*_in_words(node, dims, target, source))


def _in_words(node: Node, dims: list[Dim], target: Operand, source: Operand) -> tuple[list[Dim], Operand, Operand]:
    """Rows of 8 or 64 bit elements as rows of 16 or 32 bit ones."""
    if target.itemsize in (2, 4):
        return dims, target, source
    row_bytes = dims[-1].size * target.itemsize
    word = asc.int32 if row_bytes % 4 == 0 else asc.int16
    if row_bytes % word.itemsize:
        raise LoweringError(
            f"{node.name}: a row of {row_bytes} B of {node.dtype.name} is no whole number of 16 bit words, which Copy "
            "moves; make the last dim of the parts even"
        )
    row = Dim(row_bytes // word.itemsize, (word.itemsize, word.itemsize))
    return [*dims[:-1], row], replace(target, dtype=word), replace(source, dtype=word)


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


def _by_mask(dims: Sequence[Dim], target: Operand, source: Operand, src_stride: int = 1) -> list[Call]:
    """Copy under a mask: repeats along the second-last dim, a call per 256 B of a row.

    With a `src_stride` of 0 a row of the source is a block that is read again and again.
    """
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
                    source.tensor(of + first * along.strides[1] + at * src_stride),
                )
                steps = [stride // BLOCK_BYTES for stride in along.strides]
                params = asc.CopyRepeatParams(1, src_stride, *steps)
                found.append((asc.copy, (*ends, mask, repeats, params)))
    return found
