"""A core's own port to the memory system: a load has it alone at one rate, a store at another, both at once share.

Rates are whole units per cycle, amounts are exact; see `channel`.
"""

from __future__ import annotations

from functools import partial

import simpy

from ascend_sim.machine.channel import UNIT, Channel
from ascend_sim.machine.clock import Clock
from ascend_sim.machine.transfer import Transfer
from ascend_sim.soc.timing import MemoryTiming

LOAD, STORE = range(2)


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
    """At most one load and one store at a time; `l2` is what both go on to."""

    __slots__ = ("_clock", "_end", "_fire", "_l2", "_left", "_rates", "_since", "_transfers")

    def __init__(self, clock: Clock, rates: PortRates, l2: Channel) -> None:
        self._clock = clock
        self._rates = rates
        self._l2 = l2
        self._transfers: list[Transfer | None] = [None, None]
        self._left = [0, 0]
        self._end = [-1, -1]
        self._since = 0
        self._fire = (partial(self._fired, LOAD), partial(self._fired, STORE))

    def add(self, now: int, nbytes: int, side: int, transfer: Transfer) -> None:
        """Let `transfer` pass `nbytes` on its side (LOAD or STORE), which must be free."""
        self._settle(now)
        self._transfers[side] = transfer
        self._left[side] = nbytes * UNIT
        self._end[side] = -1
        self._plan(now)

    def _settle(self, now: int) -> None:
        passed = now - self._since
        if passed:
            load, store = self._transfers
            if load is not None:
                rates = self._rates.alone if store is None else self._rates.together
                self._left[LOAD] -= rates[LOAD] * passed
                if store is not None:
                    self._left[STORE] -= rates[STORE] * passed
            elif store is not None:
                self._left[STORE] -= self._rates.alone[STORE] * passed
            self._since = now

    def _plan(self, now: int) -> None:
        load, store = self._transfers
        rates = self._rates.alone if load is None or store is None else self._rates.together
        for side, transfer in ((LOAD, load), (STORE, store)):
            if transfer is not None:
                end = now - (-self._left[side] // rates[side])
                if end != self._end[side]:
                    self._end[side] = end
                    self._clock.at(end, self._fire[side])

    def _fired(self, side: int, _event: simpy.Event) -> None:
        now = self._clock.now
        transfer = self._transfers[side]
        if now != self._end[side] or transfer is None:
            return  # planned before the other side came or went
        self._settle(now)
        self._transfers[side] = None
        self._end[side] = -1
        self._plan(now)
        l2 = self._l2
        l2.settle(now)
        if transfer.parts > 1:
            l2.watch(now)
        transfer.part_done(now)
