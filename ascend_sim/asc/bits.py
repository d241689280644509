"""Bit counting and conversion on the scalar unit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ascend_sim.asc.plain import integer, real, shown
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.scalars import number
from ascend_sim.errors import KernelError
from ascend_sim.isa import dtypes
from ascend_sim.isa.dtypes import DataType
from ascend_sim.isa.enums import RoundMode
from ascend_sim.program import ScalarCall

__all__ = [
    "count_bits_cnt_same_as_sign_bit",
    "scalar_cast",
    "scalar_count_leading_zero",
    "scalar_get_count_of_value",
    "scalar_get_sff_value",
]
_BITS = 64
_ALL_ONES = (1 << _BITS) - 1


def _word(call: str, value: Any) -> int:
    """`value` as an unsigned 64-bit word; charges one ALU operation."""
    word = integer(f"{call}: value_in", value)
    RECORDER.charge(ScalarCall.ALU)
    return word & _ALL_ONES


def _bit(call: str, value: Any) -> int:
    bit = integer(f"{call}: count_value", value)
    if bit not in (0, 1):
        raise KernelError(f"{call}: count_value {bit}, allowed are 0 and 1")
    return bit


def scalar_get_sff_value(value_in: int, count_value: int) -> int:
    """Lowest position of a bit equal to `count_value` in the 64-bit word, -1 if there is none (int64)."""
    word = _word("scalar_get_sff_value", value_in)
    wanted = word if _bit("scalar_get_sff_value", count_value) else word ^ _ALL_ONES
    return int(number((wanted & -wanted).bit_length() - 1, dtypes.int64))


def scalar_get_count_of_value(value_in: int, count_value: int) -> int:
    """How many of the 64 bits equal `count_value` (int64)."""
    ones = _word("scalar_get_count_of_value", value_in).bit_count()
    return int(number(ones if _bit("scalar_get_count_of_value", count_value) else _BITS - ones, dtypes.int64))


def scalar_count_leading_zero(value_in: int) -> int:
    """Zero bits before the highest one bit of the 64-bit word (int64)."""
    return int(number(_BITS - _word("scalar_count_leading_zero", value_in).bit_length(), dtypes.int64))


def count_bits_cnt_same_as_sign_bit(value_in: int) -> int:
    """Bits after the sign bit that equal it, up to the first that does not; -1 for 0 and -1 (int64)."""
    word = _word("count_bits_cnt_same_as_sign_bit", value_in)
    magnitude = word ^ _ALL_ONES if word >> (_BITS - 1) else word
    return int(number(-1 if not magnitude else _BITS - 1 - magnitude.bit_length(), dtypes.int64))


_TO_INT32 = {
    RoundMode.CAST_RINT: lambda v: int(np.rint(v)),
    RoundMode.CAST_FLOOR: math.floor,
    RoundMode.CAST_CEIL: math.ceil,
    RoundMode.CAST_ROUND: lambda v: int(math.copysign(math.floor(abs(v) + 0.5), v)),
}


def scalar_cast(value_in: float, dtype: DataType, round_mode: RoundMode) -> Any:
    """A float32 scalar as int32 (RINT, FLOOR, CEIL, ROUND; clamped) or float16 (ODD: an inexact result ends in 1)."""
    given = real("scalar_cast: value_in", value_in)
    RECORDER.charge(ScalarCall.ALU)
    with np.errstate(over="ignore"):
        value = float(np.float32(given))
    if dtype is dtypes.int32 and isinstance(round_mode, RoundMode) and round_mode in _TO_INT32:
        if math.isnan(value):
            return number(0, dtype)
        clamped = min(max(value, -(2.0**31)), 2.0**31 - 1)
        return number(_TO_INT32[round_mode](clamped), dtype)
    if dtype is dtypes.float16 and round_mode is RoundMode.CAST_ODD:
        return number(_round_to_odd(value), dtype)
    raise KernelError(
        f"scalar_cast to {shown(dtype)} with {shown(round_mode)}: allowed are asc.int32 with CAST_RINT, CAST_FLOOR, "
        "CAST_CEIL or CAST_ROUND, and asc.float16 with CAST_ODD"
    )


def _round_to_odd(value: float) -> float:
    """`value` cut to float16 towards zero, with the last bit set when anything was lost."""
    with np.errstate(over="ignore"):
        half = np.float16(value)
    if not np.isfinite(half) and math.isfinite(value):
        half = np.copysign(np.float16(65504), half)
    elif abs(float(half)) > abs(value):
        half = np.nextafter(half, np.float16(0))
    if math.isnan(value) or float(half) == value:
        return float(half)
    return float((half.view(np.uint16) | np.uint16(1)).view(np.float16))
