"""Rows and meanings of comparing and selecting (soc_specs 2.5, 2.7).

Comparisons give one bit per element, the first element in the lowest bit of the first byte. On 2201 int32 can only be
compared for equality.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ascend_sim.isa.dtypes import (
    DataType,
    bfloat16,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from ascend_sim.isa.enums import CMPMODE
from ascend_sim.isa.row import Row, declare
from ascend_sim.program import PipeID

Types = tuple[DataType, ...]

_COMPARED_2201: Types = (float16, float32, int32)
_COMPARED_950: Types = (
    int8, uint8, int16, uint16, float16, bfloat16, int32, uint32, float32, int64, uint64, float64,
)  # fmt: skip
_SELECTED_950: Types = (int8, uint8, int16, uint16, float16, bfloat16, int32, uint32, float32, int64, uint64)
_BITS: Types = (uint8, uint16, uint32, uint64)
_ALL: Types = (int8, uint8, int16, uint16, float16, bfloat16, int32, uint32, float32)

COMPARE = declare(
    Row(
        "Compare", "compare", PipeID.PIPE_V, "compare", "Compare",
        {
            "2201": tuple((dst, t, t) for dst in (uint8, int8) for t in _COMPARED_2201),
            "3510": tuple((dst, t, t) for dst in (uint8, int8) for t in _COMPARED_950),
        },
        note="bit i of dst = src0[i] <cmp_mode> src1[i], first element in the lowest bit",
    )
)  # fmt: skip
COMPARE_TO_REGISTER = declare(
    Row(
        "Compare", "compare_to_register", PipeID.PIPE_V, "compare_register", "Compare",
        {"2201": ((float16, float16), (float32, float32)), "3510": ((float16, float16), (float32, float32))},
        note="as Compare for one repeat, into the 128-bit compare-mask register (asc.compare without dst)",
    )
)  # fmt: skip
COMPARE_SCALAR = declare(
    Row(
        "CompareScalar", "compare_scalar", PipeID.PIPE_V, "compare_scalar", "CompareScalar",
        {
            "2201": tuple((uint8, t) for t in _COMPARED_2201),
            "3510": tuple((uint8, t) for t in _COMPARED_950),
        },
        note="bit i of dst = src0[i] <cmp_mode> scalar, first element in the lowest bit",
    )
)  # fmt: skip
SELECT = declare(
    Row(
        "Select", "select", PipeID.PIPE_V, "select", "Select",
        {
            "2201": tuple((t, bits, t) for t in (float16, float32) for bits in _BITS),
            "3510": tuple((t, bits, t) for t in _SELECTED_950 for bits in _BITS),
        },
        note="dst[i] = src0[i] where the bit of sel_mask is 1, else src1[i] or the scalar",
    )
)  # fmt: skip
GET_CMP_MASK = declare(
    Row(
        "GetCmpMask", "get_cmp_mask", PipeID.PIPE_V, "register", "GetCmpMask",
        {arch: tuple((t,) for t in _ALL) for arch in ("2201", "3510")},
        note="first 16 bytes of dst = compare-mask register",
    )
)  # fmt: skip
SET_CMP_MASK = declare(
    Row(
        "SetCmpMask", "set_cmp_mask", PipeID.PIPE_V, "register", "SetCmpMask",
        {arch: tuple((t,) for t in (*_ALL, uint64, int64)) for arch in ("2201", "3510")},
        note="compare-mask register = first 16 bytes of src",
    )
)  # fmt: skip

COMPARISONS: dict[CMPMODE, Any] = {
    CMPMODE.LT: np.less,
    CMPMODE.GT: np.greater,
    CMPMODE.EQ: np.equal,
    CMPMODE.LE: np.less_equal,
    CMPMODE.GE: np.greater_equal,
    CMPMODE.NE: np.not_equal,
}
