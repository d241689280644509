"""Synchronisation inside a core and between cores: flags, barriers, SyncAll."""

from __future__ import annotations

import sys
from enum import IntEnum
from types import CodeType
from typing import Any

from ascend_sim.asc.plain import integer, shown
from ascend_sim.asc.recorder import RECORDER, Site
from ascend_sim.asc.tensors import GlobalTensor, LocalTensor
from ascend_sim.errors import KernelError, UnsupportedError
from ascend_sim.isa.control import DATA_SYNC_BARRIER, PIPE_BARRIER, SET_FLAG, SYNC_ALL, WAIT_FLAG
from ascend_sim.plurals import counted
from ascend_sim.program import BarrierWork, FlagWork, HardEvent, Instr, PipeID, SyncWork

__all__ = [
    "MemDsbT",
    "cross_core_set_flag",
    "cross_core_wait_flag",
    "data_sync_barrier",
    "ib_set",
    "ib_wait",
    "notify_next_block",
    "pipe_barrier",
    "set_flag",
    "sync_all",
    "wait_flag",
    "wait_pre_block",
]

EVENT_IDS = 8  # per HardEvent on 2201 and 3510
# the lowest id that a bit mask of taken ids leaves free, or -1
LOWEST_FREE = tuple(next((i for i in range(EVENT_IDS) if not taken >> i & 1), -1) for taken in range(1 << EVENT_IDS))
_WAIT = 1 << 16  # key of a flag: wait bit, event, id
_VECTOR_CORE_PIPES = (PipeID.PIPE_S, PipeID.PIPE_V, PipeID.PIPE_MTE2, PipeID.PIPE_MTE3)
_VECTOR_CORE_EVENTS = frozenset(
    event for event in HardEvent if event.source in _VECTOR_CORE_PIPES and event.destination in _VECTOR_CORE_PIPES
)
_SYNC_BYTES_PER_CORE = 32


class MemDsbT(IntEnum):
    """Which accesses `data_sync_barrier` waits for."""

    ALL = 0
    DDR = 1
    UB = 2
    SEQ = 3


def flag_key(event: HardEvent, event_id: int, wait: bool) -> int:
    """One integer for a flag instruction, checked once here so that `emit_flag` need not."""
    return (_WAIT if wait else 0) | event << 8 | event_id


def emit_flag(key: int, frame: Site) -> Instr:
    """Record the SetFlag or WaitFlag of `key`, issued at `frame`, and answer it."""
    recorder = RECORDER
    code = frame.f_code
    site = (key, recorder.pending, id(code), frame.f_lasti)
    instr = recorder.flags.get(site)
    if instr is None:
        instr = recorder.flags[site] = _flag(key, recorder.pending, frame)
    recorder.pending = 0
    recorder.append(instr)
    return instr


class Flag:
    """A SetFlag or WaitFlag of one event and id, with the instruction that it was last: where `pending` scalar calls
    are charged to it, at `lasti` of `code`, in the launch whose instructions are in `flags`."""

    __slots__ = ("code", "flags", "instr", "key", "lasti", "pending")

    instr: Instr

    def __init__(self, event: HardEvent, event_id: int, wait: bool) -> None:
        self.key = flag_key(event, event_id, wait)
        self.pending = self.lasti = -1
        self.code: CodeType | None = None
        self.flags: dict[tuple[int, int, int, int], Instr] | None = None

    def emit(self, pending: int, frame: Site) -> None:
        """Record it as issued at `frame` with `pending` scalar calls in front."""
        recorder = RECORDER
        recorder.pending = self.pending = pending
        self.code, self.lasti, self.flags = frame.f_code, frame.f_lasti, recorder.flags
        self.instr = emit_flag(self.key, frame)


def _flag(key: int, pending: int, frame: Site) -> Instr:
    event, event_id, wait = HardEvent(key >> 8 & 0xFF), key & 0xFF, bool(key & _WAIT)
    return Instr(
        WAIT_FLAG if wait else SET_FLAG,
        event.destination if wait else event.source,
        FlagWork(event, event_id, wait),
        scalar_calls=pending,
        place=RECORDER.place(frame),
        detail=f"{event.name} {event_id}",
    )


def check_event(event: Any, call: str) -> HardEvent:
    """`event` as a HardEvent between pipes that a vector core has."""
    if event.__class__ is HardEvent and event in _VECTOR_CORE_EVENTS:  # fetch_event_id comes by in every tile
        return event
    try:
        found = HardEvent(event)
    except ValueError:
        raise KernelError(f"{call} takes a HardEvent such as HardEvent.MTE2_V, not {shown(event)}") from None
    for pipe in (found.source, found.destination):
        if pipe not in _VECTOR_CORE_PIPES:
            raise KernelError(
                f"{call}: HardEvent.{found.name} needs {pipe.name}, which a vector core does not have; cube kernels "
                "are not simulated yet"
            )
    return found


def set_flag(event: HardEvent, event_id: int = 0) -> None:
    """Set flag `event_id` of `event` when all earlier instructions of the event's source pipe are complete."""
    _user_flag(event, event_id, False, sys._getframe(1))


def wait_flag(event: HardEvent, event_id: int = 0) -> None:
    """Hold the event's destination pipe until flag `event_id` is set, then clear it."""
    _user_flag(event, event_id, True, sys._getframe(1))


_CHECKED: dict[tuple[Any, Any, bool], int] = {}


def _user_flag(event: HardEvent, event_id: int, wait: bool, frame: Site) -> None:
    try:
        key = _CHECKED.get((event, event_id, wait))
    except TypeError:  # not even hashable
        key = None
    if key is None:
        call = "wait_flag" if wait else "set_flag"
        checked, number = check_event(event, call), integer(f"{call}: event_id", event_id)
        if not 0 <= number < EVENT_IDS:
            raise KernelError(f"{call}: event_id {number}, allowed are 0..{EVENT_IDS - 1}")
        key = _CHECKED[(checked, number, wait)] = flag_key(checked, number, wait)
    emit_flag(key, frame)


def pipe_barrier(pipe: PipeID) -> None:
    """All earlier instructions of `pipe` finish before its next one starts; PIPE_ALL: of every pipe."""
    emit_barrier(pipe, sys._getframe(1))


def emit_barrier(pipe: PipeID, frame: Site) -> None:
    """Record a PipeBarrier issued at `frame`."""
    recorder = RECORDER
    site = ("PipeBarrier", pipe, recorder.pending, id(frame.f_code), frame.f_lasti)
    try:
        instr = recorder.cache.get(site)
    except TypeError:  # `pipe` is not even hashable
        instr = None
    if instr is None:
        found = _check_barrier(pipe)
        issued_on = PipeID.PIPE_S if found is PipeID.PIPE_ALL else found
        instr = recorder.cache[site] = Instr(
            PIPE_BARRIER,
            issued_on,
            BarrierWork(found),
            scalar_calls=recorder.pending,
            place=recorder.place(frame),
            detail=found.name,
        )
    recorder.pending = 0
    recorder.append(instr)


def _check_barrier(pipe: Any) -> PipeID:
    try:
        found = PipeID(pipe)
    except ValueError:
        raise KernelError(f"pipe_barrier takes a PipeID such as PipeID.PIPE_V, not {shown(pipe)}") from None
    if found is PipeID.PIPE_S:
        raise KernelError("pipe_barrier(PIPE_S) is not allowed: the scalar unit runs in order by itself")
    if found is not PipeID.PIPE_ALL and found not in _VECTOR_CORE_PIPES:
        raise KernelError(
            f"pipe_barrier({found.name}): a vector core has no such pipe, allowed are PIPE_V, PIPE_MTE2, PIPE_MTE3 and "
            "PIPE_ALL; cube kernels are not simulated yet"
        )
    return found


def data_sync_barrier(arg0: MemDsbT) -> None:
    """Wait until the memory accesses that `arg0` names are done; timed as a barrier of all pipes."""
    if not isinstance(arg0, MemDsbT):
        raise KernelError(f"data_sync_barrier takes a MemDsbT such as MemDsbT.ALL, not {shown(arg0)}")
    frame = sys._getframe(1)
    RECORDER.append(
        Instr(
            DATA_SYNC_BARRIER,
            PipeID.PIPE_S,
            BarrierWork(PipeID.PIPE_ALL),
            scalar_calls=RECORDER.pending,
            place=RECORDER.place(frame),
            detail=arg0.name,
        )
    )
    RECORDER.pending = 0


def sync_all(
    gm_workspace: GlobalTensor | bool | None = None,
    ub_workspace: LocalTensor | None = None,
    used_cores: int = 0,
    is_aiv_only: bool = True,
) -> None:
    """Wait for all cores: without tensors by hardware flags, with them (soft form) through a zeroed GM workspace.

    The soft form's own GM traffic is not timed: both forms cost what the chip's file says for SyncAll.
    """
    frame = sys._getframe(1)
    if gm_workspace is None or isinstance(gm_workspace, bool):
        soft = False
    else:
        soft = True
        _check_soft_sync(gm_workspace, ub_workspace, used_cores)
    if not integer("sync_all: is_aiv_only", is_aiv_only) or gm_workspace is False:
        raise KernelError("sync_all(is_aiv_only=False) waits for cube cores, which are not simulated yet")
    RECORDER.append(
        Instr(
            SYNC_ALL,
            PipeID.PIPE_S,
            SyncWork(),
            scalar_calls=RECORDER.pending,
            place=RECORDER.place(frame),
            detail="soft" if soft else "hard",
        )
    )
    RECORDER.pending = 0
    RECORDER.launch.park("SyncAll")


def _check_soft_sync(gm: Any, ub: Any, used_cores: Any) -> None:
    if ub is None:
        raise KernelError("sync_all with a gm_workspace also needs a ub_workspace")
    for name, given, kind in (("gm_workspace", gm, GlobalTensor), ("ub_workspace", ub, LocalTensor)):
        if not isinstance(given, kind):
            raise KernelError(f"sync_all: {name} must be a {kind.__name__}, not {type(given).__name__}")
    cores = RECORDER.block_dim
    if integer("sync_all: used_cores", used_cores) not in (0, cores):
        raise KernelError(
            f"sync_all: used_cores {used_cores}, but the launch has {counted(cores, 'block')}; waiting for only some "
            "of them is not simulated yet (0 means all)"
        )
    if gm.dtype.name != "int32" or ub.dtype.name != "int32":
        raise KernelError(f"sync_all takes int32 workspaces, not {gm.dtype!r} and {ub.dtype!r}")
    need = cores * _SYNC_BYTES_PER_CORE
    gm_bytes = gm.size * 4 if gm.size else gm.allocation.nbytes - gm.offset
    for name, nbytes in (("gm_workspace", gm_bytes), ("ub_workspace", ub.get_length())):
        if nbytes < need:
            raise KernelError(f"sync_all: {name} has {nbytes} B, but {cores} blocks need {need} B (32 B per block)")


def _refuse_cross_core(name: str) -> Any:
    def call(*_: Any, **__: Any) -> None:
        raise UnsupportedError(f"asc.{name}: synchronisation of single cores is not simulated yet; use asc.sync_all")

    call.__name__ = call.__qualname__ = name
    return call


cross_core_set_flag = _refuse_cross_core("cross_core_set_flag")
cross_core_wait_flag = _refuse_cross_core("cross_core_wait_flag")
ib_set = _refuse_cross_core("ib_set")
ib_wait = _refuse_cross_core("ib_wait")
notify_next_block = _refuse_cross_core("notify_next_block")
wait_pre_block = _refuse_cross_core("wait_pre_block")
