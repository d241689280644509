"""Programs and timelines written down by hand, so that every figure of a report can be checked on paper."""

from __future__ import annotations

from dataclasses import dataclass

from ascend_sim.program import (
    BarrierWork,
    CopyWork,
    CoreProgram,
    FlagWork,
    HardEvent,
    Instr,
    Memory,
    PipeID,
    Place,
    Program,
    ScalarWork,
    VectorWork,
    Work,
)
from ascend_sim.timeline import Cause, CoreTimeline, MemoryCounters, Timeline


@dataclass(frozen=True)
class Name:
    """As much of a table row as reports read."""

    name: str
    cost: str = ""


_SOURCE = "\n".join(f"line_{number} = 0" for number in range(1, 40))
_CODE = compile(_SOURCE, "/home/user/kernels/add.py", "exec")


def place(line: int) -> Place:
    """A place in line `line` of /home/user/kernels/add.py."""
    return Place(_CODE, next(start for start, _, number in _CODE.co_lines() if number == line))


def instr(name: str, pipe: PipeID, work: Work, line: int, calls: int = 0) -> Instr:
    return Instr(Name(name), pipe, work, scalar_calls=calls, place=place(line))


def flag(event: HardEvent, wait: bool, line: int, event_id: int = 0) -> Instr:
    pipe = event.destination if wait else event.source
    return instr("WaitFlag" if wait else "SetFlag", pipe, FlagWork(event, event_id, wait), line)


LOAD = instr("DataCopy", PipeID.PIPE_MTE2, CopyWork(True, 1, 2048, 2048), 10)
LOADED = flag(HardEvent.MTE2_V, False, 11)
WAIT_LOADED = flag(HardEvent.MTE2_V, True, 20)
ADD = instr("Add", PipeID.PIPE_V, VectorWork("float32", 64, 8, 512, True, ()), 21)
MULS = instr("Muls", PipeID.PIPE_V, VectorWork("float32", 64, 8, 512, True, ()), 22)
ADDED = flag(HardEvent.V_MTE3, False, 23)
WAIT_ADDED = flag(HardEvent.V_MTE3, True, 30)
STORE = instr("DataCopy", PipeID.PIPE_MTE3, CopyWork(False, 1, 2048, 2048), 31)
GET = instr("GetValue", PipeID.PIPE_S, ScalarWork(Memory.UB, 4, False), 5)
BARRIER_ALL = instr("PipeBarrier", PipeID.PIPE_ALL, BarrierWork(PipeID.PIPE_ALL), 35)

TILE = [LOAD, LOADED, WAIT_LOADED, ADD, MULS, ADDED, WAIT_ADDED, STORE]
#            dispatch start end cause          peer wait
TILE_TIMES = [
    (10, 10, 210, Cause.NONE, -1, 0),
    (12, 210, 211, Cause.NONE, -1, 0),
    (14, 211, 212, Cause.FLAG, 1, 197),
    (20, 212, 242, Cause.NONE, -1, 0),
    (22, 242, 272, Cause.AUTO_SYNC, 3, 22),
    (24, 272, 273, Cause.BARRIER, 4, 22),
    (26, 273, 274, Cause.FLAG, 5, 247),
    (28, 274, 374, Cause.NONE, -1, 0),
]


def core(
    block: int,
    instrs: list[Instr],
    times: list[tuple[int, int, int, Cause, int, int]],
    *,
    begin: int = 0,
    finish: int,
    scalar_cycles: int = 0,
    core_index: int | None = None,
) -> CoreTimeline:
    """A block's timeline from rows of (dispatch, start, end, cause, peer, wait)."""
    made = CoreTimeline(
        CoreProgram(block, instrs), block if core_index is None else core_index, begin, finish, scalar_cycles
    )
    for dispatch, start, end, cause, peer, wait in times:
        made.dispatch.append(dispatch)
        made.start.append(start)
        made.end.append(end)
        made.cause.append(cause)
        made.peer.append(peer)
        made.wait.append(wait)
    return made


def shifted(
    times: list[tuple[int, int, int, Cause, int, int]], cycles: int, index: int = 0
) -> list[tuple[int, int, int, Cause, int, int]]:
    """The same rows `cycles` later and `index` instructions further on."""
    return [
        (d + cycles, s + cycles, e + cycles, cause, peer + index if peer >= 0 else -1, wait)
        for d, s, e, cause, peer, wait in times
    ]


def launch(cores: list[CoreTimeline], memory: MemoryCounters | None = None) -> tuple[Program, Timeline]:
    """One launch at 1000 MHz (1 cycle = 1 ns) with 0.6 us of launch overhead."""
    program = Program("add_kernel", [c.program for c in cores])
    duration = max((c.finish for c in cores), default=0) - min((c.begin for c in cores), default=0)
    return program, Timeline(1000.0, cores, duration, 0.6, memory or MemoryCounters())


def two_blocks() -> tuple[Program, Timeline]:
    """Block 0 does one tile in 400 cycles, block 1, from cycle 50 on, two of them in 800."""
    first = core(0, TILE, TILE_TIMES, finish=400, scalar_cycles=100)
    second = core(
        1,
        TILE * 2,
        shifted(TILE_TIMES, 50) + shifted(TILE_TIMES, 450, len(TILE)),
        begin=50,
        finish=850,
        scalar_cycles=240,
    )
    memory = MemoryCounters(6144, 6144, 6144, 3072, 0, 3072)
    return launch([first, second], memory)
