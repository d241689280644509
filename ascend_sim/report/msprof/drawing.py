"""What a block's instructions look like in msprof's traces: when each begins and ends on paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ascend_sim.program import BarrierWork, CopyWork, FlagWork, Instr, SyncWork
from ascend_sim.report.codes import Codes, Codes32
from ascend_sim.report.msprof.names import pipe_code
from ascend_sim.report.selection import Selection
from ascend_sim.report.trace import Ints, drawn, us_of
from ascend_sim.timeline import CoreTimeline, Timeline

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Drawing:
    """One block on paper. By position of its instructions: `all_codes` their numbers in a `Codes`, `all_begin_us` and
    `all_end_us` their times, `drawn` whether the selection has them. `at` are the positions that it has; `first` is the
    number of the block's first instruction among all of its core."""

    all_codes: Codes32
    all_begin_us: Floats
    all_end_us: Floats
    drawn: npt.NDArray[np.bool_]
    first: int

    @property
    def at(self) -> npt.NDArray[np.int64]:
        return np.flatnonzero(self.drawn)


def draw(core: CoreTimeline, timeline: Timeline, codes: Codes, chosen: Selection, first: int = 0) -> Drawing:
    """A SetFlag is its last cycle, a barrier one cycle long; a WaitFlag is drawn from when its pipe stood still."""
    found = codes.of(core.program.instrs)
    begin, end = spans(core, codes, found)
    low, high = chosen.cycles(timeline)
    inside = np.ones(len(found), np.bool_) if chosen.whole_time else (end > low) & (begin < high)
    return Drawing(found, us_of(begin, timeline), us_of(end, timeline), inside, first)


def spans(core: CoreTimeline, codes: Codes, found: Codes32) -> tuple[Ints, Ints]:
    """Begin and end on paper in cycles."""
    begin, end = drawn(core, codes, found)
    short = np.array([_short(instr) for instr in codes.instrs], np.bool_)[found]
    return np.where(short, np.maximum(begin, end - 1), begin), end


def _short(instr: Instr) -> bool:
    work = instr.work
    return isinstance(work, BarrierWork) or (isinstance(work, FlagWork) and not work.wait)


def mnemonic(instr: Instr) -> str:
    """The name in the trace: flags and barriers as the hardware's instructions, others as Ascend C calls them."""
    work = instr.work
    if isinstance(work, FlagWork):
        return "WAIT_FLAG" if work.wait else "SET_FLAG"
    return "BAR" if isinstance(work, BarrierWork | SyncWork) else instr.name


def detail(instr: Instr) -> str:
    """What the trace says of an instruction beside its name."""
    work = instr.work
    if isinstance(work, FlagWork):
        event = work.event
        return f"PIPE:{pipe_code(event.source)},TRIGGERPIPE:{pipe_code(event.destination)},FLAGID:{work.event_id}"
    if isinstance(work, BarrierWork):
        return f"PIPE:{pipe_code(work.pipe)}"
    if isinstance(work, CopyWork):
        return f"{work.nbytes} B in {work.blocks} rows" if work.blocks > 1 else f"{work.nbytes} B"
    return instr.detail
