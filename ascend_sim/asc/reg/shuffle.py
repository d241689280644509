"""Registers to registers without arithmetic: copy, duplicate, arange, interleave and de_interleave."""

from __future__ import annotations

from enum import IntEnum
from sys import _getframe
from typing import Any

import numpy as np

from ascend_sim.asc.operands import element, refuse
from ascend_sim.asc.reg.checks import emit, mask_register, merge_mode, name_of, same_dtype, start, vector
from ascend_sim.asc.reg.registers import MaskMergeMode, RegTensor
from ascend_sim.asc.reg.values import Array, Mask, Value, blend
from ascend_sim.asc.scalars import UnknownScalar
from ascend_sim.isa import reg as rows
from ascend_sim.isa.row import Row

__all__ = ["HighLowPart", "IndexOrder", "arange", "copy", "de_interleave", "duplicate", "interleave", "pack", "unpack"]

ZEROING = MaskMergeMode.ZEROING


class HighLowPart(IntEnum):
    """Which end of a register: its lowest or its highest lane (or half)."""

    LOWEST = 0
    HIGHEST = 1


class IndexOrder(IntEnum):
    """Whether `arange` counts up or down."""

    INCREASE_ORDER = 0
    DECREASE_ORDER = 1


def copy(dst: Any, src: Any, mask: Any, mode: Any = ZEROING) -> None:
    """Copy: dst = src in active lanes; the others become 0 or (MERGING) keep their value."""
    row = rows.COPY
    body = start(row)
    target, source = vector(row, "dst", dst, body), vector(row, "src", src, body)
    dtype = same_dtype(row, [("dst", target.dtype), ("src", source.dtype)])
    active = mask_register(row, mask, body)
    merging = merge_mode(row, mode)
    kind = dtype.numpy

    def compute(value: Value, lanes: Mask, old: Value | None = None) -> Value:
        flags = lanes.lanes(kind.itemsize)
        return value if flags is None else Value(blend(flags, value.raw(kind), None if old is None else old.raw(kind)))

    reads = (source, active, target) if merging else (source, active)
    emit(row, _getframe(1), body, (target,), reads, compute, dtype.name)


def duplicate(dst: Any, src: Any, mask: Any, mode: Any = ZEROING, pos: Any = HighLowPart.LOWEST) -> None:
    """Duplicate: active lanes of dst = a scalar, or the lowest (`pos=HIGHEST`: highest) lane of a register."""
    row = rows.DUPLICATE
    body = start(row)
    target = vector(row, "dst", dst, body)
    active = mask_register(row, mask, body)
    merging = merge_mode(row, mode)
    kind = target.dtype.numpy
    if not isinstance(pos, HighLowPart):
        refuse(name_of(row), f"pos must be HighLowPart.LOWEST or HighLowPart.HIGHEST, not {pos!r}")
    old = (target,) if merging else ()
    if isinstance(src, RegTensor):
        source = vector(row, "src", src, body)
        dtype = same_dtype(row, [("dst", target.dtype), ("src", source.dtype)])
        lane = 0 if pos is HighLowPart.LOWEST else -1

        def spread(value: Value, lanes: Mask, kept: Value | None = None) -> Value:
            picked = value.raw(kind)[..., [lane]]
            return _masked(np.repeat(picked, 256 // kind.itemsize, -1), lanes, kept)

        emit(row, _getframe(1), body, (target,), (source, active, *old), spread, dtype.name, cost="DuplicateLane")
        return
    dtype = same_dtype(row, [("dst", target.dtype)])
    cell = _number(row, src, dtype)

    def fill(lanes: Mask, kept: Value | None = None) -> Value:
        return _masked(np.full(256 // kind.itemsize, cell, kind), lanes, kept)

    emit(row, _getframe(1), body, (target,), (active, *old), fill, dtype.name)


def _masked(data: Array, lanes: Mask, old: Value | None) -> Value:
    flags = lanes.lanes(data.dtype.itemsize)
    return Value(blend(flags, data, None if old is None else old.raw(data.dtype)))


def _number(row: Row, value: Any, dtype: Any) -> Any:
    if isinstance(value, UnknownScalar) or not (hasattr(value, "__index__") or isinstance(value, float | np.floating)):
        refuse(name_of(row), f"scalar must be a number or a RegTensor, not {type(value).__name__}")
    if not dtype.is_float and not hasattr(value, "__index__"):
        refuse(name_of(row), f"scalar is {float(value)!r}, a float, but dst holds {dtype.name}")
    return element(dtype, value)


def arange(dst: Any, scalar: Any, order: Any = IndexOrder.INCREASE_ORDER) -> None:
    """Arange: lane i of dst = scalar + i (DECREASE_ORDER: scalar - i, counted from the highest lane)."""
    row = rows.ARANGE
    body = start(row)
    target = vector(row, "dst", dst, body)
    dtype = same_dtype(row, [("dst", target.dtype)])
    if not isinstance(order, IndexOrder):
        refuse(name_of(row), f"order must be an IndexOrder, not {order!r}")
    cell = _number(row, scalar, dtype)
    kind = dtype.numpy
    steps = np.arange(target.lanes)
    if order is IndexOrder.DECREASE_ORDER:
        steps = steps[::-1]
    numbers = (np.float32(cell) + steps).astype(kind) if dtype.is_float else (int(cell) + steps).astype(kind)
    emit(row, _getframe(1), body, (target,), (), lambda: Value(numbers.copy()), dtype.name)


def interleave(dst0: Any, dst1: Any, src0: Any, src1: Any) -> None:
    """Interleave: src0[0], src1[0], src0[1], src1[1], ... fill dst0, then dst1."""
    _shuffle(rows.INTERLEAVE, _getframe(1), dst0, dst1, src0, src1)


def de_interleave(dst0: Any, dst1: Any, src0: Any, src1: Any) -> None:
    """DeInterleave: of the lanes of src0 followed by src1, dst0 gets the even ones and dst1 the odd ones."""
    _shuffle(rows.DE_INTERLEAVE, _getframe(1), dst0, dst1, src0, src1)


def _shuffle(row: Row, frame: Any, dst0: Any, dst1: Any, src0: Any, src1: Any) -> None:
    body = start(row)
    given = (("dst0", dst0), ("dst1", dst1), ("src0", src0), ("src1", src1))
    registers = [vector(row, role, value, body) for role, value in given]
    dtype = same_dtype(row, [(role, reg.dtype) for (role, _), reg in zip(given, registers, strict=True)])
    if registers[0].slot == registers[1].slot:
        refuse(name_of(row), "dst0 and dst1 are one register; they must be two")
    kind = dtype.numpy

    def split(first: Value, second: Value) -> tuple[Value, Value]:
        one, two = np.broadcast_arrays(first.raw(kind), second.raw(kind))
        both = np.concatenate([one, two], -1)
        return Value(both[..., ::2].copy()), Value(both[..., 1::2].copy())

    def weave(first: Value, second: Value) -> tuple[Value, Value]:
        one, two = np.broadcast_arrays(first.raw(kind), second.raw(kind))
        lanes = one.shape[-1]
        both = np.empty((*one.shape[:-1], 2 * lanes), kind)
        both[..., ::2], both[..., 1::2] = one, two
        return Value(both[..., :lanes]), Value(both[..., lanes:])

    compute = weave if row is rows.INTERLEAVE else split
    emit(row, frame, body, registers[:2], registers[2:], compute, dtype.name)


def pack(dst: Any, src: Any, part: Any = HighLowPart.LOWEST) -> None:
    """Pack: the low half of every lane of src, in the lower (`part=HIGHEST`: upper) half of dst, the rest 0."""
    row = rows.PACK
    target, source, high = _halves(row, dst, src, part)
    wide, narrow = source.dtype.numpy, target.dtype.numpy

    def compute(value: Value) -> Value:
        data = value.raw(wide).astype(narrow)
        zeros = np.zeros_like(data)
        return Value(np.concatenate([zeros, data] if high else [data, zeros], -1))

    emit(row, _getframe(1), start(row), (target,), (source,), compute, source.dtype.name)


def unpack(dst: Any, src: Any, part: Any = HighLowPart.LOWEST) -> None:
    """UnPack: the lower (`part=HIGHEST`: upper) half of src, widened with its sign (or zeros)."""
    row = rows.UNPACK
    target, source, high = _halves(row, dst, src, part)
    wide, narrow = target.dtype.numpy, source.dtype.numpy
    half = target.lanes

    def compute(value: Value) -> Value:
        data = value.raw(narrow)
        return Value((data[..., half:] if high else data[..., :half]).astype(wide))

    emit(row, _getframe(1), start(row), (target,), (source,), compute, source.dtype.name)


def _halves(row: Row, dst: Any, src: Any, part: Any) -> tuple[RegTensor, RegTensor, bool]:
    body = start(row)
    target, source = vector(row, "dst", dst, body), vector(row, "src", src, body)
    allowed = row.dtypes["3510"]
    if (target.dtype, source.dtype) not in allowed:
        names = ", ".join(f"{b.name} -> {a.name}" for a, b in allowed)
        refuse(name_of(row), f"{source.dtype.name} -> {target.dtype.name} is not supported, allowed are {names}")
    if not isinstance(part, HighLowPart):
        refuse(name_of(row), f"part must be HighLowPart.LOWEST or HighLowPart.HIGHEST, not {part!r}")
    return target, source, part is HighLowPart.HIGHEST
