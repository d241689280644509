"""What pipes waited for: the cycles of every wait, added up by pipe, cause and source lines.

A wait is what the machine itself noted: an instruction found its pipe free and started later, and the last thing that
it waited for is the cause. Each wait has one cause in full: the time before a block's first instruction belongs to it
as well, and a pipe to which nothing was issued waits for the scalar unit, whatever that stood at. So waits do not add
up to the idle time. `ascend_sim.explain` splits the same time by root reasons, exactly once per cycle, by applying the
machine's rules backwards; that takes the chip, all recorded times unchanged, and six to ten times as long. Every
summary, its notes, and launches that are carried on from an excerpt (whose times are stretched) read the waits; what
`--explain`, `diff` and `tune` say of reasons reads the account, which then stands in place of the waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.program import FlagWork, Instr, PipeID
from ascend_sim.report.codes import Codes, Codes32
from ascend_sim.timeline import Cause, CoreTimeline, Timeline

PIPE_NAMES = {
    PipeID.PIPE_S: "scalar",
    PipeID.PIPE_V: "vec",
    PipeID.PIPE_MTE2: "mte2",
    PipeID.PIPE_MTE3: "mte3",
    PipeID.PIPE_ALL: "all",
}


def pipe_name(pipe: PipeID) -> str:
    """msprof's name of a pipe without its `aiv_`."""
    return PIPE_NAMES.get(pipe, pipe.name.removeprefix("PIPE_").lower())


@dataclass(frozen=True, slots=True)
class Wait:
    """Waits of one pipe for one cause between one pair of source lines.

    `pipe` stood still before `instr` because of `cause`; `peer` is the instruction that it waited for (the work behind
    a flag, not the SetFlag itself), if there is one. `us` is the mean over the cores, `share` that time over the mean
    AIV time, `count` the number of waits in all blocks. A full queue is a wait of the scalar unit.
    """

    pipe: str
    cause: Cause
    instr: Instr
    peer: Instr | None
    us: float
    share: float
    count: int

    @property
    def line(self) -> str:
        """`file:line` of the waiting instruction, or ""."""
        return str(self.instr.place or "")

    @property
    def peer_line(self) -> str:
        """`file:line` of what it waited for, or ""."""
        return str(self.peer.place or "") if self.peer else ""

    @property
    def event(self) -> str:
        """`MTE2_V` for a wait on a flag, else ""."""
        return self.instr.work.event.name if isinstance(self.instr.work, FlagWork) else ""

    def to_json(self) -> dict[str, Any]:
        return {
            "pipe": self.pipe,
            "cause": self.cause.name.lower(),
            "event": self.event,
            "us": round(self.us, 4),
            "share": round(self.share, 4),
            "count": self.count,
            "instruction": self.instr.name,
            "line": self.line,
            "waits_for": self.peer.name if self.peer else "",
            "waits_for_line": self.peer_line,
        }


class WaitTable:
    """Collects the waits of a launch, one block after the other."""

    def __init__(self, codes: Codes) -> None:
        self._codes = codes
        self._found: list[tuple[npt.NDArray[np.int8], Codes32, Codes32, npt.NDArray[np.int64]]] = []

    def add(self, core: CoreTimeline, codes: Codes32) -> None:
        """Take the waits of one block, whose instructions have these codes."""
        wait = np.asarray(core.wait, np.int64)
        at = np.flatnonzero(wait)
        peer = self._workers(codes, np.asarray(core.peer, np.int64)[at])
        peer_codes = np.where(peer >= 0, codes[peer], -1).astype(np.int32) if len(codes) else codes
        self._found.append((np.asarray(core.cause, np.int8)[at], codes[at], peer_codes, wait[at]))

    def _workers(self, codes: Codes32, peer: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """For each peer that is a SetFlag or a barrier: the last working instruction of its pipe before it."""
        result = peer.copy()
        pipe, working = self._codes.pipe[codes], self._codes.working[codes]
        idle = np.flatnonzero((peer >= 0) & ~working[peer]) if len(codes) else np.zeros(0, np.int64)
        for number in np.unique(pipe[peer[idle]]):
            mine = idle[pipe[peer[idle]] == number]
            workers = np.flatnonzero((pipe == number) & working)
            before = np.searchsorted(workers, peer[mine]) - 1
            has_worker = before >= 0
            result[mine[has_worker]] = workers[before[has_worker]]
        return result

    def collect(self, timeline: Timeline, aiv_cycles: float, cores: int) -> list[Wait]:
        """Everything that was waited for, longest first. `aiv_cycles` is the AIV time of all `cores` together."""
        if not self._found:
            return []
        cause, instr, peer, wait = (np.concatenate(column) for column in zip(*self._found, strict=True))
        if not len(wait):
            return []
        line = self._codes.line
        peer_line = np.where(peer >= 0, line[peer], -1)
        key = np.where(cause == Cause.QUEUE, PipeID.PIPE_S, self._codes.pipe[instr]).astype(np.int64)
        for column, size in ((cause, len(Cause)), (line[instr] + 1, line.max() + 2), (peer_line + 1, line.max() + 2)):
            key = key * int(size) + column
        _, first, group, count = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
        cycles = np.bincount(group, weights=wait)
        order = np.argsort(-cycles, kind="stable")
        return [
            self._wait(
                Cause(cause[first[g]]),
                instr[first[g]],
                peer[first[g]],
                cycles[g],
                count[g],
                timeline,
                aiv_cycles,
                cores,
            )
            for g in order
        ]

    def _wait(
        self,
        cause: Cause,
        instr: np.int32,
        peer: np.int32,
        cycles: np.float64,
        count: np.int64,
        timeline: Timeline,
        aiv_cycles: float,
        cores: int,
    ) -> Wait:
        found = self._codes.instrs
        waiting = found[instr]
        return Wait(
            pipe=pipe_name(PipeID.PIPE_S if cause is Cause.QUEUE else waiting.pipe),
            cause=cause,
            instr=waiting,
            peer=found[peer] if peer >= 0 else None,
            us=timeline.to_us(float(cycles) / cores),
            share=float(cycles) / max(aiv_cycles, 1.0),
            count=int(count),
        )
