"""gather and scatter (registers against UB by element numbers), and the memory barrier of vector functions."""

from __future__ import annotations

from enum import IntEnum
from sys import _getframe
from typing import Any

import numpy as np

from ascend_sim.asc.operands import refuse
from ascend_sim.asc.reg.checks import emit, mask_register, name_of, same_dtype, start, vector
from ascend_sim.asc.reg.moves import pointer_of
from ascend_sim.asc.reg.pointer import UbPointer
from ascend_sim.asc.reg.registers import REGISTER_BYTES, RegTensor
from ascend_sim.asc.reg.trace import UbAccess
from ascend_sim.asc.reg.values import Array, Mask, Value
from ascend_sim.isa import reg as rows
from ascend_sim.isa.dtypes import uint16, uint32
from ascend_sim.isa.row import Row
from ascend_sim.program import VfUnit

__all__ = ["MemType", "gather", "local_mem_bar", "scatter"]


class MemType(IntEnum):
    """Accesses that a memory barrier orders."""

    VEC_STORE = 0
    VEC_LOAD = 1
    SCALAR_STORE = 2
    SCALAR_LOAD = 3
    VEC_ALL = 4
    SCALAR_ALL = 5


def local_mem_bar(src: MemType, dst: MemType) -> None:
    """LocalMemBar: accesses of kind `dst` behind it wait for those of kind `src` before it.

    The hardware orders UB accesses of different registers only where this stands.
    """
    row = rows.MEM_BAR
    body = start(row)
    for role, kind in (("src", src), ("dst", dst)):
        if not isinstance(kind, MemType):
            refuse(name_of(row), f"{role} must be a MemType such as MemType.VEC_STORE, not {kind!r}")
    emit(row, _getframe(1), body, (), (), None, "", VfUnit.BARRIER, cost=f"{src.name}:{dst.name}")


def gather(dst: Any, src: Any, index: Any, mask: Any) -> None:
    """Gather: active lanes of dst = src[index lane], the others 0; `index` counts elements (uint16 or uint32 lanes)."""
    row = rows.GATHER
    body = start(row)
    target, numbers = vector(row, "dst", dst, body), vector(row, "index", index, body)
    pointer = _indexed(row, "src", src, target, numbers)
    active = mask_register(row, mask, body)
    size, kind, wanted = pointer.dtype.itemsize, pointer.dtype.numpy, numbers.dtype.numpy
    end = _end(pointer)

    def compute(ub: Array, base: Array, lanes: Value, mask: Mask) -> Value:
        flags = mask.lanes(size)
        at = _addresses(row, base, lanes.raw(wanted), size, flags, end)
        data = ub[at[..., None] + np.arange(size)].view(kind)[..., 0]
        return Value(data if flags is None else np.where(flags, data, kind.type(0)))

    access = UbAccess(pointer.address, REGISTER_BYTES, kind, pointer.tensor, indexed=True)
    emit(row, _getframe(1), body, (target,), (numbers, active), compute, pointer.dtype.name, VfUnit.LOAD, access)


def scatter(dst: Any, src: Any, index: Any, mask: Any) -> None:
    """Scatter: dst[index lane] = active lanes of src; of equal indices the highest lane stays."""
    row = rows.SCATTER
    body = start(row)
    source, numbers = vector(row, "src", src, body), vector(row, "index", index, body)
    pointer = _indexed(row, "dst", dst, source, numbers)
    active = mask_register(row, mask, body)
    size, kind, wanted = pointer.dtype.itemsize, pointer.dtype.numpy, numbers.dtype.numpy
    end = _end(pointer)

    def compute(ub: Array, base: Array, value: Value, lanes: Value, mask: Mask) -> tuple[()]:
        flags = mask.lanes(size)
        at = _addresses(row, base, lanes.raw(wanted), size, flags, end)
        data = np.ascontiguousarray(np.broadcast_to(value.raw(kind), at.shape))
        where = slice(None) if flags is None else np.broadcast_to(flags, at.shape)
        raw = data[where].reshape(-1)
        ub[at[where].reshape(-1)[:, None] + np.arange(size)] = raw.view(np.uint8).reshape(-1, size)
        return ()

    access = UbAccess(pointer.address, REGISTER_BYTES, kind, pointer.tensor, indexed=True)
    reads = (source, numbers, active)
    emit(row, _getframe(1), body, (), reads, compute, pointer.dtype.name, VfUnit.STORE, access, active, size)


def _indexed(row: Row, role: str, tensor: Any, register: RegTensor, index: RegTensor) -> UbPointer:
    pointer = pointer_of(row, role, tensor)
    other = "dst" if role == "src" else "src"
    dtype = same_dtype(row, [(role, pointer.dtype), (other, register.dtype)])
    wanted = uint16 if dtype.itemsize == 2 else uint32
    if index.dtype is not wanted:
        refuse(name_of(row), f"index is {index.dtype.name}, for {dtype.name} it must be {wanted.name}")
    return pointer


def _end(pointer: UbPointer) -> int:
    tensor = pointer.tensor
    return tensor.addr + tensor.size * tensor.dtype.itemsize


def _addresses(row: Row, base: Array, index: Array, size: int, flags: Any, end: int) -> Array:
    """Byte addresses of the lanes; inactive ones stay at the base."""
    numbers = index.astype(np.int64)
    if flags is not None:
        numbers = np.where(flags, numbers, 0)
    at: Array = base[..., None] + numbers * size
    if at.size and int(at.max()) + size > end:
        lane = int(numbers.max())
        refuse(name_of(row), f"index {lane} reaches UB byte {int(at.max())}, but the tensor ends at {end}")
    return at
