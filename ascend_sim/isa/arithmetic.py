"""Rows of the element-wise instructions: two tensors, tensor and scalar, one tensor.

dtypes per architecture: soc_specs 2.7. A `compute` that is a plain function gets its sources widened (float16 as
float32); its result is rounded once. Forms that read dst get it as their last tensor argument.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ascend_sim.isa.dtypes import (
    DataType,
    bfloat16,
    float16,
    float32,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from ascend_sim.isa.numeric import Array, divide, fused_multiply_add, invert, maximum, minimum, relu
from ascend_sim.isa.row import Row, declare
from ascend_sim.program import PipeID

Types = tuple[DataType, ...]
Table = Mapping[str, tuple[Types, ...]]

FLOATS: Types = (float16, float32)
BASIC: Types = (int16, float16, int32, float32)
WIDE: Types = (int64, uint64)
BYTES: Types = (int8, uint8)
ALL_950: Types = (*BYTES, int16, uint16, float16, bfloat16, int32, uint32, float32, *WIDE)


def alike(operands: int, types: Types) -> tuple[Types, ...]:
    """Combinations in which all operands share a dtype."""
    return tuple((dtype,) * operands for dtype in types)


def tables(operands: int, on_2201: Types, on_3510: Types) -> Table:
    return {"2201": alike(operands, on_2201), "3510": alike(operands, on_3510)}


def _row(
    name: str, call: str, form: str, dtypes: Table, compute: Any, note: str, only: Types = (), accumulates: bool = False
) -> Row:
    count_only = {"3510": only}
    return declare(Row(name, call, PipeID.PIPE_V, form, name, dtypes, compute, note, count_only, accumulates))


def _binary(
    name: str, call: str, compute: Any, note: str, t2201: Types, t3510: Types, only: Types = (), repeats: bool = False
) -> Row:
    return _row(name, call, "binary", tables(3, t2201, t3510), compute, note, only, repeats)


def _scalar(name: str, call: str, compute: Any, note: str, t2201: Types, t3510: Types, only: Types = ()) -> Row:
    return _row(name, call, "scalar", tables(2, t2201, t3510), compute, note, only)


def _unary(name: str, call: str, compute: Any, note: str, t2201: Types, t3510: Types, only: Types = ()) -> Row:
    return _row(name, call, "unary", tables(2, t2201, t3510), compute, note, only)


def _in_float64(function: Any) -> Any:
    def compute(x: Array) -> Array:
        result: Array = function(x.astype(np.float64))
        return result

    return compute


def _leaky_relu(x: Array, scalar: Any) -> Array:
    return np.where(x >= 0, x, x * scalar)


_MOST = tuple(dtype for dtype in ALL_950 if dtype not in BYTES)
_SHIFTS_950: Types = (*BYTES, int16, uint16, int32, uint32, *WIDE)
_ONLY: Types = (*BYTES, *WIDE)
_SCALAR_950: Types = (*BYTES, int16, float16, bfloat16, int32, float32, int64)

ADD = _binary("Add", "add", np.add, "dst = src0 + src1", BASIC, ALL_950, _ONLY, True)
SUB = _binary("Sub", "sub", np.subtract, "dst = src0 - src1", BASIC, ALL_950, _ONLY, True)
MUL = _binary("Mul", "mul", np.multiply, "dst = src0 * src1", BASIC, _MOST, WIDE, True)
DIV = _binary(
    "Div", "div", divide, "dst = src0 / src1; x/0 is an infinity, 0/0 is NaN; integers are cut towards zero", FLOATS,
    (int16, uint16, float16, int32, uint32, float32, *WIDE), WIDE,
)  # fmt: skip
MAX = _binary("Max", "max", maximum, "dst = max(src0, src1); NaN wins, +0 over -0", BASIC, ALL_950, _ONLY, True)
MIN = _binary("Min", "min", minimum, "dst = min(src0, src1); NaN wins, -0 over +0", BASIC, ALL_950, _ONLY, True)
ADD_RELU = _binary(
    "AddRelu", "add_relu", lambda a, b: relu(a + b), "dst = max(src0 + src1, 0)",
    (int16, float16, float32), (int16, float16, float32, *WIDE), WIDE, True,
)  # fmt: skip
SUB_RELU = _binary(
    "SubRelu", "sub_relu", lambda a, b: relu(a - b), "dst = max(src0 - src1, 0)",
    (int16, float16, float32), (int16, float16, float32, *WIDE), WIDE, True,
)  # fmt: skip
AND = _binary("And", "bitwise_and", np.bitwise_and, "dst = src0 & src1", (int16, uint16), _SHIFTS_950, _ONLY)
OR = _binary("Or", "bitwise_or", np.bitwise_or, "dst = src0 | src1", (int16, uint16), _SHIFTS_950, _ONLY)

_MIXED_FMA: tuple[Types, ...] = (*alike(3, FLOATS), (float32, float16, float16))
MUL_ADD_DST = _row(
    "MulAddDst", "mul_add_dst", "binary_dst",
    {"2201": _MIXED_FMA, "3510": (*_MIXED_FMA, *alike(3, WIDE))},
    fused_multiply_add, "dst = src0 * src1 + dst, rounded once", WIDE,
)  # fmt: skip
FUSED_MUL_ADD = _row(
    "FusedMulAdd", "fused_mul_add", "binary_dst", tables(3, FLOATS, (float16, bfloat16, float32, *WIDE)),
    lambda a, b, d: fused_multiply_add(a, d, b), "dst = src0 * dst + src1, rounded once", WIDE,
)  # fmt: skip
FUSED_MUL_ADD_RELU = _row(
    "MulAddRelu", "fused_mul_add_relu", "binary_dst", tables(3, FLOATS, (*FLOATS, *WIDE)),
    lambda a, b, d: relu(fused_multiply_add(a, d, b)), "dst = max(src0 * dst + src1, 0), rounded once", WIDE,
)  # fmt: skip

ADDS = _scalar("Adds", "adds", np.add, "dst = src + scalar", BASIC, _SCALAR_950, _ONLY)
MULS = _scalar(
    "Muls", "muls", np.multiply, "dst = src * scalar", BASIC, (int16, float16, bfloat16, int32, float32, int64), WIDE
)
MAXS = _scalar("Maxs", "maxs", maximum, "dst = max(src, scalar); NaN wins, +0 over -0", BASIC, _SCALAR_950, _ONLY)
MINS = _scalar("Mins", "mins", minimum, "dst = min(src, scalar); NaN wins, -0 over +0", BASIC, _SCALAR_950, _ONLY)
LEAKY_RELU = _scalar("LeakyRelu", "leaky_relu", _leaky_relu, "dst = src >= 0 ? src : src * scalar", FLOATS, FLOATS)
SHIFT_LEFT = _scalar(
    "ShiftLeft", "shift_left", np.left_shift, "dst = src << scalar", (int16, uint16, int32, uint32), _SHIFTS_950, _ONLY
)
SHIFT_RIGHT = _scalar(
    "ShiftRight", "shift_right", np.right_shift, "dst = src >> scalar, keeping the sign of signed types",
    (int16, uint16, int32, uint32), _SHIFTS_950, _ONLY,
)  # fmt: skip
_AXPY: tuple[Types, ...] = (*alike(2, FLOATS), (float32, float16))
AXPY = _row(
    "Axpy", "axpy", "scalar_dst", {"2201": _AXPY, "3510": (*_AXPY, *alike(2, (*WIDE, bfloat16)))},
    lambda x, d, scalar: fused_multiply_add(x, scalar, d), "dst = src * scalar + dst, rounded once", WIDE,
)  # fmt: skip

ABS = _unary(
    "Abs", "abs", np.absolute, "dst = |src|", FLOATS, (int8, int16, float16, int32, float32, int64), (int8, int64)
)
EXP = _unary("Exp", "exp", _in_float64(np.exp), "dst = e ** src", FLOATS, FLOATS)
LN = _unary("Ln", "ln", _in_float64(np.log), "dst = ln(src); ln(0) = -inf, ln(negative) = NaN", FLOATS, FLOATS)
SQRT = _unary("Sqrt", "sqrt", np.sqrt, "dst = sqrt(src); sqrt(negative) = NaN", FLOATS, FLOATS)
RSQRT = _unary(
    "Rsqrt", "rsqrt", _in_float64(lambda x: 1.0 / np.sqrt(x)),
    "dst = 1 / sqrt(src), rounded to nearest; the chip itself misses 1e-3 (half) and 1e-4 (float)", FLOATS, FLOATS,
)  # fmt: skip
RECIPROCAL = _unary(
    "Reciprocal", "reciprocal", _in_float64(lambda x: 1.0 / x),
    "dst = 1 / src, rounded to nearest; the chip itself misses 1e-3 (half) and 1e-4 (float)",
    FLOATS, (*FLOATS, *WIDE), WIDE,
)  # fmt: skip
RELU = _unary(
    "Relu", "relu", relu, "dst = max(src, 0)", (float16, int32, float32), (float16, int32, float32, int64), (int64,)
)
NOT = _unary(
    "Not", "bitwise_not", invert, "dst = ~src", (int16, uint16),
    (*BYTES, int16, uint16, float16, int32, uint32, float32, *WIDE), _ONLY,
)  # fmt: skip
