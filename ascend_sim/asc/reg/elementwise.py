"""Element-wise register instructions: `asc.reg.add(dst, src0, src1, mask)` and the like, one name per table row.

Inactive lanes of dst become 0, or keep their value with `mode=MaskMergeMode.MERGING`. dst may be one of the sources.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from typing import Any

import numpy as np

from ascend_sim.asc.operands import element, refuse
from ascend_sim.asc.reg.checks import emit, mask_register, merge_mode, name_of, same_dtype, start, vector
from ascend_sim.asc.reg.registers import MaskMergeMode, MaskReg, RegTensor
from ascend_sim.asc.reg.values import Array, Value, blend, wide_of
from ascend_sim.asc.scalars import UnknownScalar
from ascend_sim.isa import reg as rows
from ascend_sim.isa.dtypes import DataType
from ascend_sim.isa.numeric import flush_subnormals
from ascend_sim.isa.row import Row

__all__ = [
    "abs", "abs_sub", "add", "adds", "axpy", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "div", "exp",
    "exp_sub", "leaky_relu", "ln", "max", "maxs", "min", "mins", "mul", "mul_add_dst", "mul_dst_add", "muls", "neg",
    "relu", "shift_lefts", "shift_rights", "sqrt", "sub",
]  # fmt: skip

ZEROING = MaskMergeMode.ZEROING
Compute = Callable[..., Any]


def arithmetic(compute: Callable[..., Any], dtype: DataType, merging: bool) -> Compute:
    """From source values, the mask and (when merging) the old destination to the new one."""
    kind = dtype.numpy
    wide = np.dtype(wide_of(dtype))

    def run(*operands: Any) -> Value:
        *sources, mask, old = operands if merging else (*operands, None)
        inputs = [source.numbers(kind) for source in sources]
        if wide != kind:
            inputs = [item.astype(wide, copy=False) for item in inputs]
        result: Array = flush_subnormals(np.asarray(compute(*inputs)).astype(kind, copy=False))
        active = mask.lanes(kind.itemsize)
        return Value(blend(active, result, old.raw(kind) if merging else None), clean=not merging)

    return run


def _call(
    row: Row, frame: Any, dst: Any, sources: tuple[tuple[str, Any], ...], mask: Any, mode: Any, wrap: Any = None,
    keeps_dst: bool = False,
) -> None:  # fmt: skip
    body = start(row)
    registers = [vector(row, role, value, body) for role, value in (("dst", dst), *sources)]
    roles = ["dst", *(role for role, _ in sources)]
    dtype = same_dtype(row, [(role, reg.dtype) for role, reg in zip(roles, registers, strict=True)])
    active = mask_register(row, mask, body)
    merging = merge_mode(row, mode)
    assert row.compute is not None
    compute = row.compute if wrap is None else wrap(row.compute, dtype)
    read: list[RegTensor | MaskReg] = [*registers[1:], *((registers[0],) if keeps_dst else ()), active]
    if merging:
        read.append(registers[0])
    emit(
        row, frame, body, registers[:1], read, arithmetic(compute, dtype, merging), dtype.name,
        mask=None if merging else active, lane_bytes=dtype.itemsize,
    )  # fmt: skip


def _binary(row: Row) -> Callable[..., None]:
    def call(dst: Any, src0: Any, src1: Any, mask: Any, mode: Any = ZEROING) -> None:
        _call(row, _getframe(1), dst, (("src0", src0), ("src1", src1)), mask, mode)

    return _named(call, row)


def _unary(row: Row) -> Callable[..., None]:
    def call(dst: Any, src: Any, mask: Any, mode: Any = ZEROING) -> None:
        _call(row, _getframe(1), dst, (("src", src),), mask, mode)

    return _named(call, row)


def _scalar(row: Row, keeps_dst: bool = False) -> Callable[..., None]:
    def call(dst: Any, src: Any, scalar: Any, mask: Any, mode: Any = ZEROING) -> None:
        def wrap(compute: Compute, dtype: DataType) -> Compute:
            value = scalar_of(row, scalar, dtype)
            if keeps_dst:
                return lambda x, d: compute(x, value, d)
            return lambda x: compute(x, value)

        _call(row, _getframe(1), dst, (("src", src),), mask, mode, wrap, keeps_dst)

    return _named(call, row)


def _accumulate(row: Row) -> Callable[..., None]:
    def call(dst: Any, src0: Any, src1: Any, mask: Any, mode: Any = ZEROING) -> None:
        _call(row, _getframe(1), dst, (("src0", src0), ("src1", src1)), mask, mode, None, True)

    return _named(call, row)


def scalar_of(row: Row, scalar: Any, dtype: DataType) -> Any:
    """A scalar operand rounded to the instruction's dtype, in the type that it computes in; subnormals are zeros."""
    if isinstance(scalar, UnknownScalar) or not (
        hasattr(scalar, "__index__") or isinstance(scalar, float | np.floating)
    ):
        refuse(name_of(row), f"scalar must be a number, not {type(scalar).__name__}")
    if not dtype.is_float and not hasattr(scalar, "__index__"):
        refuse(name_of(row), f"scalar is {float(scalar)!r}, a float, but the registers hold {dtype.name}")
    value = flush_subnormals(np.asarray(element(dtype, scalar)))
    return value.astype(wide_of(dtype))[()]


def _named(call: Callable[..., None], row: Row) -> Callable[..., None]:
    call.__name__ = call.__qualname__ = row.call.removeprefix("reg.")
    call.__doc__ = f"{row.name}: {row.note}."
    return call


add = _binary(rows.ADD)
sub = _binary(rows.SUB)
mul = _binary(rows.MUL)
div = _binary(rows.DIV)
max = _binary(rows.MAX)  # noqa: A001 - the names of the kernel language
min = _binary(rows.MIN)  # noqa: A001
bitwise_and = _binary(rows.AND)
bitwise_or = _binary(rows.OR)
bitwise_xor = _binary(rows.XOR)
abs_sub = _binary(rows.ABS_SUB)
exp_sub = _binary(rows.EXP_SUB)
mul_add_dst = _accumulate(rows.MUL_ADD_DST)
mul_dst_add = _accumulate(rows.MUL_DST_ADD)

adds = _scalar(rows.ADDS)
muls = _scalar(rows.MULS)
maxs = _scalar(rows.MAXS)
mins = _scalar(rows.MINS)
leaky_relu = _scalar(rows.LEAKY_RELU)
shift_lefts = _scalar(rows.SHIFT_LEFTS)
shift_rights = _scalar(rows.SHIFT_RIGHTS)
axpy = _scalar(rows.AXPY, True)

abs = _unary(rows.ABS)  # noqa: A001
neg = _unary(rows.NEG)
exp = _unary(rows.EXP)
ln = _unary(rows.LN)
sqrt = _unary(rows.SQRT)
relu = _unary(rows.RELU)
bitwise_not = _unary(rows.NOT)
