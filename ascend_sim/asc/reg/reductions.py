"""Reductions inside one register: all lanes, blocks of 32 B, pairs."""

from __future__ import annotations

from enum import IntEnum
from sys import _getframe
from typing import Any

import numpy as np

from ascend_sim.asc.operands import refuse
from ascend_sim.asc.reg.checks import emit, mask_register, name_of, same_dtype, start, vector
from ascend_sim.asc.reg.registers import REGISTER_BYTES
from ascend_sim.asc.reg.values import Array, Mask, Value, wide_of
from ascend_sim.isa import reg as rows
from ascend_sim.isa.dtypes import DataType, int16, int32, uint16, uint32
from ascend_sim.isa.numeric import flush_subnormals
from ascend_sim.isa.row import Row
from ascend_sim.program import BLOCK_BYTES

__all__ = ["ReduceType", "pair_reduce_elem", "reduce", "reduce_data_block"]

_SUM_DTYPES = {int16: int32, uint16: uint32}  # the sum of short integers is wide


class ReduceType(IntEnum):
    SUM = 0
    MAX = 1
    MIN = 2


def reduce(dst: Any, src: Any, mask: Any, kind: ReduceType = ReduceType.SUM) -> None:
    """Reduce: lane 0 of dst = sum, max or min of the active lanes, the other lanes are 0.

    MAX and MIN put the first lane number that holds the value into lane 1, as bits of an integer of the lane's size.
    Sums add neighbours pairwise, inactive lanes as 0; the sum of 16-bit integers is 32 bits wide.
    """
    row = rows.REDUCE
    body = start(row)
    what = _kind(row, kind)
    target, source = vector(row, "dst", dst, body), vector(row, "src", src, body)
    wanted = _SUM_DTYPES.get(source.dtype, source.dtype) if what is ReduceType.SUM else source.dtype
    if target.dtype is not wanted:
        refuse(name_of(row), f"dst is {target.dtype.name}, {what.name} of {source.dtype.name} gives {wanted.name}")
    same_dtype(row, [("src", source.dtype)])
    active = mask_register(row, mask, body)
    compute = _sum(source.dtype, wanted) if what is ReduceType.SUM else _extreme(source.dtype, what)
    width = source.dtype.name
    emit(row, _getframe(1), body, (target,), (source, active), compute, width, cost=f"{row.cost}{what.name.title()}")


def _kind(row: Row, kind: Any) -> ReduceType:
    if not isinstance(kind, ReduceType):
        refuse(name_of(row), f"kind must be a ReduceType, not {kind!r}")
    return kind


def _active(value: Value, mask: Mask, dtype: np.dtype[Any], neutral: Any) -> Array:
    data = value.numbers(dtype)
    flags = mask.lanes(dtype.itemsize)
    return data if flags is None else np.where(flags, data, dtype.type(neutral))


def _sum(dtype: DataType, wanted: DataType) -> Any:
    def compute(value: Value, mask: Mask) -> Value:
        total = tree_sum(_active(value, mask, dtype.numpy, 0).astype(wanted.numpy, copy=False), wanted)
        return Value(_lanes([total], wanted.numpy))

    return compute


def tree_sum(data: Array, dtype: DataType) -> Array:
    """The sum over the last axis, neighbours first; every addition rounds to `dtype`."""
    wide = wide_of(dtype)
    while data.shape[-1] > 1:
        pairs = data[..., ::2].astype(wide, copy=False) + data[..., 1::2].astype(wide, copy=False)
        data = flush_subnormals(pairs.astype(dtype.numpy, copy=False))
    return data[..., 0]


def _extreme(dtype: DataType, kind: ReduceType) -> Any:
    best = np.argmax if kind is ReduceType.MAX else np.argmin
    kind_of = dtype.numpy
    bottom, top = _limits(dtype)
    neutral = bottom if kind is ReduceType.MAX else top
    index_type = np.dtype(f"u{kind_of.itemsize}")

    def compute(value: Value, mask: Mask) -> Value:
        data = _active(value, mask, kind_of, neutral)
        at = best(data.astype(wide_of(dtype), copy=False), -1)
        found = np.take_along_axis(data, at[..., None], -1)[..., 0]
        return Value(_lanes([found, at.astype(index_type).view(kind_of)], kind_of))

    return compute


def _limits(dtype: DataType) -> tuple[Any, Any]:
    if dtype.is_float:
        return -np.inf, np.inf
    info = np.iinfo(dtype.numpy)
    return info.min, info.max


def _lanes(columns: list[Array], dtype: np.dtype[Any]) -> Array:
    """A register whose first lanes are `columns`, the others 0."""
    data = np.zeros((*columns[0].shape, REGISTER_BYTES // dtype.itemsize), dtype)
    for lane, column in enumerate(columns):
        data[..., lane] = column
    return data


def reduce_data_block(dst: Any, src: Any, mask: Any, kind: ReduceType = ReduceType.SUM) -> None:
    """ReduceDataBlock: lanes 0 to 7 of dst = sum, max or min of the active lanes of each 32 B block of src."""
    row = rows.REDUCE_DATA_BLOCK
    body = start(row)
    what = _kind(row, kind)
    target, source = vector(row, "dst", dst, body), vector(row, "src", src, body)
    dtype = same_dtype(row, [("dst", target.dtype), ("src", source.dtype)])
    active = mask_register(row, mask, body)
    per_block = BLOCK_BYTES // dtype.itemsize
    bottom, top = _limits(dtype)
    neutral = {ReduceType.SUM: 0, ReduceType.MAX: bottom, ReduceType.MIN: top}[what]

    def compute(value: Value, mask: Mask) -> Value:
        data = _active(value, mask, dtype.numpy, neutral)
        blocks = data.reshape(*data.shape[:-1], -1, per_block)
        if what is ReduceType.SUM:
            found = tree_sum(blocks, dtype)
        else:
            wide = blocks.astype(wide_of(dtype), copy=False)
            found = (wide.max(-1) if what is ReduceType.MAX else wide.min(-1)).astype(dtype.numpy)
        return Value(_lanes([found[..., block] for block in range(found.shape[-1])], dtype.numpy))

    emit(
        row, _getframe(1), body, (target,), (source, active), compute, dtype.name, cost=f"{row.cost}{what.name.title()}"
    )


def pair_reduce_elem(dst: Any, src: Any, mask: Any) -> None:
    """PairReduceElem: lane i of dst = src[2i] + src[2i + 1] (inactive lanes count as 0), upper half 0."""
    row = rows.PAIR_REDUCE
    body = start(row)
    target, source = vector(row, "dst", dst, body), vector(row, "src", src, body)
    dtype = same_dtype(row, [("dst", target.dtype), ("src", source.dtype)])
    active = mask_register(row, mask, body)
    wide = wide_of(dtype)

    def compute(value: Value, mask: Mask) -> Value:
        data = _active(value, mask, dtype.numpy, 0).astype(wide, copy=False)
        sums = flush_subnormals((data[..., ::2] + data[..., 1::2]).astype(dtype.numpy, copy=False))
        return Value(np.concatenate([sums, np.zeros_like(sums)], -1))

    emit(row, _getframe(1), body, (target,), (source, active), compute, dtype.name)
