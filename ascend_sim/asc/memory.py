"""Global memory of a simulated device: named allocations with their own byte addresses and real bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

GM_ALIGNMENT_BYTES = 512  # kernel arguments are 512 B aligned (CANN host guide)


@dataclass(slots=True, eq=False)
class Allocation:
    """`data` is the backing store as bytes, or None when a launch runs without values."""

    name: str
    base: int
    nbytes: int
    data: npt.NDArray[np.uint8] | None


class GlobalMemory:
    """A bump allocator: the same calls in the same order give the same addresses."""

    def __init__(self) -> None:
        self.next_address = GM_ALIGNMENT_BYTES
        self.allocations: list[Allocation] = []

    def alloc(self, name: str, nbytes: int, data: npt.NDArray[Any] | None) -> Allocation:
        """Place `nbytes` bytes; `data`, if given, is a C-contiguous array that the kernel then works on directly."""
        raw = None if data is None else data.reshape(-1).view(np.uint8)
        found = Allocation(name, self.next_address, nbytes, raw)
        self.next_address += -(-max(nbytes, 1) // GM_ALIGNMENT_BYTES) * GM_ALIGNMENT_BYTES
        self.allocations.append(found)
        return found
