"""Global memory of a simulated device: allocations with their own byte addresses, on the bytes of host arrays."""

from __future__ import annotations

import math
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.errors import InputError
from ascend_sim.isa.dtypes import DataType

GM_ALIGNMENT_BYTES = 512  # kernel arguments are 512 B aligned (CANN host guide)


class DeviceArray:
    """A kernel argument without data, for runs that only ask for the time: a shape and a data type."""

    __slots__ = ("__weakref__", "dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: DataType | str) -> None:
        self.shape = tuple(int(n) for n in shape)
        if any(n < 0 for n in self.shape):
            raise InputError(f"DeviceArray shape {self.shape}: every dimension must be 0 or more")
        self.dtype = dtype if isinstance(dtype, DataType) else DataType(dtype)

    @property
    def size(self) -> int:
        """Elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def __repr__(self) -> str:
        return f"DeviceArray({self.shape}, {self.dtype.name!r})"


class HostData(np.ndarray[Any, Any]):
    """A kernel argument that the host fills for the kernel's scalar unit: tiling data.

    Its elements can be read in runs without values too, which need them to know how far a kernel's loops go. Make one
    by `array.view(HostData)`.
    """


@dataclass(slots=True, eq=False)
class Allocation:
    """`data` is the backing store as bytes, or None when a launch runs without values."""

    name: str
    base: int
    nbytes: int
    data: npt.NDArray[np.uint8] | None


@dataclass(slots=True)
class _Known:
    """An object that has its place already; the reference dies with it, so a recycled `id` is not mistaken for it."""

    owner: weakref.ref[Any]
    allocation: Allocation


class GlobalMemory:
    """A bump allocator: the same calls in the same order give the same addresses, and no address is used twice."""

    def __init__(self) -> None:
        self.next_address = GM_ALIGNMENT_BYTES
        self._known: dict[int, _Known] = {}

    def alloc(self, name: str, nbytes: int, data: npt.NDArray[Any] | None) -> Allocation:
        """Place `nbytes` bytes; `data`, if given, is a contiguous array that the kernel then works on directly."""
        found = Allocation(name, self.next_address, nbytes, None if data is None else as_bytes(data))
        self.next_address += -(-max(nbytes, 1) // GM_ALIGNMENT_BYTES) * GM_ALIGNMENT_BYTES
        return found

    def place(self, name: str, owner: object, nbytes: int, data: npt.NDArray[Any] | None) -> Allocation:
        """The allocation of `owner`: the same one for the same living object, else a new one; `data` as in `alloc`.

        The data is only held while a launch runs (`Allocation.data = None` afterwards), or no owner would ever die.
        """
        known = self._known.get(id(owner))
        if known is None or known.owner() is not owner or known.allocation.nbytes != nbytes:
            known = _Known(weakref.ref(owner), self.alloc(name, nbytes, None))
            self._known[id(owner)] = known
        allocation = known.allocation
        allocation.name = name
        allocation.data = None if data is None else as_bytes(data)
        return allocation


def as_bytes(array: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """The bytes of a contiguous (C or Fortran order) array in memory order, without a copy."""
    flat = array if array.flags.c_contiguous else array.T
    return flat.reshape(-1).view(np.uint8)


def memory_root(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array whose memory `array` is a view of, if that is contiguous; else `array` itself."""
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    return root if root.flags.forc and root.nbytes else array
