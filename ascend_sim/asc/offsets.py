"""Byte offsets that stand in unified buffer: read, checked and turned into indices for gather, gatherb and scatter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.asc.operands import refuse
from ascend_sim.asc.views import element_indices, typed
from ascend_sim.asc.walk import Bytes, Layout, Walk
from ascend_sim.program import Region

Indices = npt.NDArray[np.int64]


class OffsetReader:
    """Turns the byte offsets of the active lanes into indices of `size`-byte pieces of `source`.

    The work is done again only when the offsets in UB have changed: tables of offsets serve many tiles.
    """

    __slots__ = ("_active", "_bytes", "_indices", "_limit", "_name", "_op", "_size", "_typed")

    def __init__(self, op: str, name: str, ub: Bytes, walk: Walk, offsets: Layout, source: Region, size: int) -> None:
        self._op, self._name = op, name
        self._typed = typed(ub, offsets)
        dense = walk.dense and offsets.contiguous(walk)
        self._active: Any = slice(walk.elements) if dense else element_indices(walk, offsets)
        self._size = size
        self._limit = source.length
        self._bytes = b""
        self._indices: Indices = np.empty(0, np.int64)

    def read(self) -> tuple[Indices, bool]:
        """The indices, and whether they differ from those of the last call."""
        offsets = self._typed[self._active]
        now = offsets.tobytes()
        if now == self._bytes:
            return self._indices, False
        self._check(offsets)
        self._indices = offsets.astype(np.int64) // self._size
        self._bytes = now
        return self._indices, True

    def _check(self, offsets: npt.NDArray[np.uint32]) -> None:
        highest = self._limit - self._size
        beyond = offsets.astype(np.int64) > highest
        if beyond.any():
            at = int(beyond.argmax())
            refuse(
                self._op,
                f"{self._name}[{at}] (of the active ones) is {offsets[at]} B, allowed are 0..{highest}: the tensor "
                f"holds {self._limit} B from its base on",
            )
        odd = offsets % self._size != 0
        if odd.any():
            at = int(odd.argmax())
            refuse(
                self._op,
                f"{self._name}[{at}] (of the active ones) is {offsets[at]} B, allowed are multiples of {self._size} B",
            )


def in_place_check(
    op: str, repeat: Indices, write_at: Indices, size: int, source: Region
) -> Callable[[Indices], None] | None:
    """A check that no repeat reads what an earlier one wrote; None when nothing written lies in `source`.

    `repeat` and `write_at` give the repeat and the byte address of every `size`-byte piece that is written.
    """
    end = source.start + source.length
    inside = (write_at >= source.start) & (write_at < end)
    if not inside.any():
        return None
    never = int(repeat[-1]) + 1
    first_writer = np.full(source.length // size, never, np.int64)
    first_writer[((write_at[inside] - source.start) // size)[::-1]] = repeat[inside][::-1]  # the first of several stays

    def check(indices: Indices) -> None:
        bad = first_writer[indices] < repeat
        if bad.any():
            at = int(bad.argmax())
            refuse(
                op,
                f"dst overlaps its source, and repeat {repeat[at]} reads what repeat {first_writer[indices[at]]} has "
                f"written (active element {at}): gather into another buffer",
            )

    return check
