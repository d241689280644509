"""What of a launch goes into a trace: some of the cores, a window of time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ascend_sim.errors import InputError
from ascend_sim.plurals import counted
from ascend_sim.timeline import CoreTimeline, Timeline


@dataclass(frozen=True, slots=True)
class Selection:
    """`cores`: numbers of vector cores, None for all. What overlaps `[begin_us, end_us)`, counted from the launch's
    first block, is taken, and taken whole."""

    cores: frozenset[int] | None = None
    begin_us: float = 0.0
    end_us: float = float("inf")

    def blocks(self, timeline: Timeline) -> list[CoreTimeline]:
        """The blocks on the chosen cores that overlap the window; refused if there is no such core."""
        used = {line.core for line in timeline.cores}
        beyond = sorted((self.cores or frozenset()) - used)
        if beyond:
            raise InputError(
                f"core {beyond[0]} runs no block: the launch used {counted(len(used), 'core')}, 0 to "
                f"{max(used, default=0)}"
            )
        return [line for line in timeline.cores if (self.cores is None or line.core in self.cores)]

    @property
    def whole_time(self) -> bool:
        return self.begin_us <= 0 and self.end_us == float("inf")

    def cycles(self, timeline: Timeline) -> tuple[float, float]:
        """The window in cycles."""
        return self.begin_us * timeline.clock_mhz, self.end_us * timeline.clock_mhz


EVERYTHING = Selection()


def read_selection(cores: str | None, window: str | None) -> Selection:
    """`cores` like `0-3,8`, `window` like `1.5:4` (us; either side may be missing); None: no limit."""
    chosen = None if cores is None else frozenset(_numbers(cores))
    if window is None:
        return Selection(chosen)
    begin, colon, end = window.partition(":")
    try:
        low, high = float(begin or 0), float(end or "inf")
    except ValueError:
        low, high = 0.0, -1.0
    if not colon or not 0 <= low < high:
        raise InputError(f"--window {window!r} must have the form BEGIN:END in us, like 1.5:4 or 2:")
    return Selection(chosen, low, high)


def _numbers(text: str) -> Iterator[int]:
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d{1,6})\s*(?:-\s*(\d{1,6})\s*)?", part)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if first > last:
            raise InputError(f"--cores {text!r} must be numbers and ranges, like 0-3,8")
        yield from range(first, last + 1)
