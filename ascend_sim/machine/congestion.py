"""How long a load waits in HBM's queues while HBM is only partly busy.

Requests spread over the memory's channels and banks as addresses have it, not evenly, so some of them queue long before
the memory as a whole is full: by queueing theory in proportion to u / (1 - u), where u is the share of its time that
HBM is busy. It shows as latency: pairs of 4 KiB loads take 9 % longer on 8 cores than on one, which together ask for a
third of what HBM can do; pairs of 8 KiB take 70 % longer on 48 cores. Where cores share a full HBM (`Channel`), the
share of each already holds its waiting, so only what is missing of the waiting time is added (`Engine`).
"""

from __future__ import annotations

from ascend_sim.machine.channel import UNIT, WEIGHT


class Congestion:
    """`capacity`: what HBM moves per cycle, as in `Channel`; `queue_bytes`: what a load waits for, times u / (1 - u);
    `window_cycles`: time over which u is taken (older traffic fades); `limit`: u counts as no more."""

    __slots__ = ("_asked", "_limit", "_now", "_wait_cycles", "_window_capacity", "_window_cycles")

    def __init__(self, capacity: int, queue_bytes: int, window_cycles: float, limit: float) -> None:
        self._window_cycles = window_cycles
        self._window_capacity = capacity * window_cycles
        self._wait_cycles = queue_bytes * UNIT * WEIGHT / capacity
        self._limit = limit
        self._asked = 0.0  # weighted units asked for, faded
        self._now = 0

    def admit(self, now: int, nbytes: int, weight: int) -> None:
        """HBM is asked in cycle `now` to move `nbytes`."""
        self._fade(now)
        self._asked += nbytes * UNIT * weight

    def waiting(self, now: int) -> int:
        """Cycles that a load which arrives in cycle `now` waits."""
        self._fade(now)
        busy = self._asked / self._window_capacity
        if busy > self._limit:
            busy = self._limit
        return round(self._wait_cycles * busy / (1 - busy))

    def _fade(self, now: int) -> None:
        passed = now - self._now
        if passed:
            self._asked /= 1 + passed / self._window_cycles
            self._now = now
