"""Reductions: along the last dim by halving and WholeReduce, along another by adding its slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ascend_sim import asc
from ascend_sim.frontends.pypto.errors import LoweringError
from ascend_sim.frontends.pypto.graph import Node
from ascend_sim.frontends.pypto.lowering import moves, vector
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

_PAIR: dict[str, Any] = {"sum": asc.add, "amax": asc.max, "amin": asc.min}
_MAX_REDUCE_STRIDE = 65535


def scratch_bytes(node: Node, sizes: Sequence[int], source: Operand) -> int:
    """Room for the halves that are reduced first, when rows are longer than a repeat. `sizes`: the source's."""
    axis = node.attrs["axis"]
    lanes = REPEAT_BYTES // source.itemsize
    if axis != len(sizes) - 1 or sizes[axis] <= lanes:
        return 0
    rows = 1
    for a, size in enumerate(sizes):
        rows *= 1 if a == axis else size
    return rows * _half(sizes[axis], lanes) * source.itemsize


def reduce(node: Node, sizes: Sequence[int], target: Operand, source: Operand, scratch: int) -> list[Call]:
    """The calls that reduce `source`, of `sizes`, along the node's axis into `target`."""
    axis = node.attrs["axis"]
    if axis != len(sizes) - 1:
        return _by_slices(node, axis, sizes, target, source)
    return _by_rows(node, sizes, target, source, scratch)


def _by_slices(node: Node, axis: int, sizes: Sequence[int], target: Operand, source: Operand) -> list[Call]:
    """One slice after the other joins the result."""
    rest = [1 if a == axis else size for a, size in enumerate(sizes)]
    step = source.strides[axis]
    flat = source.with_strides([0 if a == axis else stride for a, stride in enumerate(source.strides)])
    if sizes[axis] == 1:
        return moves.move(node, rest, target, flat)
    found: list[Call] = []
    form = vector.Form(_PAIR[node.op])
    for k in range(1, sizes[axis]):
        slice_k = replace(flat, addr=flat.addr + k * step)
        operands = [target, flat if k == 1 else target, slice_k]
        found += vector.walk(form, node, rest, operands)
    return found


def _by_rows(node: Node, sizes: Sequence[int], target: Operand, source: Operand, scratch: int) -> list[Call]:
    """Halve the rows until one fits a repeat, then one WholeReduce gives a number per row."""
    lanes = REPEAT_BYTES // source.itemsize
    width = sizes[-1]
    rows = list(sizes[:-1])
    found: list[Call] = []
    form = vector.Form(_PAIR[node.op])
    if width > lanes:
        half = _half(width, lanes)
        pitch = half * source.itemsize
        strides = [0] * len(rows)
        for a in range(len(rows) - 1, -1, -1):
            strides[a], pitch = pitch, pitch * rows[a]
        halves = Operand(source.dtype, scratch, (*strides, source.itemsize), scratch + pitch)
        right = replace(source, addr=source.addr + half * source.itemsize)
        over = [*rows, width - half]
        if width - half == half:
            found += vector.walk(form, node, over, [halves, source, right])
        else:
            found += moves.move(node, [*rows, half], halves, source)
            found += vector.walk(form, node, over, [halves, halves, right])
        source, width = halves, half
        while width > lanes:
            half = _half(width, lanes)
            right = replace(source, addr=source.addr + half * source.itemsize)
            found += vector.walk(form, node, [*rows, width - half], [source, source, right])
            width = half
    return found + _whole_reduce(node, rows, width, target, source)


def _half(width: int, lanes: int) -> int:
    """Columns that stay after a halving: whole repeats."""
    return -(-width // (2 * lanes)) * lanes


def _whole_reduce(node: Node, rows: Sequence[int], width: int, target: Operand, source: Operand) -> list[Call]:
    """A number per row of at most a repeat."""
    dims = _row_dims(rows, target, source)
    *outer, along = dims
    step = along.strides[1] // BLOCK_BYTES
    if along.strides[1] % BLOCK_BYTES or step > _MAX_REDUCE_STRIDE or along.strides[0] % target.itemsize:
        raise LoweringError(
            f"{node.name}: rows of {node.op} must start on 32 B blocks, these lie {along.strides[1]} B apart"
        )
    found: list[Call] = []
    for to, of in places(outer, 2):
        for first, repeats in chunks(along.size, MAX_REPEATS):
            ends = target.tensor(to + first * along.strides[0]), source.tensor(of + first * along.strides[1])
            apart = max(1, along.strides[0] // target.itemsize)
            if node.op == "sum":
                found.append((asc.whole_reduce_sum, (*ends, width, repeats, apart, 1, step)))
            else:
                call = asc.whole_reduce_max if node.op == "amax" else asc.whole_reduce_min
                order = asc.ReduceOrder.ORDER_ONLY_VALUE
                found.append((call, (*ends, width, repeats, apart, 1, step, order)))
    return found


def _row_dims(rows: Sequence[int], target: Operand, source: Operand) -> list[Dim]:
    """The rows as dims, the last with one result beside the next."""
    a = target.with_strides(target.strides[: len(rows)])
    b = source.with_strides(source.strides[: len(rows)])
    dims = [dim for dim in collapsed(rows, [a, b]) if dim.size > 1]
    return dims or [Dim(1, (target.itemsize, 0))]
