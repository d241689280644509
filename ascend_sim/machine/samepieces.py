"""Loads past L2 that other cores make at the same moment from the same place.

L2 serves a line that it holds to everybody; past L2 each request for a piece is one more access of the same bank, and
the accesses of a bank follow each other more slowly than those of different ones. So a load that comes while another
core's load of the same lines is under way costs HBM more for every piece (asc-devkit: one address range read by several
cores at once is served in turn, 10 to 20 % slower as a rule, 54 % in rows of 128 B on 48 cores).
"""

from __future__ import annotations

from ascend_sim.machine.l2 import Footprint


class SamePieces:
    """`extra_bytes`: what a piece costs more."""

    __slots__ = ("_extra_bytes", "_loading")

    def __init__(self, extra_bytes: int) -> None:
        self._extra_bytes = extra_bytes
        self._loading: dict[int, int] = {}  # L2 line: loads of it under way

    def enter(self, base: int, touched: Footprint) -> int:
        """A load begins in line `base`; answers how many bytes it counts more."""
        loading = self._loading
        shared = 0
        for offset, _, _, _ in touched.lines:
            line = base + offset
            count = loading.get(line, 0)
            if count:
                shared += 1
            loading[line] = count + 1
        return touched.pieces * self._extra_bytes * shared // len(touched.lines)

    def leave(self, base: int, touched: Footprint) -> None:
        """The load has got its bytes."""
        loading = self._loading
        for offset, _, _, _ in touched.lines:
            line = base + offset
            if loading[line] == 1:
                del loading[line]
            else:
                loading[line] -= 1
