"""The unified buffer of one block: which bytes are in use when, from what the instructions touch."""

from __future__ import annotations

from dataclasses import dataclass

from ascend_sim.program import Instr, Memory, Region
from ascend_sim.timeline import CoreTimeline, Timeline


@dataclass(slots=True)
class Use:
    """Bytes `[start, end)` that are written and then read until the next writer comes; times in us."""

    start: int
    end: int
    begin_us: float
    end_us: float
    writer: Instr


def uses(line: CoreTimeline, timeline: Timeline, limit: int = 4_000) -> list[Use]:
    """One entry per writing instruction and place, from its start to the last read before the place is rewritten."""
    found: list[Use] = []
    live: dict[tuple[int, int], Use] = {}
    for at, instr in enumerate(line.program.instrs):
        begin, end = timeline.to_us(line.start[at]), timeline.to_us(line.end[at])
        for region in instr.reads:
            if region.memory is Memory.UB:
                low, high = _hull(region)
                for use in live.values():
                    if use.start < high and low < use.end:
                        use.end_us = max(use.end_us, end)
        for region in instr.writes:
            if region.memory is Memory.UB:
                low, high = _hull(region)
                same = live.get((low, high))
                if same is not None and same.end_us >= begin:
                    same.end_us = max(same.end_us, end)  # rewritten in place while in use: the same buffer goes on
                    continue
                live = {key: use for key, use in live.items() if use.end <= low or high <= use.start}
                live[low, high] = use = Use(low, high, begin, end, instr)
                found.append(use)
                if len(found) >= limit:
                    return found
    return found


def _hull(region: Region) -> tuple[int, int]:
    """First byte and the byte after the last one."""
    low = high = region.start
    for count, stride in region.dims:
        reach = (count - 1) * stride
        low, high = low + min(reach, 0), high + max(reach, 0)
    return low, high + region.length
