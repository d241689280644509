"""GetValue and SetValue: single elements of unified buffer or global memory, read and written by the scalar unit."""

from __future__ import annotations

from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from ascend_sim.asc.plain import integer
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.scalars import SCALARS, UnknownScalar
from ascend_sim.errors import KernelError
from ascend_sim.isa.control import GET_VALUE, SET_VALUE
from ascend_sim.program import Instr, Memory, PipeID, Region, ScalarWork

if TYPE_CHECKING:
    from ascend_sim.asc.tensors import GlobalTensor, LocalTensor


def load_local(tensor: LocalTensor, index: Any, frame: FrameType) -> Any:
    """Element `index` of a tensor in unified buffer."""
    start = _local_address(tensor, index, "get_value")
    _record(Memory.UB, start, tensor.dtype.itemsize, False, frame)
    if not RECORDER.values:
        return UnknownScalar(tensor.dtype)
    return _read(RECORDER.ub, start, tensor.dtype)


def store_local(tensor: LocalTensor, index: Any, value: Any, frame: FrameType) -> None:
    """Write element `index` of a tensor in unified buffer; `value` is converted to the tensor's dtype."""
    start = _local_address(tensor, index, "set_value")
    _record(Memory.UB, start, tensor.dtype.itemsize, True, frame)
    if RECORDER.values:
        _write(RECORDER.ub, start, tensor.dtype, value)


def load_global(tensor: GlobalTensor, index: Any, frame: FrameType) -> Any:
    """Element `index` of a tensor in global memory."""
    start = _global_offset(tensor, index, "get_value")
    _record(Memory.GM, 0, tensor.dtype.itemsize, False, frame)
    RECORDER.gm_append(tensor.allocation.base + start)
    if tensor.allocation.data is None:  # a run without values, and no tiling data either
        return UnknownScalar(tensor.dtype)
    return _read(tensor.allocation.data, start, tensor.dtype)


def store_global(tensor: GlobalTensor, index: Any, value: Any, frame: FrameType) -> None:
    """Write element `index` of a tensor in global memory; `value` is converted to the tensor's dtype."""
    start = _global_offset(tensor, index, "set_value")
    _record(Memory.GM, 0, tensor.dtype.itemsize, True, frame)
    RECORDER.gm_append(tensor.allocation.base + start)
    if RECORDER.values:
        _write(tensor.allocation.data, start, tensor.dtype, value)


def _record(memory: Memory, start: int, nbytes: int, store: bool, frame: FrameType) -> None:
    key = ("GetValue", memory, start, nbytes, store, RECORDER.pending, id(frame.f_code), frame.f_lasti)
    instr = RECORDER.cache.get(key)
    if instr is None:
        regions = (Region(memory, start, nbytes),)
        instr = RECORDER.cache[key] = Instr(
            SET_VALUE if store else GET_VALUE,
            PipeID.PIPE_S,
            ScalarWork(memory, nbytes, store),
            reads=() if store else regions,
            writes=regions if store else (),
            scalar_calls=RECORDER.pending,
            place=RECORDER.place(frame),
            detail=memory.name if memory is Memory.GM else f"UB[{start}]",
        )
    RECORDER.pending = 0
    RECORDER.append(instr)


def _local_address(tensor: LocalTensor, index: Any, call: str) -> int:
    position = integer(f"{call}: the index", index)
    if not 0 <= position < tensor.size:
        raise KernelError(f"{call}: index {position} is outside the tensor, allowed are 0..{tensor.size - 1}")
    return tensor.addr + position * tensor.dtype.itemsize


def _global_offset(tensor: GlobalTensor, index: Any, call: str) -> int:
    nbytes, position = tensor.dtype.itemsize, integer(f"{call}: the index", index)
    start = tensor.offset + position * nbytes
    if start < 0 or start + nbytes > tensor.allocation.nbytes:
        raise KernelError(
            f"{call}: element {position} of the GlobalTensor is outside its array {tensor.allocation.name!r} "
            f"(bytes {start}..{start + nbytes - 1} of {tensor.allocation.nbytes})"
        )
    return start


def _read(memory: Any, start: int, dtype: Any) -> Any:
    return SCALARS[dtype].wrap(memory[start : start + dtype.itemsize].view(dtype.numpy)[0])


def _write(memory: Any, start: int, dtype: Any, value: Any) -> None:
    with np.errstate(over="ignore"):
        converted = SCALARS[dtype].wrap(value)
        memory[start : start + dtype.itemsize].view(dtype.numpy)[0] = converted
