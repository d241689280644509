"""Element-wise operations as vector instructions.

One instruction in its count form where everything lies in a row. Else the cheaper of two ways: the count form row by
row, or the mask/repeat form, whose repeats step along one axis while a loop takes the others and columns of 256 B. An
operand that is one number per row is first spread to a 32 B block per row (Brcb), which repeats can then reread.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ascend_sim import asc
from ascend_sim.frontends.pypto.errors import LoweringError
from ascend_sim.frontends.pypto.graph import Node
from ascend_sim.frontends.pypto.lowering.operands import (
    BLOCK_BYTES,
    MAX_REPEATS,
    MAX_STRIDE_BLOCKS,
    REPEAT_BYTES,
    Call,
    Dim,
    Operand,
    chunks,
    collapsed,
    places,
)

_SPREAD = 8  # elements that one repeat of Brcb spreads

BINARY: dict[str, Any] = {
    "add": asc.add,
    "sub": asc.sub,
    "mul": asc.mul,
    "div": asc.div,
    "max": asc.max,
    "min": asc.min,
}
SCALAR: dict[str, Any] = {"adds": asc.adds, "muls": asc.muls, "maxs": asc.maxs, "mins": asc.mins}
UNARY: dict[str, Any] = {
    "exp": asc.exp,
    "sqrt": asc.sqrt,
    "rsqrt": asc.rsqrt,
    "reciprocal": asc.reciprocal,
    "abs": asc.abs,
}
DIVISIONS = frozenset({"divs", "rdivs"})  # a number over or under: the number fills a block that repeats reread


@dataclass(frozen=True, slots=True)
class Form:
    """An instruction's two forms: tensors and then `extra` arguments, then a count or mask, repeats and strides."""

    function: Callable[..., Any]
    extra: tuple[Any, ...] = ()

    def counted(self, tensors: Sequence[Any], count: int) -> Call:
        return self.function, (*tensors, *self.extra, count)

    def repeated(
        self, tensors: Sequence[Any], mask: int, repeats: int, blocks: Sequence[int], steps: Sequence[int]
    ) -> Call:
        """`blocks` and `steps`: strides within and between repeats in 32 B blocks, destination first."""
        params = (asc.BinaryRepeatParams if len(tensors) == 3 else asc.UnaryRepeatParams)(*blocks, *steps)
        return self.function, (*tensors, *self.extra, mask, repeats, params)


def form_of(node: Node) -> Form:
    """The instruction of an element-wise operation."""
    op = node.op
    if op in BINARY:
        return Form(BINARY[op])
    if op in SCALAR:
        return Form(SCALAR[op], (node.attrs["scalar"],))
    if op in UNARY:
        return Form(UNARY[op])
    if op == "cast":
        return Form(asc.cast, (node.attrs["mode"],))
    if op in DIVISIONS:
        return Form(asc.div)
    raise LoweringError(f"{node.name}: there is no vector instruction for {op}")


def scratch_bytes(node: Node, sizes: Sequence[int], operands: Sequence[Operand]) -> int:
    """Bytes that the operation needs beside its operands (`operands`: destination first, at any address)."""
    if node.op in DIVISIONS:
        return BLOCK_BYTES
    dims = collapsed(sizes, operands)
    return sum(_spread_bytes(dims, k, operands[k]) for k in _row_scalars(dims))


def element_wise(node: Node, sizes: Sequence[int], operands: Sequence[Operand], scratch: int) -> list[Call]:
    """The calls that compute `operands[0]` from the others; `scratch` is the address of `scratch_bytes` bytes."""
    found: list[Call] = []
    given = list(operands)
    if node.op in DIVISIONS:
        block = Operand(given[0].dtype, scratch, (0,) * len(sizes), scratch + BLOCK_BYTES)
        found.append((asc.duplicate, (block.tensor(), node.attrs["scalar"], BLOCK_BYTES // block.itemsize)))
        given.insert(1 if node.op == "rdivs" else 2, block)
    dims = collapsed(sizes, given)
    _check_rows(node, dims, given)
    blocks = [1] * len(given)  # stride within a repeat, in 32 B blocks
    for k in _row_scalars(dims):
        blocks[k] = 0
        if given[k].addr == scratch and node.op in DIVISIONS:
            continue
        calls, given[k], dims = _spread(dims, k, given[k], scratch)
        scratch += _spread_bytes(dims, k, operands[k])
        found += calls
    return found + _walk(form_of(node), dims, given, blocks)


def _check_rows(node: Node, dims: Sequence[Dim], operands: Sequence[Operand]) -> None:
    """Rows start on 32 B blocks and have their elements side by side (or one element for all)."""
    for k, operand in enumerate(operands):
        inner = dims[-1].strides[k]
        if dims[-1].size > 1 and inner not in (0, operand.itemsize):
            raise LoweringError(
                f"{node.name}: an operand's elements lie {inner} B apart along the last dim; the vector unit takes "
                "them side by side"
            )
        if inner == 0:
            continue
        if operand.addr % BLOCK_BYTES or any(dim.strides[k] % BLOCK_BYTES for dim in dims[:-1]):
            raise LoweringError(
                f"{node.name}: rows of an operand start inside a 32 B block ({operand.addr % BLOCK_BYTES} B into it); "
                "vector operands start on one: make the last dim of the parts a multiple of 32 B"
            )


def _row_scalars(dims: Sequence[Dim]) -> list[int]:
    """Operands that are one number per row."""
    return [k for k, stride in enumerate(dims[-1].strides) if stride == 0 and dims[-1].size > 1]


def _span(dims: Sequence[Dim], k: int, operand: Operand) -> tuple[int, int]:
    """Elements between the block's start and the operand's first one, and from there to its last one, inclusive."""
    before = operand.addr % BLOCK_BYTES // operand.itemsize
    return before, 1 + sum((dim.size - 1) * dim.strides[k] // operand.itemsize for dim in dims[:-1])


def _spread_bytes(dims: Sequence[Dim], k: int, operand: Operand) -> int:
    """Room for a block per row; a first row anywhere in its block is allowed for."""
    _, span = _span(dims, k, operand)
    most = span + BLOCK_BYTES // operand.itemsize - 1
    return -(-most // _SPREAD) * _SPREAD * BLOCK_BYTES


def _spread(dims: list[Dim], k: int, operand: Operand, scratch: int) -> tuple[list[Call], Operand, list[Dim]]:
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


def walk(form: Form, node: Node, sizes: Sequence[int], operands: Sequence[Operand]) -> list[Call]:
    """An instruction over a box whose operands all have the box's elements (no number per row)."""
    dims = collapsed(sizes, operands)
    _check_rows(node, dims, operands)
    return _walk(form, dims, operands, [1] * len(operands))


def _walk(form: Form, dims: Sequence[Dim], operands: Sequence[Operand], blocks: Sequence[int]) -> list[Call]:
    """The instructions over all dims, by the way that takes fewer."""
    *outer, inner = dims
    lanes = REPEAT_BYTES // max(2, *(operand.itemsize for operand in operands))
    columns = -(-inner.size // lanes)
    rows = math.prod(dim.size for dim in outer)
    best, by = (rows, None) if 0 not in blocks else (rows * columns + 1, None)
    for place, dim in enumerate(outer):
        apart = all(stride <= MAX_STRIDE_BLOCKS * BLOCK_BYTES for stride in dim.strides)
        count = rows // dim.size * columns * -(-dim.size // MAX_REPEATS)
        if apart and dim.strides[0] and count < best:
            best, by = count, place
    if by is None and 0 not in blocks:
        return [
            form.counted([operand.tensor(at) for operand, at in zip(operands, offsets, strict=True)], inner.size)
            for offsets in places(outer, len(operands))
        ]
    along = outer[by] if by is not None else Dim(1, (0,) * len(operands))
    others = [dim for place, dim in enumerate(outer) if place != by]
    found = []
    for offsets in places(others, len(operands)):
        for first, repeats in chunks(along.size, MAX_REPEATS):
            for column, mask in chunks(inner.size, lanes):
                at = [
                    o + first * along.strides[k] + (column * operands[k].itemsize if blocks[k] else 0)
                    for k, o in enumerate(offsets)
                ]
                tensors = [operand.tensor(a) for operand, a in zip(operands, at, strict=True)]
                steps = [stride // BLOCK_BYTES for stride in along.strides]
                found.append(form.repeated(tensors, mask, repeats, blocks, steps))
    return found
