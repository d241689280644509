"""Which cores and which part of the time a report draws instruction by instruction."""

from __future__ import annotations

from dataclasses import dataclass

from ascend_sim.errors import InputError
from ascend_sim.timeline import CoreTimeline, Timeline

BLOCKS_SHOWN = 4
EVENTS_SHOWN = 12_000
"""A browser draws and zooms so many bars without getting slow."""


@dataclass(frozen=True, slots=True)
class Selection:
    """`cores` (None: the slowest, the fastest, the first and one in the middle) between `window` in us of the launch's
    device time (None: as much as can be drawn)."""

    cores: tuple[int, ...] | None = None
    window: tuple[float, float] | None = None

    def blocks(self, timeline: Timeline) -> list[CoreTimeline]:
        """The blocks that are drawn, in order."""
        lines = timeline.cores
        if self.cores is not None:
            known = {line.core for line in lines}
            unknown = [core for core in self.cores if core not in known]
            if unknown:
                raise InputError(f"core {unknown[0]} ran no block; cores 0 to {max(known, default=0)} did")
            return [line for line in lines if line.core in self.cores]
        if len(lines) <= BLOCKS_SHOWN:
            return list(lines)
        by_time = sorted(range(len(lines)), key=lambda at: lines[at].finish - lines[at].begin)
        chosen = {by_time[-1], by_time[0], 0, by_time[len(by_time) // 2]}
        return [lines[at] for at in sorted(chosen)]

    def span_us(self, timeline: Timeline, blocks: list[CoreTimeline]) -> tuple[float, float]:
        """What is drawn of them: the window, or from the first begin on until there are too many instructions."""
        end = timeline.to_us(max((line.finish for line in timeline.cores), default=0))
        if self.window is not None:
            return self.window
        events = sum(len(line.start) for line in blocks)
        return (0.0, end if events <= EVENTS_SHOWN else end * EVENTS_SHOWN / events)


def parse_cores(text: str) -> tuple[int, ...]:
    """`0,3,7-9` as numbers."""
    found: list[int] = []
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        if not low.isdigit() or (dash and not high.isdigit()) or (dash and int(high) < int(low)):
            raise InputError(f"cores {text!r}: give numbers and ranges, for example 0,3,7-9")
        found += range(int(low), int(high or low) + 1)
    return tuple(dict.fromkeys(found))


def parse_window(text: str) -> tuple[float, float]:
    """`2.5:4` (us) as two numbers."""
    low, _, high = text.partition(":")
    try:
        window = float(low or 0), float(high)
    except ValueError:
        raise InputError(f"window {text!r}: give begin and end in us, for example 2.5:4") from None
    if not 0 <= window[0] < window[1]:
        raise InputError(f"window {text!r}: it must begin at 0 us or later and end after it begins")
    return window
