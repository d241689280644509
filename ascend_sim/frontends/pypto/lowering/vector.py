"""Element-wise operations as vector instructions.

One instruction in its count form where everything lies in a row. Else the cheaper of two ways: the count form row by
row, or the mask/repeat form, whose repeats step along one axis while a loop takes the others and columns of 256 B. An
operand that is one number per row is first spread to a 32 B block per row (`spreading.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ascend_sim import asc
from ascend_sim.frontends.pypto.errors import LoweringError
from ascend_sim.frontends.pypto.graph import Node
from ascend_sim.frontends.pypto.lowering import moves, spreading
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
    if op == "axpy":
        return Form(asc.axpy, (node.attrs["scalar"],))
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
        return BLOCK_BYTES + spreading.scratch_bytes(collapsed(sizes, operands), operands)
    if node.op == "axpy":
        target, y, x = operands
        of_x = spreading.scratch_bytes(collapsed(sizes, [target, x]), [target, x])
        return max(moves.scratch_bytes(sizes, target, y), of_x)
    return spreading.scratch_bytes(collapsed(sizes, operands), operands)


def element_wise(node: Node, sizes: Sequence[int], operands: Sequence[Operand], scratch: int) -> list[Call]:
    """The calls that compute `operands[0]` from the others; `scratch` is the address of `scratch_bytes` bytes."""
    if node.op == "axpy":
        return _axpy(node, sizes, operands, scratch)
    if node.op in DIVISIONS:
        return _division(node, sizes, operands, scratch)
    return _spread_and_walk(node, sizes, operands, scratch)


def _division(node: Node, sizes: Sequence[int], operands: Sequence[Operand], scratch: int) -> list[Call]:
    """A number over, or under, a tensor: the number fills a block, which every repeat reads."""
    block = Operand(operands[0].dtype, scratch, (0,) * len(sizes), scratch + BLOCK_BYTES)
    fill: Call = (asc.duplicate, (block.tensor(), node.attrs["scalar"], BLOCK_BYTES // block.itemsize))
    place = 1 if node.op == "rdivs" else 2
    given = [*operands[:place], block, *operands[place:]]
    return [fill, *_spread_and_walk(node, sizes, given, scratch + BLOCK_BYTES, ready=place)]


def _spread_and_walk(
    node: Node, sizes: Sequence[int], operands: Sequence[Operand], scratch: int, ready: int = -1
) -> list[Call]:
    """The instructions, after what one number per row needs; operand number `ready` is a block already."""
    found: list[Call] = []
    given = list(operands)
    dims = collapsed(sizes, given)
    _check_rows(node, dims, given)
    blocks = [1] * len(given)  # stride within a repeat, in 32 B blocks
    for k in spreading.row_scalars(dims):
        blocks[k] = 0
        if k == ready:
            continue
        calls, given[k], spread_dims = spreading.spread(dims, k, given[k], scratch)
        scratch += spreading.spread_bytes(dims, k, operands[k])
        dims = spread_dims
        found += calls
    return found + _walk(form_of(node), dims, given, blocks)


def _axpy(node: Node, sizes: Sequence[int], operands: Sequence[Operand], scratch: int) -> list[Call]:
    """Axpy adds to its destination: y is copied there, unless the result has taken y's place."""
    target, y, x = operands
    wide = [axis for axis, size in enumerate(sizes) if size > 1]
    in_place = y.addr == target.addr and all(y.strides[axis] == target.strides[axis] for axis in wide)
    found = [] if in_place else moves.move(node, sizes, target, y, scratch)
    return found + _spread_and_walk(node, sizes, [target, x], scratch)


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
