"""The event engine: SimPy's environment and events, with one plain callback instead of processes where only a moment is
needed."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush

import simpy

COMPLETION = 0
"""Priority of what ends in a cycle; arrivals follow, in the order of their cores."""

Callback = Callable[[int], None]
"""Called with the cycle."""

Entry = tuple[int, int, int, "Alarm"]
"""What SimPy's queue holds: cycle, priority, number, event."""


class Clock(simpy.Environment):
    """Cycles of one launch. What is asked for in a cycle happens by priority, then in the order of asking."""

    def at(self, cycle: int, callback: Callback, priority: int = COMPLETION) -> None:
        """Call `callback` in `cycle`, which must not be past."""
        Alarm(self, callback, priority).at(cycle)

    def exhaust(self) -> None:
        """Run until nothing is left to happen: SimPy's loop for a queue that holds alarms only."""
        queue: list[Entry] = self._queue  # type: ignore[assignment]
        while queue:
            cycle, _, _, alarm = heappop(queue)
            self._now = cycle
            alarm.ring(cycle)


class Alarm(simpy.Event):
    """An event with one callback that can be asked for again and again, also while it is asked for: cheaper than a new
    event each time."""

    def __init__(self, clock: Clock, callback: Callback, priority: int = COMPLETION) -> None:
        super().__init__(clock)
        self.ring = callback
        self._queue: list[Entry] = clock._queue  # type: ignore[assignment]
        self._order = clock._eid
        self._priority = priority

    def at(self, cycle: int) -> None:
        """Ring in `cycle`, which must not be past."""
        heappush(self._queue, (cycle, self._priority, next(self._order), self))
