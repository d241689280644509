"""Setters of the mask and atomic registers; each takes effect on the calls that follow it."""

from __future__ import annotations

from typing import Any

from ascend_sim.asc.operands import refuse, whole
from ascend_sim.asc.plain import shown
from ascend_sim.asc.recorder import CALL_UNIT, RECORDER, outside_kernel
from ascend_sim.asc.state import FULL_MASK, FULL_WORD, CoreState
from ascend_sim.isa import dtypes as t
from ascend_sim.isa.dtypes import DataType
from ascend_sim.isa.enums import MaskMode
from ascend_sim.program import ScalarCall

__all__ = [
    "reset_mask",
    "set_atomic_add",
    "set_atomic_max",
    "set_atomic_min",
    "set_atomic_none",
    "set_atomic_type",
    "set_mask_count",
    "set_mask_norm",
    "set_vector_mask",
]

ATOMIC_TYPES = (t.int8, t.int16, t.float16, t.bfloat16, t.int32, t.float32)  # soc_specs 2.5, both architectures


def set_mask_count() -> None:
    """Counter mode: a mask counts the elements of the whole call, and `repeat_times` is ignored."""
    _set(ScalarCall.MASK, RECORDER.state.replace(mask_mode=MaskMode.COUNTER))


def set_mask_norm() -> None:
    """Normal mode, in which every block starts: a mask selects lanes of each repeat."""
    _set(ScalarCall.MASK, RECORDER.state.replace(mask_mode=MaskMode.NORMAL))


def reset_mask() -> None:
    """Both mask words all ones."""
    _set(ScalarCall.MASK, RECORDER.state.replace(mask=FULL_MASK))


def set_vector_mask(
    mask_high: Any = None,
    mask_low: Any = None,
    *,
    length: Any = None,
    dtype: DataType = t.float16,
    mode: MaskMode = MaskMode.NORMAL,
) -> None:
    """Set the mask registers for calls with `is_set_mask=False`.

    `set_vector_mask(length, dtype=..., mode=...)`: the first `length` lanes (`mode` NORMAL), or the number of elements
    of a whole call (`mode` COUNTER). `set_vector_mask(mask_high, mask_low, dtype=..., mode=...)`: 64 bits each, lane 0
    in the lowest bit of `mask_low`; in COUNTER mode `mask_low` is the number of elements.
    """
    op = "SetVectorMask"
    if length is not None and (mask_high is not None or mask_low is not None):
        refuse(op, "give either length or mask_high and mask_low")
    if mask_low is None:
        length = mask_high if length is None else length
        if length is None:
            refuse(op, "give length, or mask_high and mask_low")
        mask = _length_mask(op, length, dtype, mode)
    else:
        mask = whole(op, "mask_low", mask_low, 0, FULL_WORD), whole(op, "mask_high", mask_high, 0, FULL_WORD)
    _set(ScalarCall.MASK, RECORDER.state.replace(mask=mask))


def _length_mask(op: str, length: Any, dtype: Any, mode: Any) -> tuple[int, int]:
    if not isinstance(mode, MaskMode):
        refuse(op, f"mode must be a MaskMode, not {shown(mode)}")
    if mode is MaskMode.COUNTER:
        return whole(op, "length", length, 0, 0xFFFFFFFF), 0
    if not isinstance(dtype, DataType) or not dtype.itemsize:
        refuse(op, f"dtype must be an asc data type, not {shown(dtype)}")
    lanes = 256 // max(2, dtype.itemsize)
    bits = (1 << whole(op, "length", length, 0, lanes, f"{lanes} lanes of {dtype.name} a repeat")) - 1
    return bits & FULL_WORD, bits >> 64


def set_atomic_add(dtype: DataType) -> None:
    """Later UB -> GM copies add to what GM holds, element by element in `dtype`, until set_atomic_none."""
    _set_atomic("SetAtomicAdd", "add", dtype)


def set_atomic_max(dtype: DataType) -> None:
    """Later UB -> GM copies keep the larger of GM's and UB's element, until set_atomic_none."""
    _set_atomic("SetAtomicMax", "max", dtype)


def set_atomic_min(dtype: DataType) -> None:
    """Later UB -> GM copies keep the smaller of GM's and UB's element, until set_atomic_none."""
    _set_atomic("SetAtomicMin", "min", dtype)


def set_atomic_type(dtype: DataType) -> None:
    """Switch atomics on in `dtype` with the operation that was set last (add at first)."""
    _set_atomic("SetAtomicType", RECORDER.state.register("atomic_op", "add"), dtype)


def set_atomic_none() -> None:
    """Later UB -> GM copies simply store."""
    _set(ScalarCall.ATOMIC, RECORDER.state.replace(atomic=None))


def _set_atomic(op: str, name: str, dtype: Any) -> None:
    if not isinstance(dtype, DataType) or dtype not in ATOMIC_TYPES:
        given = dtype.name if isinstance(dtype, DataType) else shown(dtype)
        refuse(op, f"dtype is {given}, allowed are {', '.join(item.name for item in ATOMIC_TYPES)}")
    state = RECORDER.state.replace(atomic=f"{name}:{dtype.name}")
    if state.register("atomic_op", "add") != name:
        state = state.with_register("atomic_op", name)
    _set(ScalarCall.ATOMIC, state)


def _set(kind: ScalarCall, state: CoreState) -> None:
    if not RECORDER.arch:
        outside_kernel()
    RECORDER.state = state
    RECORDER.pending += CALL_UNIT[kind]
