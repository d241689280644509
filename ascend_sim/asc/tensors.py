"""Tensors of the kernel language: views of unified buffer (LocalTensor) and global memory (GlobalTensor)."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from ascend_sim.asc.memory import Allocation
from ascend_sim.errors import KernelError
from ascend_sim.isa.dtypes import DataType


class TPosition(IntEnum):
    """Logical positions, numbered as in Ascend C; on an AIV VECIN, VECOUT and VECCALC are unified buffer."""

    GM = 0
    A1 = 1
    A2 = 2
    B1 = 3
    B2 = 4
    C1 = 5
    C2 = 6
    CO1 = 7
    CO2 = 8
    VECIN = 9
    VECOUT = 10
    VECCALC = 11
    MAX = 12


class LocalTensor:
    """`size` elements of `dtype` at byte address `addr` of the unified buffer.

    `key` packs all of it into one integer for the recorder. Slices are views, kept with their tensor so that a loop
    that slices the same way every tile makes them once.
    """

    __slots__ = ("_views", "addr", "buffer", "dtype", "key", "position", "size")

    def __init__(self, dtype: DataType, pos: TPosition, addr: int, tile_size: int, buffer: int = 0) -> None:
        self.dtype = dtype
        self.position = pos
        self.addr = addr
        self.size = tile_size
        self.buffer = buffer
        self.key = addr | tile_size << 20 | dtype.code << 42 | pos << 47 | buffer << 52
        self._views: dict[Any, LocalTensor] = {}

    def __getitem__(self, index: Any) -> LocalTensor:
        view = self._views.get(index) if type(index) is int else None
        if view is None:
            view = self._slice(index)
        return view

    def _slice(self, index: Any) -> LocalTensor:
        offset = element_offset(index)
        if not 0 <= offset <= self.size:
            raise KernelError(f"LocalTensor slice starts at element {offset}, allowed are 0..{self.size}")
        view = self._views[offset] = LocalTensor(
            self.dtype, self.position, self.addr + offset * self.dtype.itemsize, self.size - offset, self.buffer
        )
        return view


class GlobalAddress:
    """A kernel argument: the address of a host array on the device, typed by the array."""

    __slots__ = ("allocation", "dtype", "offset")

    def __init__(self, allocation: Allocation, dtype: DataType, offset: int = 0) -> None:
        self.allocation = allocation
        self.dtype = dtype
        self.offset = offset  # bytes from the allocation's start

    def __add__(self, elements: int) -> GlobalAddress:
        return GlobalAddress(self.allocation, self.dtype, self.offset + int(elements) * self.dtype.itemsize)


class GlobalTensor:
    """A typed window of global memory: `offset` bytes into `allocation`; `l2_bypass` is the L2 cache hint."""

    __slots__ = ("allocation", "dtype", "l2_bypass", "offset", "size")

    allocation: Allocation
    dtype: DataType
    offset: int
    size: int

    def __init__(self) -> None:
        self.l2_bypass = False
        self.size = 0

    def __getitem__(self, index: Any) -> GlobalTensor:
        elements = element_offset(index)
        view = GlobalTensor.__new__(GlobalTensor)
        view.allocation = self.allocation
        view.dtype = self.dtype
        view.offset = self.offset + elements * self.dtype.itemsize
        view.size = self.size - elements if self.size else 0
        view.l2_bypass = self.l2_bypass
        return view


def element_offset(index: Any) -> int:
    """`t[i]` and `t[i:]` both mean "from element i on"; anything else is refused as pyasc does."""
    if isinstance(index, slice):
        if index.stop is not None or index.step is not None or index.start is None:
            raise KernelError(f"tensor slices take the form t[i] or t[i:], not {index}")
        index = index.start
    try:
        return int(index.__index__())
    except AttributeError:
        raise KernelError(f"tensor index must be an integer, not {type(index).__name__}") from None
