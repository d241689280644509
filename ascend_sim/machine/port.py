"""A core's own port to the memory system: a load has it alone at one rate, a store at another, both at once share.

Rates are whole units per cycle, amounts are exact; see `channel`.
"""

from __future__ import annotations

from functools import partial

import simpy

from ascend_sim.machine.channel import UNIT, Channel
from ascend_sim.machine.clock import Alarm, Clock
from ascend_sim.machine.transfer import Transfer
from ascend_sim.soc.timing import MemoryTiming
from ascend_sim.timeline import Stage

LOAD, STORE = range(2)
_PORT = int(Stage.PORT)


class PortRates:
    """Units per cycle of `(load, store)`: `alone`, and `together` when both are under way."""

    __slots__ = ("alone", "together")

    def __init__(self, timing: MemoryTiming) -> None:
        load = int(timing.port_load_bytes_per_cycle * UNIT)
        store = int(timing.port_store_bytes_per_cycle * UNIT)
        total = max(int(timing.port_total_bytes_per_cycle * UNIT), 2)
        half = total // 2
        self.alone = (load, store)
        if load <= half or store <= half:  # the slower one leaves the rest to the other
            self.together = (min(load, max(total - store, half)), min(store, max(total - load, half)))
        else:
            self.together = (half, half)


class Port:
    """At most one load and one store at a time; `l2` is what they go on to."""

    __slots__ = (
        "_alarms",
        "_alone",
        "_clock",
        "_end",
        "_l2",
        "_left",
        "_ring",
        "_rings_at",
        "_since",
        "_together",
        "_transfers",
    )

    def __init__(self, clock: Clock, rates: PortRates, l2: tuple[Channel, ...]) -> None:
        self._clock = clock
        self._alone = rates.alone
        self._together = rates.together
        self._l2 = l2
        self._transfers: list[Transfer | None] = [None, None]
        self._left = [0, 0]  # units left in cycle `_since`
        self._since = 0
        self._end = [-1, -1]
        self._ring = (partial(self._rung, LOAD), partial(self._rung, STORE))
        self._alarms = tuple(Alarm(clock, ring) for ring in self._ring)
        self._rings_at = [-1, -1]

    def add(self, now: int, nbytes: int, side: int, transfer: Transfer) -> None:
        """Let `transfer` pass `nbytes` on its side (LOAD or STORE), which must be free."""
        units = nbytes * UNIT
        other = 1 - side
        self._transfers[side] = transfer
        if self._transfers[other] is None:
            self._left[side] = units
            self._since = now
            self._plan(side, now - (-units // self._alone[side]))
        else:
            self._left[other] -= self._alone[other] * (now - self._since)
            self._left[side] = units
            self._since = now
            for each in (LOAD, STORE):
                self._plan(each, now - (-self._left[each] // self._together[each]))

    def _plan(self, side: int, end: int) -> None:
        """`side` ends in cycle `end` as things stand: an alarm that rings no later than that will do."""
        self._end[side] = end
        rings_at = self._rings_at[side]
        if rings_at < 0:
            self._rings_at[side] = end
            self._alarms[side].at(end)
        elif end < rings_at:
            self._clock.at(end, self._ring[side])

    def _rung(self, side: int, _event: simpy.Event) -> None:
        now: int = self._clock.environment._now  # type: ignore[assignment]
        if now == self._rings_at[side]:
            self._rings_at[side] = -1
        transfer = self._transfers[side]
        if transfer is None:
            return
        if self._end[side] != now:
            if self._rings_at[side] < 0:
                self._plan(side, self._end[side])
            return
        self._transfers[side] = None
        other = 1 - side
        if self._transfers[other] is not None:
            self._left[other] -= self._together[other] * (now - self._since)
            self._since = now
            self._plan(other, now - (-self._left[other] // self._alone[other]))
        if transfer.in_l2:
            l2 = self._l2[side]
            l2.settle(now)
            if transfer.in_l2:
                l2.watch(now, transfer)
        transfer.parts -= 1
        if not transfer.parts:
            transfer.stage = _PORT
            transfer.done(now, transfer.latency_cycles)
