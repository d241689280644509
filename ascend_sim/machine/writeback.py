"""Dirty lines are written back while HBM has little else to do, so that displacing them later costs less.

Where HBM is busy all along (copies larger than L2) a displaced line costs its full write. Kernels that load and compute
in turn leave HBM time for it: 8 blocks with one buffer on a 910B4 load at nearly full rate although their outputs
overflow L2. A share of the spare time is used so; the rest finds no line to clean or comes too late.
"""

from __future__ import annotations

from ascend_sim.machine.channel import UNIT, WEIGHT


class WriteBack:
    """`capacity`: what HBM moves per cycle, `weight`: what a written byte costs, both as in `Channel`; `share`: how
    much of HBM's spare time is used, in 1/WEIGHT."""

    __slots__ = ("_admitted", "_capacity", "_seen", "_share", "_spare", "weight")

    def __init__(self, capacity: int, weight: int, share: int) -> None:
        self._capacity = capacity
        self._share = share
        self.weight = weight
        self._admitted = 0  # all that HBM has been asked for
        self._seen = 0  # spare capacity since the launch began, when last looked at
        self._spare = 0  # what of it has gone into lines that are still in L2

    def admit(self, nbytes: int, weight: int) -> None:
        """HBM has been asked to move `nbytes`."""
        self._admitted += nbytes * UNIT * weight

    def due(self, now: int, displaced_bytes: int, dirty_bytes: int) -> int:
        """How many of `displaced_bytes` have still to be written; `dirty_bytes` is what L2 holds with them."""
        cost = UNIT * self.weight
        seen = self._capacity * now - self._admitted
        self._spare = min(self._spare + (seen - self._seen) * self._share // WEIGHT, dirty_bytes * cost)
        self._seen = seen
        if self._spare <= 0:
            return displaced_bytes
        written = min(displaced_bytes, self._spare // cost)
        self._spare -= written * cost
        return displaced_bytes - written
