"""A rate that many transfers share evenly: L2 and HBM.

Each cycle every active transfer gets `min(cap, capacity / weight of all)`, in whole units of 1/1024 B, and leaves in
the first cycle in which it has all its bytes. All move at one speed, so one virtual clock (how much each has got) and a
heap of the clock values at which transfers end replace any bookkeeping per transfer and cycle.
"""

from __future__ import annotations

from heapq import heappop, heappush

import simpy

from ascend_sim.machine.clock import Clock
from ascend_sim.machine.transfer import Transfer

UNIT = 1024
"""Units of a byte in which rates and amounts are counted, so that all arithmetic is exact."""

WEIGHT = 64
"""The weight of an ordinary transfer."""


class Channel:
    """`capacity` B/cycle shared by all, at most `cap` B/cycle for one of weight `WEIGHT`."""

    __slots__ = ("_clock", "_heap", "_order", "_rate", "_since", "_virtual", "_wake", "cap", "capacity", "weight")

    def __init__(self, clock: Clock, capacity: float, cap: float) -> None:
        self._clock = clock
        self.capacity = int(capacity * UNIT) * WEIGHT
        self.cap = int(cap * UNIT)
        self.weight = 0
        self._heap: list[tuple[int, int, Transfer, int]] = []
        self._virtual = 0  # units that a transfer of weight WEIGHT has got since the beginning
        self._since = 0  # the cycle of `_virtual`
        self._rate = self.cap
        self._order = 0
        self._wake = -1  # the cycle for which a callback is asked, -1 if none

    def add(self, now: int, nbytes: int, weight: int, transfer: Transfer, awaited: bool) -> None:
        """Let `transfer` move `nbytes`; `awaited`: wake up when it is done, else it is enough to know later."""
        self.settle(now)
        self._order += 1
        heappush(self._heap, (self._virtual + nbytes * UNIT, self._order, transfer, weight))
        self.weight += weight
        self._change_rate()
        if awaited:
            self.watch(now)

    def settle(self, now: int) -> None:
        """Bring the virtual clock to `now`; transfers that end on the way leave in their cycle."""
        heap = self._heap
        while heap:
            virtual = self._virtual
            end = self._since - (virtual - heap[0][0]) // self._rate
            if end > now:
                self._virtual = virtual + (now - self._since) * self._rate
                break
            virtual = self._virtual = virtual + (end - self._since) * self._rate
            self._since = end
            while heap and heap[0][0] <= virtual:
                _, _, transfer, weight = heappop(heap)
                self.weight -= weight
                transfer.part_done(end)
            self._change_rate()
        self._since = now

    def watch(self, now: int) -> None:
        """Make sure that the next transfer's end is noticed in its cycle (`now` is settled)."""
        if self._heap:
            end = now - (self._virtual - self._heap[0][0]) // self._rate
            if self._wake < now or end < self._wake:
                self._wake = end
                self._clock.at(end, self._woken)

    def _woken(self, _event: simpy.Event) -> None:
        now = self._clock.now
        if now == self._wake:
            self._wake = -1
            self.settle(now)
            self.watch(now)

    def _change_rate(self) -> None:
        weight = self.weight
        if weight:
            fair = self.capacity // weight
            self._rate = fair if fair < self.cap else self.cap
