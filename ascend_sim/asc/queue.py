"""TQue and TQueBind: buffers that pass from one pipe to the next, with the flags that this takes.

EnQue takes an event id and sets its flag, DeQue waits for it and gives the id back; FreeTensor and AllocTensor do the
same in the other direction. Buffers are used in turn. These calls are on the hot path of every tile: what can be worked
out once (every flag, the tensor of every buffer and dtype) is.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ascend_sim.asc.flags import EVENT_IDS, LOWEST_FREE, Flag, emit_flag
from ascend_sim.asc.plain import data_type, shown
from ascend_sim.asc.recorder import CALL_UNIT, RECORDER, Site
from ascend_sim.asc.tensors import UB_POSITIONS, LocalTensor, TPosition, position_name, ub_position
from ascend_sim.errors import KernelError
from ascend_sim.isa.dtypes import DataType
from ascend_sim.program import HardEvent, ScalarCall

if TYPE_CHECKING:
    from ascend_sim.asc.pipe import TPipe

__all__ = ["TQue", "TQueBind"]

_ALLOC = CALL_UNIT[ScalarCall.ALLOC_TENSOR]
_FREE = CALL_UNIT[ScalarCall.FREE_TENSOR]
_ENQUE = CALL_UNIT[ScalarCall.EN_QUE]
_DEQUE = CALL_UNIT[ScalarCall.DE_QUE]

# On the 950 queues lock their buffers with mutexes, one per buffer, of which a vector core has 32 (Ascend C's TPipe for
# arch 3510), so freed buffers do not use events up. Here they are ids of the same flags.
MUTEX_IDS = 32
_FIRST_IDS = (1 << EVENT_IDS) - 1
IDLE, HELD, QUEUED = 0, 1, 2  # a buffer is free, in the kernel's hands, or between enque and deque
_STATE_TEXT = ("free", "allocated", "in the queue")
_frame = sys._getframe


class Buffer:
    """One buffer of a queue or TBuf. `free_id` and `queue_id` are event ids in use, or -1."""

    __slots__ = ("addr", "free_id", "nbytes", "number", "queue_id", "state", "tensors")

    def __init__(self, number: int, addr: int, nbytes: int) -> None:
        self.number = number
        self.addr = addr
        self.nbytes = nbytes
        self.state = IDLE
        self.free_id = -1
        self.queue_id = -1
        self.tensors: dict[DataType, LocalTensor] = {}

    def tensor(self, dtype: DataType, pos: TPosition) -> LocalTensor:
        """The whole buffer as a tensor of `dtype`, the same object every time."""
        found = self.tensors.get(dtype)
        if found is None:
            size = self.nbytes // dtype.itemsize
            found = LocalTensor.in_buffer(dtype, pos, self.addr, size, self.number, self.tensors)
            self.tensors[dtype] = found
        return found


class EventFlags:
    """One event's SetFlags and WaitFlags, by id."""

    __slots__ = ("event", "set", "wait")

    def __init__(self, event: HardEvent) -> None:
        self.event = int(event)
        self.set = [Flag(event, i, False) for i in range(MUTEX_IDS)]
        self.wait = [Flag(event, i, True) for i in range(MUTEX_IDS)]


_FLAGS = {
    event: EventFlags(event)
    for event in (
        HardEvent.MTE2_V,
        HardEvent.V_MTE2,
        HardEvent.V_MTE3,
        HardEvent.MTE3_V,
        HardEvent.MTE2_MTE3,
        HardEvent.MTE3_MTE2,
    )
}
# event of enque, event of free_tensor, by the two positions that a queue connects
_EVENTS = {
    (TPosition.GM, TPosition.VECIN): (HardEvent.MTE2_V, HardEvent.V_MTE2),
    (TPosition.GM, TPosition.VECCALC): (HardEvent.MTE2_V, HardEvent.V_MTE2),
    (TPosition.VECIN, TPosition.VECIN): (HardEvent.MTE2_V, HardEvent.V_MTE2),
    (TPosition.VECIN, TPosition.VECCALC): (HardEvent.MTE2_V, HardEvent.V_MTE2),
    (TPosition.VECOUT, TPosition.GM): (HardEvent.V_MTE3, HardEvent.MTE3_V),
    (TPosition.VECCALC, TPosition.GM): (HardEvent.V_MTE3, HardEvent.MTE3_V),
    (TPosition.VECCALC, TPosition.VECOUT): (HardEvent.V_MTE3, HardEvent.MTE3_V),
    (TPosition.VECIN, TPosition.VECOUT): (HardEvent.MTE2_MTE3, HardEvent.MTE3_MTE2),
}


class TQueBind:
    """A queue between position `src` and position `dst`; `depth` enques may follow each other without a deque."""

    def __init__(
        self,
        src: TPosition = TPosition.VECIN,
        dst: TPosition = TPosition.VECIN,
        depth: int = 0,
        mask: int = 0,
    ) -> None:
        self._setup(src, dst, depth)
        self._shown: tuple[TPosition, ...] = (src, dst)

    def _setup(self, src: TPosition, dst: TPosition, depth: int) -> None:
        events = _EVENTS.get((src, dst)) if isinstance(src, int) and isinstance(dst, int) else None
        if events is None:
            raise KernelError(
                f"a queue from {position_name(src)} to {position_name(dst)} is not simulated: a vector core connects "
                "GM, VECIN, VECCALC and VECOUT"
            )
        if not isinstance(depth, int) or depth < 0:
            raise KernelError(f"queue depth {shown(depth)}: must be a Python integer of 0 or more")
        self._positions = (src, dst)
        self.position = src if src in UB_POSITIONS else dst
        self._depth = int(depth)
        self._room = self._depth or 1
        self.limited = False  # more than eight buffers of this position: count the allocated ones
        self._enque_flags, self._free_flags = _FLAGS[events[0]], _FLAGS[events[1]]
        self._buffers: list[Buffer] = []
        self._by_number: dict[int, Buffer] = {}
        self._fifo: list[Buffer] = []
        self._cursor = 0
        self.rounds = 0  # alloc_tensor calls: the kernel's tile counter
        self._pipe: TPipe | None = None

    def attach(self, pipe: TPipe, buffers: list[Buffer]) -> None:
        """Called by init_buffer."""
        self._pipe = pipe
        self._taken = pipe.events.taken
        self._buffers = buffers
        self._by_number = {buffer.number: buffer for buffer in buffers}
        self._fifo = []
        self._cursor = 0

    # -- the four calls of every tile; each writes out the common case of `emit_flag` ------------------------------

    def alloc_tensor(self, dtype: Any) -> Any:
        """A free buffer as a tensor of `dtype`; its content is undefined. Depth 0: fills the tensor given instead."""
        recorder = RECORDER
        recorder.pending += _ALLOC
        self.rounds += 1
        cursor = self._cursor
        try:
            buffer = self._buffers[cursor]
        except IndexError:
            raise self._uninitialised("alloc_tensor") from None
        if buffer.state or self.limited:
            buffer = self._next_idle()
            cursor = self._cursor
        cursor += 1
        self._cursor = cursor if cursor < len(self._buffers) else 0
        buffer.state = HELD
        event_id = buffer.free_id
        if event_id >= 0:
            buffer.free_id = -1
            flags = self._free_flags
            self._taken[flags.event] ^= 1 << event_id
            pending = recorder.pending
            frame = _frame(1)
            flag = flags.wait[event_id]
            if (
                flag.pending == pending
                and flag.lasti == frame.f_lasti
                and flag.code is frame.f_code
                and flag.flags is recorder.flags
            ):
                recorder.pending = 0
                recorder.append(flag.instr)
            else:
                flag.emit(pending, frame)
        try:
            found = buffer.tensors.get(dtype)
        except TypeError:  # no data type: it cannot even be hashed
            found = None
        return found or self._first_tensor(buffer, dtype)

    def enque(
        self, tensor: LocalTensor, src_user_pos: TPosition | None = None, dst_user_pos: TPosition | None = None
    ) -> None:
        """Hand `tensor` to the next pipe: it may go on when everything issued so far on this one is complete."""
        recorder = RECORDER
        try:
            buffer = self._by_number[tensor.buffer]
        except (KeyError, AttributeError):
            raise self._foreign(tensor, "enque") from None
        fifo = self._fifo
        if buffer.state != HELD or len(fifo) >= self._room:
            raise self._bad_enque(buffer)
        flags = self._enque_flags if src_user_pos is None else self._user_flags(src_user_pos, dst_user_pos)
        taken = self._taken
        in_use = taken[flags.event]
        event_id = LOWEST_FREE[in_use & _FIRST_IDS]
        if event_id < 0:
            event_id = self._further_id(in_use, flags.event)
        buffer.queue_id = event_id
        taken[flags.event] = in_use | 1 << event_id
        buffer.state = QUEUED
        fifo.append(buffer)
        pending = recorder.pending + _ENQUE
        frame = _frame(1)
        flag = flags.set[event_id]
        if (
            flag.pending == pending
            and flag.lasti == frame.f_lasti
            and flag.code is frame.f_code
            and flag.flags is recorder.flags
        ):
            recorder.pending = 0
            recorder.append(flag.instr)
        else:
            flag.emit(pending, frame)

    def deque(self, dtype: Any, src_user_pos: TPosition | None = None, dst_user_pos: TPosition | None = None) -> Any:
        """The oldest tensor of the queue, for the pipe that it was handed to. Depth 0: fills the tensor given."""
        recorder = RECORDER
        try:
            buffer = self._fifo.pop(0)
        except IndexError:
            raise self._empty() from None
        flags = self._enque_flags if src_user_pos is None else self._user_flags(src_user_pos, dst_user_pos)
        event_id = buffer.queue_id
        buffer.queue_id = -1
        buffer.state = HELD
        self._taken[flags.event] ^= 1 << event_id
        pending = recorder.pending + _DEQUE
        frame = _frame(1)
        flag = flags.wait[event_id]
        if (
            flag.pending == pending
            and flag.lasti == frame.f_lasti
            and flag.code is frame.f_code
            and flag.flags is recorder.flags
        ):
            recorder.pending = 0
            recorder.append(flag.instr)
        else:
            flag.emit(pending, frame)
        try:
            found = buffer.tensors.get(dtype)
        except TypeError:  # no data type: it cannot even be hashed
            found = None
        return found or self._first_tensor(buffer, dtype)

    def free_tensor(self, tensor: LocalTensor) -> None:
        """Give the buffer back: it may be filled again when everything issued so far on this pipe is complete."""
        recorder = RECORDER
        try:
            buffer = self._by_number[tensor.buffer]
        except (KeyError, AttributeError):
            raise self._foreign(tensor, "free_tensor") from None
        if buffer.state != HELD:
            raise self._bad_free(buffer)
        flags = self._free_flags
        taken = self._taken
        in_use = taken[flags.event]
        event_id = LOWEST_FREE[in_use & _FIRST_IDS]
        if event_id < 0:
            event_id = self._further_id(in_use, flags.event)
        buffer.free_id = event_id
        taken[flags.event] = in_use | 1 << event_id
        buffer.state = IDLE
        pending = recorder.pending + _FREE
        frame = _frame(1)
        flag = flags.set[event_id]
        if (
            flag.pending == pending
            and flag.lasti == frame.f_lasti
            and flag.code is frame.f_code
            and flag.flags is recorder.flags
        ):
            recorder.pending = 0
            recorder.append(flag.instr)
        else:
            flag.emit(pending, frame)

    # -- the rare paths -----------------------------------------------------------------------------------------

    def _next_idle(self) -> Buffer:
        """The next free buffer from the cursor on; refuses when there is none, or a ninth one of this position."""
        if self.limited:
            self._check_position()
        count = len(self._buffers)
        for step in range(count):
            index = (self._cursor + step) % count
            if self._buffers[index].state == IDLE:
                self._cursor = index
                return self._buffers[index]
        raise KernelError(
            f"alloc_tensor: {self.describe()} has no free buffer ({self.held_text()}): free_tensor must come first, or "
            "init_buffer must ask for more buffers"
        )

    def _check_position(self) -> None:
        assert self._pipe is not None
        held = sum(q.outstanding() for q in self._pipe.queues if q.position == self.position)
        if held >= EVENT_IDS:
            raise KernelError(
                f"alloc_tensor: {held} tensors of position {self.position.name} are allocated and not freed; at most "
                f"{EVENT_IDS} are allowed"
            )

    def _first_tensor(self, buffer: Buffer, dtype: Any) -> LocalTensor | None:
        """The buffer's tensor of a dtype seen for the first time, or (depth 0) the given tensor laid on the buffer."""
        if isinstance(dtype, LocalTensor):
            if self._depth:
                raise KernelError(
                    f"{self.describe()}: filling a tensor in place needs depth 0; pass a data type to get a tensor"
                )
            dtype.lay_on(buffer.tensor(dtype.dtype, self.position))
            return None
        if not self._depth:
            raise KernelError(f"{self.describe()} works in place: pass an empty LocalTensor(dtype), not a data type")
        return buffer.tensor(data_type("alloc_tensor or deque", dtype), self.position)

    def _user_flags(self, src: TPosition, dst: TPosition | None) -> EventFlags:
        events = _EVENTS.get((src, dst)) if isinstance(src, int) and isinstance(dst, int) else None
        if events is None:
            raise KernelError(f"{self.describe()}: no hand-over from {position_name(src)} to {position_name(dst)}")
        return _FLAGS[events[0]]

    def _uninitialised(self, call: str) -> KernelError:
        return KernelError(f"{call}: {self.describe()} has no buffers yet: call pipe.init_buffer first")

    def _foreign(self, tensor: Any, call: str) -> KernelError:
        if not isinstance(tensor, LocalTensor):
            return KernelError(f"{call} takes a LocalTensor, not {type(tensor).__name__}")
        if not self._buffers:
            return self._uninitialised(call)
        return KernelError(f"{call}: {tensor!r} does not come from {self.describe()}")

    def _bad_enque(self, buffer: Buffer) -> KernelError:
        if buffer.state != HELD:
            return KernelError(f"enque: this buffer of {self.describe()} is {_STATE_TEXT[buffer.state]}, not allocated")
        return KernelError(
            f"enque: {self.describe()} of depth {self._depth} already holds {len(self._fifo)}: deque must come first"
        )

    def _bad_free(self, buffer: Buffer) -> KernelError:
        return KernelError(
            f"free_tensor: this buffer of {self.describe()} is {_STATE_TEXT[buffer.state]}, not allocated"
            + (" (freed twice?)" if buffer.state == IDLE else " (deque it first)")
        )

    def _empty(self) -> KernelError:
        if not self._buffers:
            return self._uninitialised("deque")
        return KernelError(f"deque: {self.describe()} is empty: every deque needs an enque before it")

    def _further_id(self, in_use: int, event: int) -> int:
        """An id past the event's eight, which only the 950's queues have."""
        free = ~in_use & (1 << MUTEX_IDS) - 1
        if RECORDER.arch != "3510" or not free:
            raise self._no_event(event)
        return (free & -free).bit_length() - 1

    def _no_event(self, event: int) -> KernelError:
        name = f"HardEvent.{HardEvent(event).name}"
        if RECORDER.arch == "3510":
            return KernelError(
                f"{self.describe()}: all {MUTEX_IDS} ids of {name} are taken; a core has {MUTEX_IDS} mutexes for the "
                "buffers of its queues"
            )
        return KernelError(
            f"{self.describe()}: all {EVENT_IDS} event ids of {name} are taken; a core has {EVENT_IDS} per event, so "
            "at most 8 buffers of one position can be used at a time"
        )

    # -- questions ----------------------------------------------------------------------------------------------

    @property
    def buffer_count(self) -> int:
        return len(self._buffers)

    def outstanding(self) -> int:
        """Buffers that are allocated or in the queue."""
        return sum(buffer.state != IDLE for buffer in self._buffers)

    def vacant_in_que(self) -> bool:
        """Whether another enque has room."""
        return len(self._fifo) < self._room

    def has_tensor_in_que(self) -> bool:
        return bool(self._fifo)

    def get_tensor_count_in_que(self) -> int:
        return len(self._fifo)

    def has_idle_buffer(self) -> bool:
        return any(buffer.state == IDLE for buffer in self._buffers)

    def free_all_event(self) -> None:
        """Wait for the flags of all tensors in the queue and of all freed buffers."""
        frame = _frame(1)
        for buffer in self._fifo:
            emit_flag(self._enque_flags.wait[buffer.queue_id].key, frame)
            self._taken[self._enque_flags.event] ^= 1 << buffer.queue_id
            buffer.queue_id, buffer.state = -1, HELD
        self._fifo.clear()
        self.drain(frame)

    def drain(self, frame: Site) -> None:
        """Wait for the flags of freed buffers that nobody has waited for."""
        for buffer in self._buffers:
            if buffer.free_id >= 0:
                emit_flag(self._free_flags.wait[buffer.free_id].key, frame)
                self._taken[self._free_flags.event] ^= 1 << buffer.free_id
                buffer.free_id = -1

    def describe(self) -> str:
        return f"{type(self).__name__}({', '.join(position_name(p) for p in self._shown)})"

    def held_text(self) -> str:
        """What the buffers that are not free are doing, or "" when all are."""
        counts = [(sum(b.state == state for b in self._buffers), _STATE_TEXT[state]) for state in (HELD, QUEUED)]
        return " and ".join(f"{n} {text}" for n, text in counts if n)


class TQue(TQueBind):
    """A queue at one position: VECIN hands MTE2 data to V, VECOUT hands V results to MTE3."""

    def __init__(self, pos: TPosition, depth: int) -> None:
        pos = ub_position("asc.TQue", pos)
        ends = {
            TPosition.VECIN: (TPosition.GM, TPosition.VECIN),
            TPosition.VECOUT: (TPosition.VECOUT, TPosition.GM),
            TPosition.VECCALC: (TPosition.VECCALC, TPosition.VECOUT),
        }[pos]
        self._setup(*ends, depth)
        self.position = pos
        self._shown = (pos,)
