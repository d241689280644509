"""TPipe: shares out the unified buffer and the event ids of one core."""

from __future__ import annotations

import sys
from typing import Any

from ascend_sim.asc.flags import EVENT_IDS, LOWEST_FREE, check_event, emit_barrier
from ascend_sim.asc.plain import integer
from ascend_sim.asc.queue import Buffer, TQueBind
from ascend_sim.asc.recorder import CALL_UNIT, RECORDER, KeptSite, Site
from ascend_sim.asc.tbuf import TBuf, TBufPool, buffer_size, check_pools
from ascend_sim.asc.tensors import TPosition, ub_position
from ascend_sim.errors import KernelError
from ascend_sim.program import BLOCK_BYTES, HardEvent, PipeID, ScalarCall

__all__ = ["TPipe", "get_tpipe_ptr"]

MAX_BUFFERS = 64  # per kernel (Ascend C, InitBuffer)

_TPIPE = CALL_UNIT[ScalarCall.TPIPE]
_INIT_BUFFER = CALL_UNIT[ScalarCall.INIT_BUFFER]
_EVENT_ID = CALL_UNIT[ScalarCall.EVENT_ID]


_ALL_IDS = (1 << EVENT_IDS) - 1


class EventPool:
    """Which of the eight ids of every HardEvent are taken; the lowest free one is given first."""

    __slots__ = ("taken",)

    def __init__(self) -> None:
        self.taken = [0] * len(HardEvent)

    def fetch(self, event: HardEvent) -> int:
        """The lowest free id, not taken."""
        found = LOWEST_FREE[self.taken[event] & _ALL_IDS]
        if found < 0:
            raise KernelError(
                f"all {EVENT_IDS} event ids of HardEvent.{HardEvent(event).name} are taken: a core has {EVENT_IDS} per "
                "event, so at most 8 tensors of one position may be between two calls of the queue at a time"
            )
        return found

    def take(self, event: HardEvent) -> int:
        found = LOWEST_FREE[self.taken[event] & _ALL_IDS]
        if found < 0:
            return self.fetch(event)
        self.taken[event] |= 1 << found
        return found

    def release(self, event: HardEvent, event_id: int) -> None:
        self.taken[event] &= ~(1 << event_id)


class TPipe:
    """One per kernel. Buffers are laid one after another from address 0, each rounded up to 32 B."""

    def __init__(self) -> None:
        session = RECORDER.launch
        if session is None:
            raise KernelError("asc.TPipe() can only be made inside a kernel")
        RECORDER.pending += _TPIPE
        self._made_at = KeptSite(sys._getframe(1))
        self._session = session
        self.events = EventPool()
        self._block = session.block
        if self._block.pipe is not None:
            raise KernelError("a kernel has one TPipe: destroy() the first before making another")
        self._start()

    def _start(self) -> None:
        self._block.pipe = self
        self._next_address = 0
        self._buffers = 0
        self.queues: list[TQueBind] = []
        self._owners: list[Any] = []

    def init(self) -> None:
        """Take the pipe into use again after `destroy`."""
        if self._block.pipe is not None:
            raise KernelError("TPipe.init: a TPipe is in use already; call destroy() first")
        RECORDER.pending += _TPIPE
        self._start()

    def destroy(self) -> None:
        """Wait for all freed buffers and for every pipe, and give the pipe up."""
        self._close(sys._getframe(1))

    def reset(self) -> None:
        """Free all buffers and events; `init_buffer` may then be called anew."""
        RECORDER.pending += _TPIPE
        self._drain(sys._getframe(1))
        self.events = EventPool()
        self._start()

    def finish(self) -> None:
        """What the destructor does at the end of a kernel: as `destroy`, at the place that made the pipe."""
        for queue in self.queues:
            held = queue.held_text()
            if held:
                self._session.warn(f"{queue.describe()} ends the kernel with {held}: every tensor wants free_tensor")
        self._close(self._made_at)

    def _drain(self, frame: Site) -> None:
        """Wait for the free flags that no alloc_tensor has waited for."""
        for queue in self.queues:
            queue.drain(frame)

    def _close(self, frame: Site) -> None:
        self._drain(frame)
        emit_barrier(PipeID.PIPE_ALL, frame)
        self.events = EventPool()
        self._block.pipe = None

    # -- buffers ------------------------------------------------------------------------------------------------

    def init_buffer(self, que: Any = None, num: Any = None, len: Any = None, *, buf: Any = None) -> None:  # noqa: A002
        """`init_buffer(que, num, len)`: `num` buffers of `len` bytes; `init_buffer(buf, num)`: one of `num` bytes."""
        target = que if que is not None else buf
        RECORDER.pending += _INIT_BUFFER
        if isinstance(target, TBuf):
            nbytes = buffer_size("TBuf size in bytes", num if len is None else len)
            target.attach(self._reserve(target, 1, nbytes)[0])
        elif isinstance(target, TQueBind):
            if num is None or len is None:
                raise KernelError("init_buffer(que, num, len) needs the number of buffers and their length in bytes")
            count = buffer_size("number of buffers", num)
            self.adopt(target, self._reserve(target, count, buffer_size("buffer length in bytes", len)))
        else:
            raise KernelError(f"init_buffer takes a TQue or a TBuf, not {type(target).__name__}")

    def adopt(self, queue: TQueBind, buffers: list[Buffer]) -> None:
        """Give `queue` its buffers."""
        queue.attach(self, buffers)
        self.queues.append(queue)
        self._limit_position(queue.position)
        if self._block.first_queue is None:
            self._block.first_queue = queue

    def _limit_position(self, position: TPosition) -> None:
        """From nine buffers of one position on, its queues must count what is allocated (eight at a time)."""
        same = [queue for queue in self.queues if queue.position == position]
        if sum(queue.buffer_count for queue in same) > EVENT_IDS:
            for queue in same:
                queue.limited = True

    def init_buf_pool(self, pool: TBufPool, len: int = 0, share_buf: TBufPool | None = None) -> None:  # noqa: A002
        """Reserve `len` bytes for a pool, or lay it over `share_buf`."""
        RECORDER.pending += _INIT_BUFFER
        check_pools(pool, share_buf)
        if share_buf is not None:
            pool.attach(self, share_buf.start, share_buf.nbytes)
            return
        buffer = self._reserve(pool, 1, buffer_size("pool length in bytes", len))[0]
        pool.attach(self, buffer.addr, buffer.nbytes)

    def get_base_addr(self, logic_pos: TPosition) -> int:
        """Where a position's memory starts: 0 for the unified buffer."""
        ub_position("get_base_addr", logic_pos)
        return 0

    @property
    def allocated_bytes(self) -> int:
        """Unified buffer that the buffers take, from address 0 on."""
        return self._next_address

    def _reserve(self, owner: Any, num: int, nbytes: int) -> list[Buffer]:
        """`num` buffers in a row; refuses what the core has no room or no handle for."""
        rounded = -(-nbytes // BLOCK_BYTES) * BLOCK_BYTES
        buffers = self.number_buffers(num, rounded, self._next_address)
        self._owners.append((owner, num, rounded))
        self._next_address += num * rounded
        if self._next_address > self._session.ub_usable_bytes:
            raise KernelError(self._overflow_text())
        return buffers

    def number_buffers(self, num: int, nbytes: int, address: int) -> list[Buffer]:
        """Handles for `num` buffers of `nbytes` from `address` on."""
        if self._buffers + num > MAX_BUFFERS:
            raise KernelError(
                f"init_buffer: {self._buffers} buffers exist and {num} more are asked for, but a TPipe manages at most "
                f"{MAX_BUFFERS}"
            )
        first = self._buffers + 1
        self._buffers += num
        return [Buffer(first + i, address + i * nbytes, nbytes) for i in range(num)]

    def _overflow_text(self) -> str:
        lines = [f"  {owner.describe()}: {num} x {nbytes} B = {num * nbytes} B" for owner, num, nbytes in self._owners]
        return (
            f"unified buffer overflow: {self._next_address} B asked for, {self._session.ub_usable_bytes} B usable on "
            f"{self._session.soc_name}; buffers (each rounded up to 32 B):\n" + "\n".join(lines)
        )

    # -- event ids ----------------------------------------------------------------------------------------------

    def alloc_event_id(self, event: HardEvent = HardEvent.V_S) -> int:
        """Take the lowest free id of `event`; give it back with `release_event_id`."""
        RECORDER.pending += _EVENT_ID
        return self.events.take(check_event(event, "alloc_event_id"))

    def release_event_id(self, id: int, event: HardEvent = HardEvent.V_S) -> None:  # noqa: A002
        RECORDER.pending += _EVENT_ID
        checked = check_event(event, "release_event_id")
        number = integer("release_event_id: id", id)
        if not 0 <= number < EVENT_IDS or not self.events.taken[checked] >> number & 1:
            raise KernelError(f"release_event_id: id {number} of HardEvent.{checked.name} is not taken")
        self.events.release(checked, number)

    def fetch_event_id(self, event: HardEvent = HardEvent.V_S) -> int:
        """The lowest free id of `event`, without taking it: two fetches give the same id."""
        RECORDER.pending += _EVENT_ID
        return self.events.fetch(check_event(event, "fetch_event_id"))


def get_tpipe_ptr() -> TPipe:
    """The kernel's TPipe."""
    session = RECORDER.launch
    if session is None or session.block.pipe is None:
        raise KernelError("get_tpipe_ptr: this kernel has no TPipe")
    found: TPipe = session.block.pipe
    return found
