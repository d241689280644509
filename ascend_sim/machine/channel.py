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
from ascend_sim.timeline import Stage

UNIT = 1024
"""Units of a byte in which rates and amounts are counted, so that all arithmetic is exact."""

WEIGHT = 64
"""The weight of an ordinary transfer."""


class Channel:
    """`capacity` B/cycle shared by all, at most `cap` B/cycle for one of weight `WEIGHT`. `eager`: every end is noticed
    in its cycle; else only the ends of transfers that are watched."""

    __slots__ = (
        "_clock",
        "_heap",
        "_order",
        "_rate",
        "_since",
        "_stage",
        "_virtual",
        "_wake",
        "_watched",
        "_weight",
        "cap",
        "capacity",
        "eager",
    )

    def __init__(self, clock: Clock, capacity: float, cap: float, eager: bool) -> None:
        self._clock = clock
        self.capacity = int(capacity * UNIT) * WEIGHT
        self.cap = int(cap * UNIT)
        self.eager = eager
        self._stage = int(Stage.HBM if eager else Stage.L2)
        self._weight = 0
        self._heap: list[tuple[int, int, Transfer, int]] = []
        self._virtual = 0  # units that a transfer of weight WEIGHT has got since the beginning
        self._since = 0  # the cycle of `_virtual`
        self._rate = self.cap
        self._order = 0
        self._wake = -1  # the cycle for which a callback is asked, -1 if none
        self._watched = 0  # transfers that have nothing else to wait for

    def add(self, now: int, nbytes: int, weight: int, transfer: Transfer) -> None:
        """Let `transfer` move `nbytes` from cycle `now` on."""
        if self._heap:
            self.settle(now)
        else:
            self._since = now
        self._order += 1
        heappush(self._heap, (self._virtual + nbytes * UNIT, self._order, transfer, weight))
        self._weight += weight
        fair = self.capacity // self._weight
        self._rate = fair if fair < self.cap else self.cap
        if self.eager:
            self._set_alarm(now)

    def settle(self, now: int) -> None:
        """Bring the virtual clock to `now`; transfers that end on the way leave in their cycle."""
        heap = self._heap
        virtual, since, rate = self._virtual, self._since, self._rate
        while heap:
            end = since - (virtual - heap[0][0]) // rate
            if end > now:
                virtual += (now - since) * rate
                break
            virtual += (end - since) * rate
            since = end
            ended = [heappop(heap)]
            self._weight -= ended[0][3]
            while heap and heap[0][0] <= virtual:
                ended.append(heappop(heap))
                self._weight -= ended[-1][3]
            if heap:
                fair = self.capacity // self._weight
                self._rate = rate = fair if fair < self.cap else self.cap
            for _, _, transfer, _ in ended:
                if not self.eager:
                    self._unwatch(transfer)
                transfer.parts -= 1
                if not transfer.parts:
                    transfer.stage = self._stage
                    transfer.done(end, transfer.latency_cycles)
        self._virtual = virtual
        self._since = now

    def _unwatch(self, transfer: Transfer) -> None:
        transfer.in_l2 = False
        if transfer.watched:
            transfer.watched = False
            self._watched -= 1

    def watch(self, now: int, transfer: Transfer) -> None:
        """`transfer` now waits for this channel alone (`now` is settled): its end must be noticed in its cycle."""
        transfer.watched = True
        self._watched += 1
        self._set_alarm(now)

    def _set_alarm(self, now: int) -> None:
        end = now - (self._virtual - self._heap[0][0]) // self._rate
        if self._wake < now or end < self._wake:
            self._wake = end
            self._clock.at(end, self._woken)

    def _woken(self, _event: simpy.Event) -> None:
        now: int = self._clock.environment._now  # type: ignore[assignment]
        if now == self._wake:
            self._wake = -1
            self.settle(now)
            if self._watched or (self.eager and self._heap):
                self._set_alarm(now)
