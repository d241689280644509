"""The event engine: SimPy's environment, with plain callbacks instead of processes where only a moment is needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import simpy

MOMENT = 0
"""Priority of completions; arrivals follow, in the order of their cores."""


class Clock:
    """Cycles of one launch. Callbacks of a cycle run by priority, then in the order in which they were asked for."""

    __slots__ = ("_schedule", "environment")

    def __init__(self) -> None:
        self.environment = simpy.Environment()
        self._schedule: Callable[..., None] = self.environment.schedule

    @property
    def now(self) -> int:
        return cast(int, self.environment.now)

    def at(self, cycle: int, callback: Callable[[simpy.Event], None], priority: int = MOMENT) -> None:
        """Call `callback` in `cycle`, which must not be past."""
        environment = self.environment
        event = simpy.Event(environment)
        event._ok = True
        event._value = None
        event.callbacks = [callback]
        self._schedule(event, priority, cycle - cast(int, environment.now))

    def run(self) -> None:
        """Run until nothing is left to happen."""
        self.environment.run()
