"""A core's own port to the memory system: a load has it alone at one rate, a store at another, both at once share.

Rates are whole units per cycle, amounts are exact; see `channel`.
"""

from __future__ import annotations

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


class Lane:
    """A port's side for loads or for stores; takes one transfer at a time. `other` is the other side, `l2` what the
    transfers go on to."""

    __slots__ = ("_alarm", "_alone", "_end", "_l2", "_left", "_rings_at", "_since", "_together", "other", "transfer")

    other: Lane

    def __init__(self, clock: Clock, alone: int, together: int, l2: Channel) -> None:
        self._alone = alone
        self._together = together
        self._l2 = l2
        self._alarm = Alarm(clock, self._rung)
        self._rings_at = -1  # the earliest cycle in which the alarm will ring, -1 if in none
        self.transfer: Transfer | None = None
        self._left = 0  # units left in cycle `_since`
        self._since = 0
        self._end = -1  # the cycle in which none is left, as things stand

    def add(self, now: int, nbytes: int, transfer: Transfer) -> None:
        """Let `transfer` pass `nbytes`; the lane must be free."""
        self.transfer = transfer
        self._left = left = nbytes * UNIT
        self._since = now
        other = self.other
        if other.transfer is None:
            rate = self._alone
        else:
            rate = self._together
            other._share(now, other._alone, other._together)
        self._end = end = now - (-left // rate)
        rings_at = self._rings_at
        if rings_at < 0 or end < rings_at:
            self._rings_at = end
            self._alarm.at(end)

    def _share(self, now: int, before: int, rate: int) -> None:
        """From now on the rate is `rate`; so far it was `before`. An alarm that rings no later than the end will do."""
        self._left = left = self._left - before * (now - self._since)
        self._since = now
        self._end = end = now - (-left // rate)
        if end < self._rings_at:
            self._rings_at = end
            self._alarm.at(end)

    def _rung(self, now: int) -> None:
        if now != self._rings_at:  # an earlier alarm has done this one's work
            return
        end = self._end
        if end != now:
            self._rings_at = end
            self._alarm.at(end)
            return
        self._rings_at = -1
        transfer = self.transfer
        assert transfer is not None
        self.transfer = None
        other = self.other
        if other.transfer is not None:
            other._share(now, other._together, other._alone)
        if transfer.in_l2:
            l2 = self._l2
            if now >= l2.next_end:
                l2.settle(now)
            if transfer.in_l2:
                l2.watch(now, transfer)
        transfer.parts -= 1
        if not transfer.parts:
            transfer.stage = _PORT
            transfer.done(now, transfer.latency_cycles)


def port(clock: Clock, rates: PortRates, l2: tuple[Channel, Channel]) -> tuple[Lane, Lane]:
    """The lanes for loads and for stores of one core's port."""
    load, store = map(Lane, (clock, clock), rates.alone, rates.together, l2)
    load.other, store.other = store, load
    return load, store
