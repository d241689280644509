"""The event engine: SimPy's environment, with plain callbacks instead of processes where only a moment is needed."""

from __future__ import annotations

from collections.abc import Callable

import simpy

COMPLETION = 0
"""Priority of what ends in a cycle; arrivals follow, in the order of their cores."""

Callback = Callable[[simpy.Event], None]


class Clock:
    """Cycles of one launch. Callbacks of a cycle run by priority, then in the order in which they were asked for."""

    __slots__ = ("environment", "schedule")

    def __init__(self) -> None:
        self.environment = simpy.Environment()
        self.schedule: Callable[..., None] = self.environment.schedule

    @property
    def now(self) -> int:
        cycle = self.environment._now
        assert isinstance(cycle, int)
        return cycle

    def at(self, cycle: int, callback: Callback, priority: int = COMPLETION) -> None:
        """Call `callback` in `cycle`, which must not be past."""
        environment = self.environment
        event = simpy.Event(environment)
        event._ok = True
        event._value = None
        event.callbacks = [callback]
        self.schedule(event, priority, cycle - environment._now)

    def run(self) -> None:
        """Run until nothing is left to happen."""
        self.environment.run()


class Alarm(simpy.Event):
    """An event that can be asked for again and again, but only once at a time: cheaper than a new one each time."""

    def __init__(self, clock: Clock, callback: Callback, priority: int = COMPLETION) -> None:
        super().__init__(clock.environment)
        self._ok = True
        self._value = None
        self._schedule = clock.schedule
        self._callbacks = [callback]
        self._priority = priority

    def at(self, cycle: int) -> None:
        """Ring in `cycle`, which must not be past."""
        self.callbacks = self._callbacks
        self._schedule(self, self._priority, cycle - self.env._now)
