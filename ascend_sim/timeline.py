"""What the machine found out about one launch: when each instruction was dispatched, started and ended, and why."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from enum import IntEnum

from ascend_sim.program import CoreProgram


class Cause(IntEnum):
    """Why an instruction did not start when its pipe was free (the last thing it waited for)."""

    NONE = 0  # started as soon as its pipe was free
    DISPATCH = 1  # the scalar unit issued it later
    QUEUE = 2  # its pipe's queue was full when the scalar unit came to it
    FLAG = 3  # WaitFlag: the flag was not yet set; `peer` is the SetFlag's index
    BARRIER = 4  # PipeBarrier in the source; `peer` is the last instruction waited for
    AUTO_SYNC = 5  # barrier put in by the compiler; `peer` as above
    CORES = 6  # SyncAll: other cores had not arrived
    MEMORY = 7  # the GM port or the transfer engine was still busy with an earlier transfer


class Stage(IntEnum):
    """Where a transfer between GM and UB was held up longest: what its last byte, or its engine, waited for."""

    NONE = 0  # no transfer
    PORT = 1  # the core's own port
    L2 = 2
    HBM = 3
    ROWS = 4  # the engine's time per row


@dataclass(slots=True)
class CoreTimeline:
    """Times of one block's instructions in cycles from the launch's zero; all arrays run parallel to `program.instrs`.

    `start` is when the pipe begins the instruction, `end` when its result is visible. `peer` is the index (in the same
    block) of the instruction that `cause` speaks of, or -1. `wait` is how many cycles `cause` cost: the pipe was free
    (the one before had left it) that long before `start`; for `Cause.QUEUE` it is how long the scalar unit stood still
    before it could dispatch. An instruction with `Cause.NONE` has waited 0 cycles.

    Of transfers: `left` is when all bytes had passed (the last one then arrives at `end`), `stage` a `Stage`, and
    `hbm_bytes` what HBM was asked for, counting the opening of a row as `timing.memory.hbm_run_bytes`; `missed_bytes`
    is what it touched in GM and L2 did not hold.
    """

    program: CoreProgram
    core: int
    begin: int  # the block starts on its core (prologue included after this)
    finish: int = 0  # last result visible and scalar unit done
    scalar_cycles: int = 0  # the scalar unit worked this long (issue, calls, its own instructions), stalls left out
    dispatch: array[int] = field(default_factory=lambda: array("q"))
    start: array[int] = field(default_factory=lambda: array("q"))
    end: array[int] = field(default_factory=lambda: array("q"))
    cause: array[int] = field(default_factory=lambda: array("b"))
    peer: array[int] = field(default_factory=lambda: array("i"))
    wait: array[int] = field(default_factory=lambda: array("i"))
    left: array[int] = field(default_factory=lambda: array("q"))
    stage: array[int] = field(default_factory=lambda: array("b"))
    hbm_bytes: array[int] = field(default_factory=lambda: array("i"))
    missed_bytes: array[int] = field(default_factory=lambda: array("i"))
    late_cycles: int = 0  # of a cold start: the prologue took so much longer


@dataclass(slots=True)
class MemoryCounters:
    """GM traffic of a launch in bytes: what transfers asked for, how much of that L2 held, what HBM moved for it.

    HBM moves whole pieces, so for short rows it moves more than was asked for.
    """

    read_bytes: int = 0
    written_bytes: int = 0
    l2_read_hit_bytes: int = 0
    l2_write_hit_bytes: int = 0
    hbm_read_bytes: int = 0
    hbm_written_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Conditions:
    """How a launch was timed, as `Machine.run` was asked: state of L2 ("warm", "cold", "keep"), kind of launch, and
    what was added to the prologue of every block."""

    l2: str = "warm"
    launch_kind: str = "back_to_back"
    cold_start_us: float = 0.0


@dataclass(slots=True)
class Timeline:
    """One launch on one device. `duration_cycles` counts from the first block's begin to the last block's finish;
    `cold_start_us` of it are what the last block's prologue took longer because the launch started cold. `warnings`
    name what broke a rule of the machine without stopping this launch."""

    clock_mhz: float
    cores: list[CoreTimeline]
    duration_cycles: int
    launch_us: float
    memory: MemoryCounters = field(default_factory=MemoryCounters)
    warnings: list[str] = field(default_factory=list)
    cold_start_us: float = 0.0
    conditions: Conditions = field(default_factory=Conditions)

    def to_us(self, cycles: float) -> float:
        return cycles / self.clock_mhz
