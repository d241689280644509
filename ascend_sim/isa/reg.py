"""Rows of the register instructions of architecture 3510 (950): what runs inside a vector function.

dtypes: the official table of register instructions (soc_specs 1.4 and its JSON twin), bfloat16 scalar forms as in the
memory forms (soc_specs 2.7). Calls are `asc.reg.<name>`. `compute` gets float16 and bfloat16 widened to float32; its
result is rounded once.
"""

from __future__ import annotations

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
from ascend_sim.isa.enums import RoundMode
from ascend_sim.isa.numeric import Array, fused_multiply_add, relu
from ascend_sim.isa.row import Row, declare
from ascend_sim.program import PipeID

Types = tuple[DataType, ...]

BYTES: Types = (int8, uint8)
SHORTS: Types = (int16, uint16)
WORDS: Types = (int32, uint32)
INTEGERS: Types = (*BYTES, *SHORTS, *WORDS)
FLOATS: Types = (float16, float32)
ALL_FLOATS: Types = (float16, bfloat16, float32)
NUMBERS: Types = (*INTEGERS, *ALL_FLOATS)
MOVES: Types = (*NUMBERS, int64, uint64)
SIGNED: Types = (int8, int16, float16, int32, float32)


def row(name: str, call: str, form: str, types: Types, compute: Any, note: str, cost: str = "") -> Row:
    """One register instruction whose operands all have the same dtype."""
    combos = tuple((dtype,) for dtype in types)
    return declare(Row(name, f"reg.{call}", PipeID.PIPE_V, form, cost or name, {"3510": combos}, compute, note))


def _in_float64(function: Any) -> Any:
    def compute(*operands: Array) -> Array:
        result: Array = function(*(item.astype(np.float64) for item in operands))
        return result

    return compute


ADD = row("Add", "add", "reg_binary", NUMBERS, np.add, "dst = src0 + src1")
SUB = row("Sub", "sub", "reg_binary", NUMBERS, np.subtract, "dst = src0 - src1")
MUL = row("Mul", "mul", "reg_binary", (*SHORTS, *WORDS, *ALL_FLOATS), np.multiply, "dst = src0 * src1")
DIV = row("Div", "div", "reg_binary", FLOATS, np.divide, "dst = src0 / src1; x/0 is an infinity, 0/0 is NaN")
MAX = row("Max", "max", "reg_binary", NUMBERS, np.maximum, "dst = max(src0, src1); NaN wins")
MIN = row("Min", "min", "reg_binary", NUMBERS, np.minimum, "dst = min(src0, src1); NaN wins")
AND = row("And", "bitwise_and", "reg_binary", INTEGERS, np.bitwise_and, "dst = src0 & src1")
OR = row("Or", "bitwise_or", "reg_binary", INTEGERS, np.bitwise_or, "dst = src0 | src1")
XOR = row("Xor", "bitwise_xor", "reg_binary", INTEGERS, np.bitwise_xor, "dst = src0 ^ src1")
ABS_SUB = row("AbsSub", "abs_sub", "reg_binary", FLOATS, lambda a, b: np.abs(a - b), "dst = |src0 - src1|")
EXP_SUB = row(
    "ExpSub", "exp_sub", "reg_binary", FLOATS, lambda a, b: np.exp((a - b).astype(np.float64)),
    "dst = e ** (src0 - src1), the difference rounded first",
)  # fmt: skip

ADDS = row("Adds", "adds", "reg_scalar", NUMBERS, np.add, "dst = src + scalar")
MULS = row("Muls", "muls", "reg_scalar", (*SHORTS, *WORDS, *ALL_FLOATS), np.multiply, "dst = src * scalar")
MAXS = row("Maxs", "maxs", "reg_scalar", NUMBERS, np.maximum, "dst = max(src, scalar); NaN wins")
MINS = row("Mins", "mins", "reg_scalar", NUMBERS, np.minimum, "dst = min(src, scalar); NaN wins")
LEAKY_RELU = row(
    "LeakyRelu", "leaky_relu", "reg_scalar", FLOATS, lambda x, s: np.where(x >= 0, x, x * s),
    "dst = src >= 0 ? src : src * scalar",
)  # fmt: skip
SHIFT_LEFTS = row("ShiftLefts", "shift_lefts", "reg_scalar", INTEGERS, np.left_shift, "dst = src << scalar")
SHIFT_RIGHTS = row("ShiftRights", "shift_rights", "reg_scalar", INTEGERS, np.right_shift, "dst = src >> scalar")

ABS = row("Abs", "abs", "reg_unary", SIGNED, np.absolute, "dst = |src|")
NEG = row("Neg", "neg", "reg_unary", SIGNED, np.negative, "dst = -src")
EXP = row("Exp", "exp", "reg_unary", FLOATS, _in_float64(np.exp), "dst = e ** src")
LN = row("Ln", "ln", "reg_unary", FLOATS, _in_float64(np.log), "dst = ln(src); ln(0) = -inf, ln(negative) = NaN")
SQRT = row("Sqrt", "sqrt", "reg_unary", FLOATS, np.sqrt, "dst = sqrt(src); sqrt(negative) = NaN")
RELU = row("Relu", "relu", "reg_unary", (float16, int32, float32), relu, "dst = max(src, 0)")
NOT = row("Not", "bitwise_not", "reg_unary", INTEGERS, np.invert, "dst = ~src")

MUL_ADD_DST = row(
    "MulAddDst", "mul_add_dst", "reg_accumulate", (*SHORTS, *WORDS, *ALL_FLOATS),
    lambda a, b, d: fused_multiply_add(a, b, d) if a.dtype.kind == "f" else a * b + d,
    "dst = src0 * src1 + dst, rounded once",
)  # fmt: skip
MUL_DST_ADD = row(
    "MulDstAdd", "mul_dst_add", "reg_accumulate", ALL_FLOATS, lambda a, b, d: fused_multiply_add(d, a, b),
    "dst = dst * src0 + src1, rounded once",
)  # fmt: skip
AXPY = row(
    "Axpy",
    "axpy",
    "reg_axpy",
    FLOATS,
    fused_multiply_add,
    "dst = src * scalar + dst, rounded once",
)

COPY = row("Copy", "copy", "reg_move", MOVES, None, "dst = src")
DUPLICATE = row("Duplicate", "duplicate", "reg_move", MOVES, None, "every lane = a scalar, or one lane of a register")
INTERLEAVE = row("Interleave", "interleave", "reg_shuffle", NUMBERS, None, "dst0, dst1 = src0 and src1 lane by lane")
DE_INTERLEAVE = row(
    "DeInterleave", "de_interleave", "reg_shuffle", NUMBERS, None, "dst0, dst1 = even and odd lanes of src0 and src1"
)
SELECT = row("Select", "select", "reg_move", NUMBERS, None, "dst = mask ? src0 : src1")
ARANGE = row("Arange", "arange", "reg_move", SIGNED, None, "lane i = scalar + i (or - i)")
COMPARE = row("Compare", "compare", "reg_compare", NUMBERS, None, "mask lane = src0 <mode> src1")
COMPARES = row("Compares", "compares", "reg_compare", NUMBERS, None, "mask lane = src <mode> scalar")
REDUCE = row(
    "Reduce", "reduce", "reg_reduce", (*SHORTS, *WORDS, *FLOATS), None, "lane 0 = sum, max or min of a register"
)
REDUCE_DATA_BLOCK = row(
    "ReduceDataBlock", "reduce_data_block", "reg_reduce", (*SHORTS, *WORDS, *FLOATS), None,
    "lane i = sum, max or min of 32 B block i",
)  # fmt: skip
PAIR_REDUCE = row("PairReduceElem", "pair_reduce_elem", "reg_reduce", FLOATS, None, "lane i = src[2i] + src[2i + 1]")
LOAD_ALIGN = row("LoadAlign", "load_align", "reg_load", MOVES, None, "register = UB, in the order of `dist`")
STORE_ALIGN = row("StoreAlign", "store_align", "reg_store", MOVES, None, "UB = active lanes, in the order of `dist`")
GATHER = row("Gather", "gather", "reg_load", (*SHORTS, *WORDS, *ALL_FLOATS), None, "lane i = UB element index[i]")
SCATTER = row("Scatter", "scatter", "reg_store", (*SHORTS, *WORDS, *ALL_FLOATS), None, "UB element index[i] = lane i")
CREATE_MASK = row("CreateMask", "create_mask", "reg_mask", MOVES, None, "a mask of a fixed pattern")
UPDATE_MASK = row("UpdateMask", "update_mask", "reg_mask", MOVES, None, "a mask of the next elements of a counter")
MEM_BAR = declare(
    Row(
        "LocalMemBar",
        "reg.local_mem_bar",
        PipeID.PIPE_V,
        "reg_barrier",
        "LocalMemBar",
        {"3510": ((),)},
        note="UB accesses keep their order",
    )
)
MASK_AND = row("MaskAnd", "mask_and", "reg_mask", (uint8,), None, "mask = src0 & src1, in active lanes")
MASK_OR = row("MaskOr", "mask_or", "reg_mask", (uint8,), None, "mask = src0 | src1, in active lanes")
MASK_XOR = row("MaskXor", "mask_xor", "reg_mask", (uint8,), None, "mask = src0 ^ src1, in active lanes")
MASK_NOT = row("MaskNot", "mask_not", "reg_mask", (uint8,), None, "mask = ~src, in active lanes")
PACK = declare(
    Row(
        "Pack", "reg.pack", PipeID.PIPE_V, "reg_shuffle", "Pack",
        {"3510": ((uint8, uint16), (uint8, int16), (uint16, uint32), (uint16, int32))}, None,
        "dst = the low halves of src's lanes, in dst's lower or upper half",
    )
)  # fmt: skip
UNPACK = declare(
    Row(
        "UnPack", "reg.unpack", PipeID.PIPE_V, "reg_shuffle", "UnPack",
        {"3510": ((uint16, uint8), (int16, int8), (uint32, uint16), (int32, int16))}, None,
        "dst = src's lower or upper half, widened",
    )
)  # fmt: skip


_ROUND: tuple[RoundMode, ...] = (
    RoundMode.CAST_RINT, RoundMode.CAST_ROUND, RoundMode.CAST_FLOOR, RoundMode.CAST_CEIL, RoundMode.CAST_TRUNC
)  # fmt: skip
_EXACT: tuple[RoundMode, ...] = (RoundMode.CAST_NONE,)
CAST_MODES: dict[tuple[DataType, DataType], tuple[RoundMode, ...]] = {
    (int64, float32): _ROUND, (int32, float32): _ROUND, (int16, float32): _ROUND,
    (float16, float32): (*_ROUND, RoundMode.CAST_ODD), (bfloat16, float32): _ROUND,
    (int32, float16): _ROUND, (int16, float16): _ROUND, (int8, float16): _ROUND, (uint8, float16): _ROUND,
    (float32, float16): _EXACT, (float32, bfloat16): _EXACT, (bfloat16, float16): _ROUND, (float16, bfloat16): _ROUND,
    (int32, bfloat16): _ROUND,
    (float16, uint8): _EXACT, (float16, int8): _EXACT, (float16, int16): _ROUND, (float32, int16): _EXACT,
    (float32, int32): _ROUND, (float32, int64): _ROUND,
    (uint16, uint8): _EXACT, (uint32, uint8): _EXACT, (int16, int8): _EXACT, (int32, int8): _EXACT,
    (int32, int16): _EXACT, (uint32, uint16): _EXACT, (int64, int32): _EXACT,
    (uint8, uint16): _EXACT, (uint8, uint32): _EXACT, (uint16, uint32): _EXACT, (int16, int32): _EXACT,
    (uint8, int16): _EXACT, (uint8, int32): _EXACT, (int32, int64): _EXACT,
}  # fmt: skip
"""(destination, source): round modes. The official pairs of the register table and of the memory form on 3510."""

CAST = declare(
    Row(
        "Cast", "reg.cast", PipeID.PIPE_V, "reg_cast", "Cast", {"3510": tuple(CAST_MODES)}, None,
        "dst = src in dst's dtype, rounded; the layout names the narrow lanes that take part",
    )
)  # fmt: skip
