"""Device memory that callers ask for and give back (aclrtMalloc, aclrtFree), and the account of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.asc.memory import GlobalMemory, as_bytes
from ascend_sim.errors import InputError

_UNSET_BYTE = 0xFF  # what nobody wrote is NaN as a float


class DeviceBuffer:
    """A piece of device memory. `data` are its bytes (uint8), None on a device without values or once it is freed."""

    __slots__ = ("__weakref__", "address", "data", "freed", "memory", "name", "nbytes")

    def __init__(self, memory: DeviceMemory, name: str, nbytes: int, data: npt.NDArray[np.uint8] | None) -> None:
        self.memory = memory
        self.name = name
        self.nbytes = nbytes
        self.data = data
        self.freed = False
        self.address = memory.place(name, self if data is None else data, nbytes, None).base

    def write(self, array: npt.NDArray[Any], offset_bytes: int = 0) -> None:
        """Copy host values in (aclrtMemcpy, host to device)."""
        source = as_bytes(np.ascontiguousarray(array))
        self._bytes(offset_bytes, source.nbytes, "write")[...] = source

    def read(self, array: npt.NDArray[Any], offset_bytes: int = 0) -> npt.NDArray[Any]:
        """Copy values out into a contiguous host array (aclrtMemcpy, device to host), and answer that array.

        As on a board this does not wait for a stream: synchronize first.
        """
        if not array.flags.c_contiguous:
            raise InputError(f"read: the host array must be contiguous; its strides are {array.strides} B")
        as_bytes(array)[...] = self._bytes(offset_bytes, array.nbytes, "read")
        return array

    def free(self) -> None:
        """Give the memory back (aclrtFree)."""
        self.memory.free(self)

    def _bytes(self, start: int, nbytes: int, verb: str) -> npt.NDArray[np.uint8]:
        if self.freed:
            raise InputError(f"{verb}: {self} has been freed")
        if start < 0 or start + nbytes > self.nbytes:
            raise InputError(f"{verb}: {nbytes} B from byte {start} do not lie in {self}")
        if self.data is None:
            raise InputError(f"{verb}: {self} holds no data, its device runs without values")
        return self.data[start : start + nbytes]

    def __repr__(self) -> str:
        return f"buffer {self.name!r} of {self.nbytes} B"


class DeviceMemory(GlobalMemory):
    """Global memory of a device with an account of what was asked for and not given back.

    Arrays that kernels get directly lie in global memory as well but belong to the host's Python: they do not count.
    """

    def __init__(self, capacity_bytes: int | None = None, *, values: bool = True) -> None:
        super().__init__()
        self.capacity_bytes = capacity_bytes
        self.values = values
        self.peak_bytes = 0
        self.allocations = 0
        self._live: dict[int, DeviceBuffer] = {}

    @property
    def live(self) -> tuple[DeviceBuffer, ...]:
        """The buffers that are not freed, oldest first: at the end of a program these are its leaks."""
        return tuple(self._live.values())

    @property
    def live_bytes(self) -> int:
        return sum(buffer.nbytes for buffer in self._live.values())

    def malloc(self, nbytes: int, name: str = "") -> DeviceBuffer:
        """`nbytes` bytes of device memory, each 0xFF. `name` shows in errors and in `report`."""
        if isinstance(nbytes, bool) or not isinstance(nbytes, int) or nbytes <= 0:
            raise InputError(f"malloc: the size is {nbytes!r}; it must be a positive number of bytes")
        if self.capacity_bytes is not None and self.live_bytes + nbytes > self.capacity_bytes:
            raise InputError(
                f"malloc: out of device memory: {nbytes} B asked for, {self.live_bytes} of {self.capacity_bytes} B "
                "are in use"
            )
        self.allocations += 1
        data = np.full(nbytes, _UNSET_BYTE, np.uint8) if self.values else None
        buffer = DeviceBuffer(self, name or f"buffer {self.allocations}", nbytes, data)
        self._live[buffer.address] = buffer
        self.peak_bytes = max(self.peak_bytes, self.live_bytes)
        return buffer

    def free(self, buffer: DeviceBuffer) -> None:
        """Give `buffer` back; freeing twice, or what another device gave, is refused."""
        if buffer.memory is not self:
            raise InputError(f"free: {buffer} belongs to another device")
        if buffer.freed:
            raise InputError(f"free: {buffer} has been freed already")
        del self._live[buffer.address]
        buffer.freed = True
        buffer.data = None

    def report(self) -> str:
        """One line on all, and one per buffer that is still there."""
        freed = self.allocations - len(self._live)
        lines = [
            f"{self.allocations} allocated, {freed} freed, {len(self._live)} live ({self.live_bytes} B), "
            f"peak {self.peak_bytes} B"
        ]
        lines += [f"  {buffer.name}: {buffer.nbytes} B at {buffer.address:#x}" for buffer in self.live]
        return "\n".join(lines)
