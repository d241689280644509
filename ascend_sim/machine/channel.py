"""A rate that many transfers share evenly: L2 and HBM.

Each cycle every active transfer gets `min(cap, capacity / weight of all)`, in whole units of 1/1024 B, and leaves in
the first cycle in which it has all its bytes. All move at one speed, so one virtual clock (how much each has got) and a
heap of the clock values at which transfers end replace any bookkeeping per transfer and cycle.
"""

from __future__ import annotations

from heapq import heappop, heappush

from ascend_sim.machine.clock import Alarm, Clock
from ascend_sim.machine.transfer import Transfer
from ascend_sim.timeline import Stage

UNIT = 1024
"""Units of a byte in which rates and amounts are counted, so that all arithmetic is exact."""

WEIGHT = 64
"""The weight of an ordinary transfer."""


NEVER = 1 << 62


class Channel:
    """`capacity` B/cycle shared by all, at most `cap` B/cycle for one of weight `WEIGHT`. `eager`: every end is noticed
    in its cycle; else only the ends of transfers that are watched, and of others when somebody settles.

    `next_end`: the cycle in which the next transfer leaves as things stand, `NEVER` if there is none."""

    __slots__ = (
        "_alarm",
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
        "next_end",
    )

    def __init__(self, clock: Clock, capacity: float, cap: float, eager: bool) -> None:
        self.capacity = int(capacity * UNIT) * WEIGHT
        self.cap = int(cap * UNIT)
        self.eager = eager
        self._stage = int(Stage.HBM if eager else Stage.L2)
        self.next_end = NEVER
        self._weight = 0
        self._heap: list[tuple[int, int, Transfer, int]] = []
        self._rate = self.cap
        self._virtual = 0  # units that a transfer of weight WEIGHT has got from the beginning to cycle `_since`
        self._since = 0
        self._order = 0
        self._alarm = Alarm(clock, self._woken)
        self._wake = -1  # the earliest cycle in which the alarm will ring, -1 if in none
        self._watched = 0  # transfers that have nothing else to wait for

    def add(self, now: int, nbytes: int, weight: int, transfer: Transfer) -> None:
        """Let `transfer` move `nbytes` from cycle `now` on."""
        if now >= self.next_end:
            self.settle(now)
        heap = self._heap
        virtual = self._virtual
        if heap:
            virtual += (now - self._since) * self._rate
            self._virtual = virtual
        self._since = now
        self._order += 1
        heappush(heap, (virtual + nbytes * UNIT, self._order, transfer, weight))
        self._weight += weight
        fair = self.capacity // self._weight
        self._rate = rate = fair if fair < self.cap else self.cap
        self.next_end = now - (virtual - heap[0][0]) // rate
        if self.eager:
            self._set_alarm(now)

    def settle(self, now: int) -> None:
        """Let transfers that end up to `now` leave in their cycles."""
        heap = self._heap
        virtual, since, rate = self._virtual, self._since, self._rate
        end = self.next_end
        while end <= now:
            virtual += (end - since) * rate
            since = end
            while heap and heap[0][0] <= virtual:
                _, _, transfer, weight = heappop(heap)
                self._weight -= weight
                self._leave(end, transfer)
            if not heap:
                end = NEVER
                break
            fair = self.capacity // self._weight
            self._rate = rate = fair if fair < self.cap else self.cap
            end = since - (virtual - heap[0][0]) // rate
        self._virtual, self._since, self.next_end = virtual, since, end

    def _leave(self, now: int, transfer: Transfer) -> None:
        if not self.eager:
            transfer.in_l2 = False
            if transfer.watched:
                transfer.watched = False
                self._watched -= 1
        transfer.parts -= 1
        if not transfer.parts:
            transfer.stage = self._stage
            transfer.done(now, transfer.latency_cycles)

    def watch(self, now: int, transfer: Transfer) -> None:
        """`transfer` now waits for this channel alone (`now` is settled): its end must be noticed in its cycle."""
        transfer.watched = True
        self._watched += 1
        self._set_alarm(now)

    def _set_alarm(self, now: int) -> None:
        end = self.next_end
        if self._wake < now or end < self._wake:
            self._wake = end
            self._alarm.at(end)

    def _woken(self, now: int) -> None:
        if now == self._wake:
            self._wake = -1
            if now >= self.next_end:
                self.settle(now)
            if self._watched or (self.eager and self._heap):
                self._set_alarm(now)
