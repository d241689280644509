"""Mask registers: patterns, masks of what is left of a count, compares, select and logic on masks."""

from __future__ import annotations

from sys import _getframe
from typing import Any

import numpy as np

from ascend_sim.asc.operands import refuse
from ascend_sim.asc.reg.affine import Affine
from ascend_sim.asc.reg.checks import emit, mask_register, name_of, same_dtype, start, vector
from ascend_sim.asc.reg.elementwise import scalar_of
from ascend_sim.asc.reg.registers import REGISTER_BYTES, Counter, MaskPattern, MaskReg
from ascend_sim.asc.reg.values import Array, Flags, Mask, Value
from ascend_sim.isa import reg as rows
from ascend_sim.isa.dtypes import DataType
from ascend_sim.isa.enums import CMPMODE
from ascend_sim.isa.row import Row
from ascend_sim.program import VfUnit

__all__ = ["compare", "compares", "create_mask", "mask_and", "mask_not", "mask_or", "mask_xor", "select", "update_mask"]

_COMPARES = {
    CMPMODE.LT: np.less, CMPMODE.GT: np.greater, CMPMODE.EQ: np.equal,
    CMPMODE.LE: np.less_equal, CMPMODE.GE: np.greater_equal, CMPMODE.NE: np.not_equal,
}  # fmt: skip


def create_mask(dtype: DataType, pattern: MaskPattern = MaskPattern.ALL) -> MaskReg:
    """CreateMask: a mask for lanes of `dtype` in a fixed pattern."""
    row = rows.CREATE_MASK
    body = start(row)
    dtype = same_dtype(row, [("mask", dtype)]) if isinstance(dtype, DataType) else _no_dtype(row, dtype)
    if not isinstance(pattern, MaskPattern):
        refuse(name_of(row), f"pattern must be a MaskPattern, not {pattern!r}")
    lanes = REGISTER_BYTES // dtype.itemsize
    flags = pattern_flags(pattern, lanes)
    mask = MaskReg()
    size = dtype.itemsize
    emit(row, _getframe(1), body, (mask,), (), lambda: Mask(flags, size), dtype.name, VfUnit.MASK)
    return mask


def pattern_flags(pattern: MaskPattern, lanes: int) -> Flags:
    """One flag per lane."""
    lane = np.arange(lanes)
    if isinstance(pattern.value, int):
        first: Flags = lane < pattern.value
        return first
    if pattern in (MaskPattern.M3, MaskPattern.M4):
        every: Flags = lane % (3 if pattern is MaskPattern.M3 else 4) == 0
        return every
    share = {MaskPattern.ALL: lanes, MaskPattern.ALLF: 0, MaskPattern.H: lanes // 2, MaskPattern.Q: lanes // 4}
    some: Flags = lane < share[pattern]
    return some


def update_mask(dtype: DataType, counter: Counter) -> MaskReg:
    """UpdateMask: a mask of the next `min(left, lanes)` elements; the counter goes down by a register's worth."""
    row = rows.UPDATE_MASK
    body = start(row)
    dtype = same_dtype(row, [("mask", dtype)]) if isinstance(dtype, DataType) else _no_dtype(row, dtype)
    if not isinstance(counter, Counter):
        refuse(name_of(row), f"counter must be an asc.reg.Counter, not {type(counter).__name__}")
    if counter.body is not body:
        refuse(name_of(row), "counter belongs to another call of a vector function")
    lanes = REGISTER_BYTES // dtype.itemsize
    numbers = np.arange(lanes)
    size = dtype.itemsize

    def compute(left: Array) -> Mask:
        return Mask(numbers < left[..., None], size)

    mask = MaskReg()
    node = emit(
        row, _getframe(1), body, (mask,), (), compute, dtype.name, VfUnit.MASK, counter=Affine(0, {})
    )  # fmt: skip
    counter.uses.append((node, lanes))
    return mask


def _no_dtype(row: Row, dtype: Any) -> Any:
    refuse(name_of(row), f"dtype must be a data type such as asc.float32, not {dtype!r}")


def compare(src0: Any, src1: Any, mask: Any, mode: CMPMODE = CMPMODE.EQ) -> MaskReg:
    """Compare: a mask of the active lanes in which `src0 <mode> src1` holds."""
    row = rows.COMPARE
    body = start(row)
    first, second = vector(row, "src0", src0, body), vector(row, "src1", src1, body)
    dtype = same_dtype(row, [("src0", first.dtype), ("src1", second.dtype)])
    active = mask_register(row, mask, body)
    test, kind = _test(row, mode), dtype.numpy

    def compute(a: Value, b: Value, lanes: Mask) -> Mask:
        return _verdict(test(a.numbers(kind), b.numbers(kind)), lanes, kind.itemsize)

    result = MaskReg()
    emit(row, _getframe(1), body, (result,), (first, second, active), compute, dtype.name)
    return result


def compares(src: Any, scalar: Any, mask: Any, mode: CMPMODE = CMPMODE.EQ) -> MaskReg:
    """Compares: a mask of the active lanes in which `src <mode> scalar` holds."""
    row = rows.COMPARES
    body = start(row)
    source = vector(row, "src", src, body)
    dtype = same_dtype(row, [("src", source.dtype)])
    active = mask_register(row, mask, body)
    test, kind, value = _test(row, mode), dtype.numpy, scalar_of(row, scalar, dtype)

    def compute(a: Value, lanes: Mask) -> Mask:
        return _verdict(test(a.numbers(kind), value), lanes, kind.itemsize)

    result = MaskReg()
    emit(row, _getframe(1), body, (result,), (source, active), compute, dtype.name)
    return result


def _test(row: Row, mode: Any) -> Any:
    if not isinstance(mode, CMPMODE):
        refuse(name_of(row), f"mode must be a CMPMODE such as CMPMODE.LT, not {mode!r}")
    return _COMPARES[mode]


def _verdict(found: Any, lanes: Mask, size: int) -> Mask:
    active = lanes.lanes(size)
    flags = np.asarray(found, np.bool_)
    return Mask(flags if active is None else flags & active, size)


def select(dst: Any, src0: Any, src1: Any, mask: Any) -> None:
    """Select: dst = src0 in active lanes, src1 in the others."""
    row = rows.SELECT
    body = start(row)
    registers = [vector(row, role, value, body) for role, value in (("dst", dst), ("src0", src0), ("src1", src1))]
    dtype = same_dtype(row, [(role, reg.dtype) for role, reg in zip(("dst", "src0", "src1"), registers, strict=True)])
    active = mask_register(row, mask, body)
    kind = dtype.numpy

    def compute(a: Value, b: Value, lanes: Mask) -> Value:
        flags = lanes.lanes(kind.itemsize)
        return a if flags is None else Value(np.where(flags, a.raw(kind), b.raw(kind)))

    emit(row, _getframe(1), body, registers[:1], (*registers[1:], active), compute, dtype.name)


def _logic(row: Row, operation: Any, operands: int) -> Any:
    def call(*given: Any) -> MaskReg:
        body = start(row)
        if len(given) != operands + 1:
            refuse(name_of(row), f"takes {operands} source masks and the mask of active lanes, not {len(given)} masks")
        sources = [mask_register(row, value, body) for value in given]

        def compute(*values: Mask) -> Mask:
            size = min(value.size for value in values)
            flags = [_spread(value, size) for value in values]
            return Mask(operation(*flags[:-1]) & flags[-1], size)

        result = MaskReg()
        emit(row, _getframe(1), body, (result,), sources, compute, "uint8", VfUnit.MASK)
        return result

    call.__name__ = call.__qualname__ = row.call.removeprefix("reg.")
    call.__doc__ = f"{row.name}: {row.note}."
    return call


def _spread(mask: Mask, size: int) -> Flags:
    flags = mask.lanes(size)
    return np.ones(REGISTER_BYTES // size, np.bool_) if flags is None else flags


mask_and = _logic(rows.MASK_AND, np.logical_and, 2)
mask_or = _logic(rows.MASK_OR, np.logical_or, 2)
mask_xor = _logic(rows.MASK_XOR, np.logical_xor, 2)
mask_not = _logic(rows.MASK_NOT, np.logical_not, 1)
