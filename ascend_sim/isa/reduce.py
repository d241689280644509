"""Rows and meanings of the reductions (soc_specs 2.5, 2.7).

A sum adds neighbours, then neighbours of the results, and so on: a binary tree in the type of the operand, rounded at
every step. Lanes that the mask leaves out count as 0 in sums and not at all in maxima. Of equal extremes the first lane
wins; NaN wins over numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ascend_sim.isa.dtypes import DataType, float16, float32, int16, int32, uint16, uint32
from ascend_sim.isa.numeric import Array, maximum, saturate_half
from ascend_sim.isa.row import Row, declare
from ascend_sim.program import PipeID

FLOATS = ((float16, float16), (float32, float32))
_EXTREMES_950 = tuple((t, t) for t in (int16, uint16, float16, int32, uint32, float32))
_SUMS_950 = (*FLOATS, (int32, int16), (int32, int32), (uint32, uint16), (uint32, uint32))


def _row(name: str, call: str, form: str, cost: str, on_3510: Any, note: str) -> Row:
    return declare(Row(name, call, PipeID.PIPE_V, form, cost, {"2201": FLOATS, "3510": on_3510}, note=note))


WHOLE_REDUCE_SUM = _row(
    "WholeReduceSum", "whole_reduce_sum", "reduce_repeat", "ReduceRepeat", _SUMS_950,
    "one sum per repeat, added as a binary tree",
)  # fmt: skip
WHOLE_REDUCE_MAX = _row(
    "WholeReduceMax", "whole_reduce_max", "reduce_repeat", "ReduceRepeat", _EXTREMES_950,
    "one maximum per repeat, with or without its lane number",
)  # fmt: skip
WHOLE_REDUCE_MIN = _row(
    "WholeReduceMin", "whole_reduce_min", "reduce_repeat", "ReduceRepeat", _EXTREMES_950,
    "one minimum per repeat, with or without its lane number",
)  # fmt: skip
REPEAT_REDUCE_SUM = _row(
    "RepeatReduceSum", "repeat_reduce_sum", "reduce_repeat", "ReduceRepeat", FLOATS,
    "one sum per repeat, added as a binary tree",
)  # fmt: skip
BLOCK_REDUCE_SUM = _row(
    "BlockReduceSum", "block_reduce_sum", "reduce_block", "ReduceDataBlock", FLOATS,
    "one sum per 32 B block, added as a binary tree; a block without active lanes leaves dst as it is",
)  # fmt: skip
BLOCK_REDUCE_MAX = _row(
    "BlockReduceMax", "block_reduce_max", "reduce_block", "ReduceDataBlock", FLOATS,
    "one maximum per 32 B block; a block without active lanes leaves dst as it is",
)  # fmt: skip
BLOCK_REDUCE_MIN = _row(
    "BlockReduceMin", "block_reduce_min", "reduce_block", "ReduceDataBlock", FLOATS,
    "one minimum per 32 B block; a block without active lanes leaves dst as it is",
)  # fmt: skip
PAIR_REDUCE_SUM = _row(
    "PairReduceSum", "pair_reduce_sum", "reduce_pair", "ReducePairElem", FLOATS,
    "sums of neighbours; a pair without active lanes leaves dst as it is",
)  # fmt: skip
REDUCE_SUM = _row(
    "ReduceSum", "reduce_sum", "reduce_tensor", "ReduceRepeat", FLOATS,
    "one sum of everything: a binary tree within a repeat; repeats in order (count form) or as a tree (mask form)",
)  # fmt: skip
REDUCE_MAX = _row(
    "ReduceMax", "reduce_max", "reduce_tensor", "ReduceRepeat", _EXTREMES_950,
    "the maximum of everything, with its index if asked",
)  # fmt: skip
REDUCE_MIN = _row(
    "ReduceMin", "reduce_min", "reduce_tensor", "ReduceRepeat", _EXTREMES_950,
    "the minimum of everything, with its index if asked",
)  # fmt: skip


def add_rounded(a: Array, b: Array, saturates: bool) -> Array:
    """a + b in their own type, rounded once; float16 saturates when the flag says so."""
    if a.dtype != np.float16:
        result: Array = a + b
        return result
    half = (a.astype(np.float32) + b.astype(np.float32)).astype(np.float16)
    return saturate_half(half) if saturates else half


def tree_sum(rows: Array, saturates: bool) -> Array:
    """Sum of the last axis (a power of two long) as a binary tree of neighbours."""
    return fold(rows, lambda a, b: add_rounded(a, b, saturates))


def fold(rows: Array, function: Any) -> Array:
    """A function of two, over the last axis (a power of two long)."""
    while rows.shape[-1] > 1:
        rows = function(rows[..., 0::2], rows[..., 1::2])
    return rows[..., 0]


def filler(dtype: DataType, extreme: Any) -> Any:
    """What stands for a lane that takes no part: 0 in sums, the value that never wins in maxima and minima."""
    if extreme is None:
        return dtype.numpy.type(0)
    if dtype.is_float:
        return dtype.numpy.type(-np.inf if extreme is maximum else np.inf)
    info = np.iinfo(dtype.numpy)
    return dtype.numpy.type(info.min if extreme is maximum else info.max)


def first_extreme(rows: Array, active: Array, extreme: Any) -> Array:
    """Lane number of the first maximum (minimum) among the active lanes of every row."""
    best = (np.max if extreme is maximum else np.min)(rows, axis=-1, keepdims=True)
    is_best = (rows == best) | (np.isnan(rows) if rows.dtype.kind == "f" else False)
    found: Array = np.argmax(is_best & active, axis=-1)
    return found
