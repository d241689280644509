"""Calls that the chip's library makes of several instructions: each is recorded as itself, all found by one key.

The scalar calls charged so far go to the first instruction; the mask registers pass from one step to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import Any

from ascend_sim.asc.issue import Hit
from ascend_sim.asc.recorder import RECORDER, Run
from ascend_sim.asc.state import CoreState
from ascend_sim.isa.control import GET_VALUE, PIPE_BARRIER, SET_FLAG, SET_VALUE, WAIT_FLAG
from ascend_sim.program import (
    BarrierWork,
    FlagWork,
    HardEvent,
    Instr,
    Memory,
    PipeID,
    Region,
    ScalarWork,
)

Played = tuple[tuple[tuple[Instr, Run | None], ...], CoreState]
EVENTS = (HardEvent.V_S, HardEvent.S_V, HardEvent.S_MTE3)  # what library sequences order by flags
EventIds = tuple[int, int, int]


def event_ids() -> EventIds:
    """A free event id of each of `EVENTS`, fetched and not taken, as FetchEventID gives them; 0 without a TPipe."""
    launch = RECORDER.launch
    pipe = None if launch is None else launch.block.pipe
    if pipe is None:
        return 0, 0, 0
    first, second, third = (pipe.events.fetch(event) for event in EVENTS)
    return first, second, third


def play(found: Played) -> None:
    """Record every step and compute its values, in order."""
    steps, after = found
    append = RECORDER.append
    for instr, run in steps:
        append(instr)
        if run is not None:
            run()
    if steps:
        RECORDER.pending = 0
    RECORDER.state = after


class Steps:
    """Builds a sequence issued at `frame`. While it is built, `RECORDER.pending` and `.state` are those of the step."""

    def __init__(self, frame: FrameType, ids: EventIds) -> None:
        self.frame = frame
        self.ids = dict(zip(EVENTS, ids, strict=True))
        self.done: list[tuple[Instr, Run | None]] = []

    def add(self, hit: Hit) -> None:
        """A vector instruction."""
        instr, run, RECORDER.state = hit
        self._append(instr, run)

    def barrier(self) -> None:
        """PipeBarrier<PIPE_V>."""
        work = BarrierWork(PipeID.PIPE_V)
        self._append(self._instr(PIPE_BARRIER, PipeID.PIPE_V, work, detail=PipeID.PIPE_V.name), None)

    def flags(self, *events: HardEvent) -> None:
        """SetFlag and WaitFlag of each event."""
        for event in events:
            for wait in (False, True):
                work = FlagWork(event, self.ids[event], wait)
                row, pipe = (WAIT_FLAG, event.destination) if wait else (SET_FLAG, event.source)
                self._append(self._instr(row, pipe, work, detail=f"{event.name} {work.event_id}"), None)

    def load(
        self, addr: int, nbytes: int, run: Run | None = None, candidates: tuple[tuple[int, int], ...] = ()
    ) -> None:
        """The scalar unit reads `nbytes` at UB byte `addr`; `candidates` are the region's dims when data decides."""
        region = (Region(Memory.UB, addr, nbytes, candidates),)
        work = ScalarWork(Memory.UB, nbytes, False)
        self._append(self._instr(GET_VALUE, PipeID.PIPE_S, work, reads=region, detail=f"UB[{addr}]"), run)

    def store(self, addr: int, nbytes: int, run: Run | None = None) -> None:
        """The scalar unit writes `nbytes` at UB byte `addr`."""
        region = (Region(Memory.UB, addr, nbytes),)
        work = ScalarWork(Memory.UB, nbytes, True)
        self._append(self._instr(SET_VALUE, PipeID.PIPE_S, work, writes=region, detail=f"UB[{addr}]"), run)

    def finish(self, after: CoreState) -> Played:
        """The whole sequence, leaving the registers as `after` says."""
        return tuple(self.done), after

    def _append(self, instr: Instr, run: Run | None) -> None:
        self.done.append((instr, run))
        RECORDER.pending = 0

    def _instr(self, row: Any, pipe: PipeID, work: Any, **rest: Any) -> Instr:
        return Instr(row, pipe, work, scalar_calls=RECORDER.pending, place=RECORDER.place(self.frame), **rest)


def building(build: Callable[[], Played]) -> Played:
    """Run `build` and put the recorder's pending calls and registers back if it refuses."""
    pending, state = RECORDER.pending, RECORDER.state
    try:
        return build()
    finally:
        RECORDER.pending, RECORDER.state = pending, state
