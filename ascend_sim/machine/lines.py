"""Which L2 lines transfers touch, and how dirty they leave them: many transfers at once, in no order.

What an L2 would hold that displaces nothing, without asking it line by line.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ascend_sim.machine.l2 import LINE_BYTES, Footprint, Move


class Lines:
    """The lines of all transfers taken in so far. `dirty_grains`: of all of them together."""

    def __init__(self) -> None:
        self._numbers: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self._dirty: npt.NDArray[np.uint32] = np.zeros(0, np.uint32)

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def dirty_grains(self) -> int:
        return int(np.unpackbits(self._dirty.view(np.uint8)).sum())

    @property
    def dirty_grains_per_line(self) -> float:
        return self.dirty_grains / len(self) if len(self) else 0.0

    def take_in(self, moves: Iterable[Move]) -> None:
        """Transfers that all allocate their lines."""
        alike: dict[tuple[int, bool], tuple[Footprint, list[int]]] = {}  # by the footprint's identity: `alike` keeps it
        for touched, address, store in moves:
            alike.setdefault((id(touched), store), (touched, []))[1].append(address // LINE_BYTES)
        numbers, dirty = [self._numbers], [self._dirty]
        for (_, store), (touched, firsts) in alike.items():
            offsets = np.array([line for line, _, _, _ in touched.lines], np.int64)
            bits = np.array([mask if store else 0 for _, _, mask, _ in touched.lines], np.uint32)
            numbers.append(np.add.outer(np.array(firsts, np.int64), offsets).ravel())
            dirty.append(np.tile(bits, len(firsts)))
        every = np.concatenate(numbers)
        if not len(every):
            return
        order = np.argsort(every, kind="stable")
        every = every[order]
        first = np.flatnonzero(np.diff(every, prepend=every[0] - 1))
        self._numbers = every[first]
        self._dirty = np.bitwise_or.reduceat(np.concatenate(dirty)[order], first)
