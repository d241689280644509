"""TBuf and TBufPool: plain pieces of unified buffer, without queue and without flags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascend_sim.asc.plain import data_type, integer
from ascend_sim.asc.queue import Buffer, TQueBind
from ascend_sim.asc.tensors import LocalTensor, TPosition, ub_position
from ascend_sim.errors import KernelError
from ascend_sim.isa.dtypes import DataType
from ascend_sim.plurals import counted
from ascend_sim.program import BLOCK_BYTES

if TYPE_CHECKING:
    from ascend_sim.asc.pipe import TPipe

__all__ = ["TBuf", "TBufPool"]

_POOL_BUFFERS = 16


class TBuf:
    """One buffer for intermediate results; `alloc_tensor` is `get`, `free_tensor` does nothing (as in Ascend C)."""

    def __init__(self, pos: TPosition = TPosition.VECCALC) -> None:
        self._pos = ub_position("asc.TBuf", pos)
        self._buffer: Buffer | None = None
        self._parts: dict[Any, LocalTensor] = {}

    def attach(self, buffer: Buffer) -> None:
        """Called by init_buffer."""
        self._buffer = buffer
        self._parts = {}

    def get(self, dtype: DataType, len: int | None = None, shape: Any = None) -> LocalTensor:  # noqa: A002
        """The first `len` elements as a tensor of `dtype`, or the whole buffer."""
        buffer = self._buffer
        if buffer is None:
            raise KernelError("TBuf.get: this TBuf has no buffer yet: call pipe.init_buffer first")
        dtype = data_type("TBuf.get", dtype)
        if len is None and shape is None:
            return buffer.tensor(dtype, self._pos)
        size = buffer.nbytes // dtype.itemsize if len is None else integer("TBuf.get: len", len)
        part = self._part(buffer, dtype, 0, size)
        if shape is not None:
            part.set_shape_info(shape)
        return part

    def get_with_offset(self, size: int, buf_offset: int, dtype: DataType) -> LocalTensor:
        """`size` elements from byte `buf_offset` (a multiple of 32) on."""
        if self._buffer is None:
            raise KernelError("TBuf.get_with_offset: this TBuf has no buffer yet: call pipe.init_buffer first")
        offset = integer("TBuf.get_with_offset: buf_offset", buf_offset)
        if offset % BLOCK_BYTES or offset < 0:
            raise KernelError(f"TBuf.get_with_offset: buf_offset {offset} must be a multiple of {BLOCK_BYTES} B")
        elements = integer("TBuf.get_with_offset: size", size)
        return self._part(self._buffer, data_type("TBuf.get_with_offset", dtype), offset, elements)

    def _part(self, buffer: Buffer, dtype: DataType, offset: int, size: int) -> LocalTensor:
        key = (dtype, offset, size)
        part = self._parts.get(key)
        if part is None or part.size != size:
            nbytes = size * dtype.itemsize
            if size < 0 or offset + nbytes > buffer.nbytes:
                raise KernelError(
                    f"TBuf.get: {size} elements of {dtype!r} from byte {offset} need {offset + nbytes} B, but the "
                    f"buffer has {buffer.nbytes} B"
                )
            part = LocalTensor.in_buffer(dtype, self._pos, buffer.addr + offset, size, buffer.number)
            self._parts[key] = part
        return part

    def alloc_tensor(self, dtype: DataType) -> LocalTensor:
        return self.get(dtype)

    def free_tensor(self, tensor: LocalTensor) -> None:
        """Nothing to do: a TBuf is not shared out."""

    def describe(self) -> str:
        return f"TBuf({self._pos.name})"


class TBufPool:
    """A stretch of unified buffer that several queues and TBufs are laid in; two pools may share one stretch."""

    def __init__(self, pos: TPosition, buf_id_size: int = 4) -> None:
        self._pos = ub_position("asc.TBufPool", pos)
        self._limit = integer("asc.TBufPool: buf_id_size", buf_id_size)
        if not 1 <= self._limit <= _POOL_BUFFERS:
            raise KernelError(f"asc.TBufPool: buf_id_size {self._limit}, allowed are 1..{_POOL_BUFFERS}")
        self._pipe: TPipe | None = None
        self.start = 0
        self.nbytes = 0
        self._restart()

    def _restart(self) -> None:
        self._used = 0
        self._buffers = 0

    def attach(self, pipe: TPipe, start: int, nbytes: int) -> None:
        """Called by init_buf_pool."""
        self._pipe, self.start, self.nbytes = pipe, start, nbytes
        self._restart()

    def init_buf_pool(self, pool: TBufPool, len: int = 0, share_buf: TBufPool | None = None) -> None:  # noqa: A002
        """Lay a pool of `len` bytes into this one, or over `share_buf`."""
        check_pools(pool, share_buf)
        if share_buf is not None:
            pool.attach(self._open(), share_buf.start, share_buf.nbytes)
            return
        start, nbytes = self._take(1, len)
        pool.attach(self._open(), start, nbytes)

    def init_buffer(self, que: Any = None, num: Any = None, len: Any = None, *, buf: Any = None) -> None:  # noqa: A002
        """As `TPipe.init_buffer`, inside this pool; a TBuf's size may be called `num` or `len`."""
        pipe = self._open()
        target = que if que is not None else buf
        if isinstance(target, TBuf):
            start, nbytes = self._take(1, num if len is None else len)
            target.attach(pipe.number_buffers(1, nbytes, start)[0])
        elif isinstance(target, TQueBind):
            count = buffer_size("number of buffers", num)
            start, nbytes = self._take(count, len)
            pipe.adopt(target, pipe.number_buffers(count, nbytes, start))
        else:
            raise KernelError(f"init_buffer takes a TQue or a TBuf, not {type(target).__name__}")

    def reset(self) -> None:
        """Forget the buffers laid in this pool."""
        self._restart()

    def _open(self) -> TPipe:
        if self._pipe is None:
            raise KernelError("this TBufPool has no memory yet: call pipe.init_buf_pool first")
        return self._pipe

    def _take(self, num: int, nbytes: Any) -> tuple[int, int]:
        rounded = -(-buffer_size("buffer length in bytes", nbytes) // BLOCK_BYTES) * BLOCK_BYTES
        start = self.start + self._used
        self._used += num * rounded
        self._buffers += num
        if self._used > self.nbytes:
            raise KernelError(f"{self.describe()}: {self._used} B asked for, but the pool has {self.nbytes} B")
        if self._buffers > self._limit:
            raise KernelError(
                f"{self.describe()}: {counted(self._buffers, 'buffer')} asked for, but buf_id_size is {self._limit}"
            )
        return start, rounded

    def describe(self) -> str:
        return f"TBufPool({self._pos.name})"


def check_pools(pool: Any, share_buf: Any) -> None:
    """Refuse `init_buf_pool` with anything but TBufPools."""
    for given in (pool, share_buf) if share_buf is not None else (pool,):
        if not isinstance(given, TBufPool):
            raise KernelError(f"init_buf_pool takes a TBufPool, not {type(given).__name__}")


def buffer_size(what: str, value: Any) -> int:
    """A length or number that `init_buffer` asks for, at least 1."""
    size = integer(f"init_buffer: {what}", value)
    if size <= 0:
        raise KernelError(f"init_buffer: {what} is {size}, must be at least 1")
    return size
