"""Which blocks and which part of the time are drawn instruction by instruction."""

from __future__ import annotations

from ascend_sim.report.selection import Selection
from ascend_sim.timeline import CoreTimeline, Timeline

BLOCKS_SHOWN = 4
EVENTS_SHOWN = 12_000
"""A browser draws and zooms so many bars without getting slow."""


def blocks_shown(selection: Selection, timeline: Timeline) -> list[CoreTimeline]:
    """The blocks of the chosen cores; without a choice the slowest, the fastest, the first and one in the middle."""
    lines = selection.blocks(timeline)
    if selection.cores is not None or len(lines) <= BLOCKS_SHOWN:
        return lines
    by_time = sorted(range(len(lines)), key=lambda at: lines[at].finish - lines[at].begin)
    chosen = {by_time[-1], by_time[0], 0, by_time[len(by_time) // 2]}
    return [lines[at] for at in sorted(chosen)]


def span_shown(selection: Selection, timeline: Timeline, blocks: list[CoreTimeline]) -> tuple[float, float]:
    """Begin and end in us: the chosen window, cut where there would be too many instructions to draw."""
    end = min(selection.end_us, timeline.to_us(max((line.finish for line in timeline.cores), default=0)))
    whole = timeline.to_us(timeline.duration_cycles) or 1.0
    events = sum(len(line.start) for line in blocks) * (end - selection.begin_us) / whole
    drawn = (end - selection.begin_us) * min(1.0, EVENTS_SHOWN / max(events, 1))
    return selection.begin_us, selection.begin_us + drawn
