"""Rows of the instructions that move data without computing: DataCopy, DataCopyPad and their kin.

Data types: soc_specs 2.7. Pipes: soc_specs 2.1 and 2.4.
"""

from __future__ import annotations

from ascend_sim.isa import dtypes as t
from ascend_sim.isa.dtypes import DataType
from ascend_sim.isa.row import Row, declare
from ascend_sim.program import PipeID

B8 = (t.int8, t.uint8)
B16 = (t.int16, t.uint16, t.float16, t.bfloat16)
B32 = (t.int32, t.uint32, t.float32)
B64 = (t.int64, t.uint64)
ALL_MOVABLE = (*B8, *B16, *B32, *B64, t.float64)


def same(operands: int, *allowed: DataType) -> tuple[tuple[DataType, ...], ...]:
    """Tuples of `operands` equal dtypes."""
    return tuple((dtype,) * operands for dtype in allowed)


def both(
    a2201: tuple[DataType, ...], a3510: tuple[DataType, ...] | None = None
) -> dict[str, tuple[tuple[DataType, ...], ...]]:
    """dtypes of a move with one destination and one source of the same dtype."""
    return {"2201": same(2, *a2201), "3510": same(2, *(a3510 or a2201))}


DATA_COPY_IN = declare(
    Row("DataCopy", "data_copy_gm_ub", PipeID.PIPE_MTE2, "gm_to_ub", "DataCopy", both(ALL_MOVABLE), note="GM -> UB")
)
DATA_COPY_OUT = declare(
    Row("DataCopy", "data_copy_ub_gm", PipeID.PIPE_MTE3, "ub_to_gm", "DataCopy", both(ALL_MOVABLE), note="UB -> GM")
)
DATA_COPY_LOCAL = declare(
    Row("DataCopy", "data_copy_ub_ub", PipeID.PIPE_V, "ub_to_ub", "DataCopyUB", both(ALL_MOVABLE), note="UB -> UB")
)
DATA_COPY_PAD_IN = declare(
    Row(
        "DataCopyPad",
        "data_copy_pad_gm_ub",
        PipeID.PIPE_MTE2,
        "gm_to_ub",
        "DataCopyPad",
        both(ALL_MOVABLE),
        note="GM -> UB",
    )
)
DATA_COPY_PAD_OUT = declare(
    Row(
        "DataCopyPad",
        "data_copy_pad_ub_gm",
        PipeID.PIPE_MTE3,
        "ub_to_gm",
        "DataCopyPad",
        both(ALL_MOVABLE),
        note="UB -> GM",
    )
)


def _one(*allowed: DataType) -> tuple[tuple[DataType, ...], ...]:
    return tuple((dtype,) for dtype in allowed)


_WIDE_3510 = (*B8, *B16, *B32, *B64)

COPY = declare(
    Row(
        "Copy",
        "copy",
        PipeID.PIPE_V,
        "copy",
        "Copy",
        both((*B16, *B32), _WIDE_3510),
        note="dst = src inside UB, under a mask",
    )
)
DUPLICATE = declare(
    Row(
        "Duplicate",
        "duplicate",
        PipeID.PIPE_V,
        "duplicate",
        "Duplicate",
        {"2201": _one(*B16, *B32), "3510": _one(*_WIDE_3510)},
        note="dst = scalar in every lane",
        count_only={"3510": (*B8, *B64)},
    )
)
BRCB = declare(
    Row(
        "Brcb",
        "brcb",
        PipeID.PIPE_V,
        "brcb",
        "Brcb",
        both((*B16, *B32), _WIDE_3510),
        note="each of 8 elements of src fills one 32 B block of dst",
    )
)


def _offset(*allowed: DataType) -> tuple[tuple[DataType, ...], ...]:
    """dst, src and an offset tensor of uint32."""
    return tuple((dtype, dtype, t.uint32) for dtype in allowed)


GATHER = declare(
    Row(
        "Gather",
        "gather",
        PipeID.PIPE_V,
        "gather",
        "Gather",
        {"2201": _offset(*B16, *B32), "3510": _offset(*_WIDE_3510)},
        note="dst[i] = the element of src at byte src_base + offset[i]",
        count_only={"3510": B8},
    )
)
GATHERB = declare(
    Row(
        "Gatherb",
        "gatherb",
        PipeID.PIPE_V,
        "gatherb",
        "Gatherb",
        {"2201": _offset(t.uint16, t.uint32), "3510": _offset(*_WIDE_3510)},
        note="block i of dst = the 32 B block of src at byte offset[i]",
    )
)
SCATTER = declare(
    Row(
        "Scatter",
        "scatter",
        PipeID.PIPE_V,
        "scatter",
        "Scatter",
        {"3510": _offset(*_WIDE_3510)},
        note="the element of dst at byte dst_base + offset[i] = src[i]",
        count_only={"3510": B8},
    )
)


def _gather_mask(*groups: tuple[tuple[DataType, ...], DataType]) -> tuple[tuple[DataType, ...], ...]:
    """dst, src0 and a tensor of pattern bits as wide as the data."""
    return tuple((dtype, dtype, bits) for dtypes, bits in groups for dtype in dtypes)


GATHER_MASK = declare(
    Row(
        "GatherMask",
        "gather_mask",
        PipeID.PIPE_V,
        "gather_mask",
        "GatherMask",
        {
            "2201": _gather_mask((B16, t.uint16), (B32, t.uint32)),
            "3510": _gather_mask((B8, t.uint8), (B16, t.uint16), (B32, t.uint32)),
        },
        note="dst = the elements of src0 whose pattern bit is set, packed",
    )
)
GATHER_MASK_COUNT = declare(
    Row(
        "GetGatherMaskRemainCount",
        "get_gather_mask_remain_count",
        PipeID.PIPE_S,
        "scalar",
        "get_value",
        note="how many elements the last GatherMask kept",
    )
)
_SQUARE = (t.int16, t.uint16, t.float16)
TRANSPOSE = declare(
    Row(
        "Transpose",
        "transpose",
        PipeID.PIPE_V,
        "transpose",
        "Transpose",
        both(_SQUARE),
        note="dst = src turned, 16x16",
    )
)
_LAYOUT = (*B8, t.int16, t.uint16, t.float16, *B32)
TRANSPOSE_LAYOUT = declare(
    Row(
        "Transpose",
        "transpose_layout",
        PipeID.PIPE_V,
        "sequence",
        "Transpose",
        both(_LAYOUT, (*_LAYOUT, t.bfloat16)),
        note="NCHW <-> NHWC: a sequence of TransDataTo5HD and DataCopy",
    )
)
TRANS_DATA_TO_5HD = declare(
    Row(
        "TransDataTo5HD",
        "trans_data_to_5hd",
        PipeID.PIPE_V,
        "trans_data_to_5hd",
        "TransDataTo5HD",
        both(_LAYOUT, (*_LAYOUT, t.bfloat16)),
        note="16 blocks of src turned into 16 blocks of dst",
    )
)
