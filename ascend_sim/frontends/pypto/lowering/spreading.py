"""Operands that are one number per row: Brcb spreads each number to a 32 B block, which repeats can reread."""

from __future__ import annotations

from collections.abc import Sequence

from ascend_sim import asc
from ascend_sim.frontends.pypto.lowering.operands import BLOCK_BYTES, MAX_REPEATS, Call, Dim, Operand, chunks

_SPREAD = 8  # elements that one repeat of Brcb spreads


def row_scalars(dims: Sequence[Dim]) -> list[int]:
    """Operands that are one number per row."""
    return [k for k, stride in enumerate(dims[-1].strides) if stride == 0 and dims[-1].size > 1]


def scratch_bytes(dims: Sequence[Dim], operands: Sequence[Operand]) -> int:
    """Room for the blocks of all such operands."""
    return sum(spread_bytes(dims, k, operands[k]) for k in row_scalars(dims))


def spread_bytes(dims: Sequence[Dim], k: int, operand: Operand) -> int:
    """Room for a block per row; a first row anywhere in its block is allowed for."""
    _, span = _span(dims, k, operand)
    most = span + BLOCK_BYTES // operand.itemsize - 1
    return -(-most // _SPREAD) * _SPREAD * BLOCK_BYTES


def spread(dims: list[Dim], k: int, operand: Operand, scratch: int) -> tuple[list[Call], Operand, list[Dim]]:
    """Brcb: every number of the operand fills a block; the operand that reads them, and the dims with its strides."""
    before, span = _span(dims, k, operand)
    source = Operand(operand.dtype, operand.addr - before * operand.itemsize, operand.strides, operand.end)
    total = -(-(before + span) // _SPREAD)
    end = scratch + total * _SPREAD * BLOCK_BYTES
    wide = Operand(operand.dtype, scratch, operand.strides, end)
    calls: list[Call] = []
    for first, repeats in chunks(total, MAX_REPEATS):
        target = wide.tensor(first * _SPREAD * BLOCK_BYTES)
        calls.append(
            (asc.brcb, (target, source.tensor(first * _SPREAD * operand.itemsize), repeats, asc.BrcbRepeatParams(1, 8)))
        )
    outer = [
        Dim(dim.size, (*dim.strides[:k], dim.strides[k] // operand.itemsize * BLOCK_BYTES, *dim.strides[k + 1 :]))
        for dim in dims[:-1]
    ]
    return calls, Operand(operand.dtype, scratch + before * BLOCK_BYTES, operand.strides, end), [*outer, dims[-1]]


def _span(dims: Sequence[Dim], k: int, operand: Operand) -> tuple[int, int]:
    """Elements between the block's start and the operand's first one, and from there to its last one, inclusive."""
    before = operand.addr % BLOCK_BYTES // operand.itemsize
    return before, 1 + sum((dim.size - 1) * dim.strides[k] // operand.itemsize for dim in dims[:-1])
