"""Tensors of the kernel language: views of unified buffer (LocalTensor) and global memory (GlobalTensor)."""

from __future__ import annotations

import sys
from enum import IntEnum, IntFlag
from typing import TYPE_CHECKING, Any, NoReturn

from ascend_sim.asc import scalar_access
from ascend_sim.asc.memory import Allocation
from ascend_sim.asc.plain import data_type, integer, shown
from ascend_sim.asc.recorder import CALL_UNIT, RECORDER
from ascend_sim.errors import KernelError
from ascend_sim.isa.dtypes import DataType
from ascend_sim.program import ScalarCall

if TYPE_CHECKING:
    from ascend_sim.asc.shapes import ShapeInfo

__all__ = ["CacheMode", "CacheRwMode", "GlobalAddress", "GlobalTensor", "LocalTensor", "TPosition"]

_SET_GLOBAL_BUFFER = CALL_UNIT[ScalarCall.SET_GLOBAL_BUFFER]
_ADDRESS = 2 * CALL_UNIT[ScalarCall.ALU]  # scale the index, add it


class TPosition(IntEnum):
    """Logical positions, numbered as in Ascend C; on an AIV VECIN, VECOUT and VECCALC are unified buffer."""

    GM = 0
    A1 = 1
    A2 = 2
    B1 = 3
    B2 = 4
    C1 = 5
    C2 = 6
    CO1 = 7
    CO2 = 8
    VECIN = 9
    VECOUT = 10
    VECCALC = 11
    MAX = 12


UB_POSITIONS = (TPosition.VECIN, TPosition.VECOUT, TPosition.VECCALC)


def position_name(pos: Any) -> str:
    """The name of a position for a text, or what was given instead of one."""
    return TPosition(pos).name if isinstance(pos, int) and 0 <= pos <= TPosition.MAX else shown(pos)


def ub_position(what: str, pos: Any) -> TPosition:
    """`pos` as a position in unified buffer; `what` begins the refusal: "asc.TBuf"."""
    if not isinstance(pos, int) or pos not in UB_POSITIONS:
        raise KernelError(
            f"{what} at {position_name(pos)}: allowed are VECIN, VECOUT and VECCALC; the memories of the cube unit are "
            "not simulated yet"
        )
    return TPosition(pos)


class CacheMode(IntEnum):
    """How GM accesses use L2 (`set_l2_cache_hint`)."""

    CACHE_MODE_NORMAL = 0
    CACHE_MODE_DISABLE = 1
    CACHE_MODE_LAST = 2
    CACHE_MODE_PERSISTENT = 4


class CacheRwMode(IntFlag):
    """Which accesses a cache hint speaks of."""

    READ = 1
    WRITE = 2
    RW = 3


class LocalTensor:
    """`size` elements of `dtype` at byte address `addr` of the unified buffer.

    `key` packs all of it into one integer for the recorder. Slices are views, kept with their tensor so that a loop
    that slices the same way every tile makes them once; `buffer` numbers the TPipe buffer that the tensor lies in (0
    for tensors at explicit addresses). `LocalTensor(dtype)` alone is an empty tensor, to be filled in place.
    Instructions refuse the positions of the cube unit.
    """

    __slots__ = ("_home", "_views", "addr", "buffer", "dtype", "key", "position", "shape_info", "size", "user_tag")

    def __init__(self, dtype: DataType, pos: TPosition = TPosition.VECCALC, addr: int = 0, tile_size: int = 0) -> None:
        if not isinstance(pos, int) or not 0 <= pos <= TPosition.MAX:
            raise KernelError(f"LocalTensor takes a TPosition such as TPosition.VECCALC, not {shown(pos)}")
        size = integer("LocalTensor: tile_size", tile_size)
        self._lay(data_type("LocalTensor", dtype), TPosition(pos), integer("LocalTensor: addr", addr), size, 0, None)
        _check_bounds(self, "LocalTensor")

    @staticmethod
    def in_buffer(
        dtype: DataType,
        pos: TPosition,
        addr: int,
        size: int,
        buffer: int,
        home: dict[DataType, LocalTensor] | None = None,
    ) -> LocalTensor:
        """A tensor in buffer number `buffer` of a TPipe, made by whoever keeps that buffer (`home`: its tensors)."""
        tensor = LocalTensor.__new__(LocalTensor)
        tensor._lay(dtype, pos, addr, size, buffer, home)
        return tensor

    def _lay(
        self,
        dtype: DataType,
        pos: TPosition,
        addr: int,
        size: int,
        buffer: int,
        home: dict[DataType, LocalTensor] | None,
    ) -> None:
        self.dtype = dtype
        self.position = pos
        self.addr = addr
        self.size = size
        self.buffer = buffer
        self.user_tag = -1
        self.shape_info: ShapeInfo | None = None
        self._home = home  # the owner's tensors by dtype: a tensor that changes is not handed out again
        self._renew()

    def _renew(self) -> None:
        """Bring `key` up to date and forget the views, after a change in place."""
        # addresses and sizes have 21 bits each: no chip may have more than 1 MiB of unified buffer
        self.key = self.addr | self.size << 21 | self.dtype.code << 42 | self.position << 47 | self.buffer << 52
        self._views: dict[Any, LocalTensor] = {}

    def _change(self) -> None:
        if self._home is not None:
            self._home.pop(self.dtype, None)
            self._home = None

    def __getitem__(self, index: Any) -> LocalTensor:
        """`t[i]` and `t[i:]`: the tensor from element i on."""
        start = index.start if index.__class__ is slice and index.stop is None and index.step is None else index
        view = self._views.get(start) if isinstance(start, int) else None
        return view if view is not None else self._slice(index)

    def __call__(self, index: Any) -> LocalTensor:
        return self[index]

    def __iter__(self) -> Any:
        raise KernelError("a LocalTensor cannot be iterated: read elements with get_value(index)")

    def _slice(self, index: Any) -> LocalTensor:
        offset = element_offset(index)
        if not 0 <= offset <= self.size:
            raise KernelError(f"LocalTensor slice starts at element {offset}, allowed are 0..{self.size}")
        view = self._view(self.dtype, self.addr + offset * self.dtype.itemsize, self.size - offset)
        self._views[offset] = view
        return view

    def _view(self, dtype: DataType, addr: int, size: int) -> LocalTensor:
        return LocalTensor.in_buffer(dtype, self.position, addr, size, self.buffer)

    def reinterpret_cast(self, dtype: DataType) -> LocalTensor:
        """The same bytes as elements of `dtype`."""
        view = self._views.get(dtype) if dtype.__class__ is DataType else None
        if view is None:
            dtype = data_type("reinterpret_cast", dtype)
            size = self.size * self.dtype.itemsize // dtype.itemsize
            view = self._views[dtype] = self._view(dtype, self.addr, size)
        return view

    def get_value(self, index: Any) -> Any:
        """The element at `index`, read by the scalar unit."""
        return scalar_access.load_local(self, index, sys._getframe(1))

    def set_value(self, index: Any, value: Any) -> None:
        """Write one element with the scalar unit."""
        scalar_access.store_local(self, index, value, sys._getframe(1))

    def get_size(self) -> int:
        """Elements."""
        return self.size

    def get_length(self) -> int:
        """Bytes."""
        return self.size * self.dtype.itemsize

    def set_size(self, size: int = 0) -> None:
        """Make the tensor `size` elements long from now on."""
        elements = integer("set_size: size", size)
        self._change()
        self.size = elements
        self._renew()
        _check_bounds(self, "set_size")

    def set_buffer_len(self, data_len: int) -> None:
        """Make the tensor `data_len` bytes long from now on."""
        self.set_size(integer("set_buffer_len: data_len", data_len) // self.dtype.itemsize)

    def get_phy_addr(self, offset: int = 0) -> int:
        """Byte address in the unified buffer of element `offset`."""
        address = self.addr + integer("get_phy_addr: offset", offset) * self.dtype.itemsize
        RECORDER.cache["get_phy_addr", address] = self.dtype  # trans_data_to_5hd takes its element type from here
        return address

    def get_position(self) -> TPosition:
        return self.position

    def get_user_tag(self) -> int:
        return self.user_tag

    def set_user_tag(self, tag: int = 0) -> None:
        self.user_tag = integer("set_user_tag: tag", tag)

    def set_addr_with_offset(self, src: LocalTensor, offset: int) -> None:
        """Lay this tensor on `src` from its element `offset` on."""
        if not isinstance(src, LocalTensor):
            raise KernelError(f"set_addr_with_offset takes a LocalTensor, not {type(src).__name__}")
        self.lay_on(src[offset])

    def lay_on(self, other: LocalTensor) -> None:
        """Take the bytes of `other` as this tensor's own from now on."""
        self._change()
        self.addr, self.buffer, self.position = other.addr, other.buffer, other.position
        self.size = other.size * other.dtype.itemsize // self.dtype.itemsize
        self._renew()

    def set_shape_info(self, info: ShapeInfo) -> None:
        self.shape_info = info

    def get_shape_info(self) -> ShapeInfo:
        if self.shape_info is None:
            raise KernelError("this LocalTensor has no shape: call set_shape_info first")
        return self.shape_info

    def print(self, data_len: int = 0) -> None:
        """Print the first `data_len` elements (0: all of them)."""
        from ascend_sim.asc.debug import dump_tensor  # noqa: PLC0415 - debug knows tensors, tensors only call it here

        dump_tensor(self, 0, integer("print: data_len", data_len) or self.size)

    def __repr__(self) -> str:
        return f"LocalTensor({self.dtype!r}, {self.position.name}, addr={self.addr}, size={self.size})"


class GlobalAddress:
    """A kernel argument: the address of a host array on the device, typed by the array."""

    __slots__ = ("allocation", "dtype", "offset")

    def __init__(self, allocation: Allocation, dtype: DataType, offset: int = 0) -> None:
        self.allocation = allocation
        self.dtype = dtype
        self.offset = offset  # bytes from the allocation's start

    def __add__(self, elements: int) -> GlobalAddress:
        return GlobalAddress(
            self.allocation, self.dtype, self.offset + integer("address offset", elements) * self.dtype.itemsize
        )

    def __repr__(self) -> str:
        return f"GlobalAddress({self.allocation.name!r}, {self.dtype!r}, offset={self.offset})"


class NoMemoryError(KernelError, AttributeError):
    """A GlobalTensor is used before it has been laid on memory."""


class GlobalTensor:
    """A typed window of global memory: `offset` bytes into `allocation`; `l2_bypass` is the L2 cache hint.

    `size` is in elements and only known when `set_global_buffer` was told it.
    """

    __slots__ = ("allocation", "dtype", "l2_bypass", "offset", "shape_info", "size")

    allocation: Allocation
    dtype: DataType
    offset: int
    size: int
    shape_info: ShapeInfo | None

    def __init__(self) -> None:
        self.l2_bypass = False
        self.size = 0
        self.shape_info = None

    def __getattr__(self, name: str) -> NoReturn:
        """What `set_global_buffer` has not set yet."""
        if name in GlobalTensor.__slots__:
            raise NoMemoryError("this GlobalTensor has no memory yet: call set_global_buffer first")
        raise AttributeError(f"a GlobalTensor has no attribute {name!r}")

    def set_global_buffer(self, buffer: GlobalAddress, buffer_size: int | None = None) -> None:
        """Lay the tensor on `buffer`, whose dtype it takes; `buffer_size` in elements."""
        if type(buffer) is not GlobalAddress:
            raise KernelError(
                f"set_global_buffer takes a GlobalAddress (an array argument of the kernel, or one plus an element "
                f"offset), not {type(buffer).__name__}"
            )
        RECORDER.pending += _SET_GLOBAL_BUFFER
        self.allocation = buffer.allocation
        self.dtype = buffer.dtype
        self.offset = buffer.offset
        self.size = 0 if buffer_size is None else integer("set_global_buffer: buffer_size", buffer_size)

    def __getitem__(self, index: Any) -> GlobalTensor:
        """`g[i]` and `g[i:]`: the tensor from element i on."""
        elements = index.start if index.__class__ is slice and index.stop is None and index.step is None else index
        if elements.__class__ is not int:
            if isinstance(elements, int):
                RECORDER.pending += _ADDRESS  # a run-time scalar; addresses have 64 bits, whatever its width
            elements = element_offset(index)
        view = _new_global(GlobalTensor)
        view.allocation = self.allocation
        view.dtype = dtype = self.dtype
        view.offset = self.offset + elements * dtype.itemsize
        view.size = self.size - elements if self.size else 0
        view.l2_bypass = self.l2_bypass
        view.shape_info = None
        return view

    def __call__(self, index: Any) -> GlobalTensor:
        return self[index]

    def __iter__(self) -> Any:
        raise KernelError("a GlobalTensor cannot be iterated: read elements with get_value(index)")

    def get_phy_addr(self, offset: int = 0) -> GlobalAddress:
        """The address of element `offset`."""
        start = self.offset + integer("get_phy_addr: offset", offset) * self.dtype.itemsize
        return GlobalAddress(self.allocation, self.dtype, start)

    def get_size(self) -> int:
        """Elements, or 0 when `set_global_buffer` was not told."""
        return self.size

    def get_value(self, offset: Any) -> Any:
        """The element at `offset`, read by the scalar unit through its data cache."""
        return scalar_access.load_global(self, offset, sys._getframe(1))

    def set_value(self, offset: Any, value: Any) -> None:
        """Write one element with the scalar unit, through its data cache."""
        scalar_access.store_global(self, offset, value, sys._getframe(1))

    def set_l2_cache_hint(
        self, mode: CacheMode = CacheMode.CACHE_MODE_NORMAL, rw_mode: CacheRwMode = CacheRwMode.RW
    ) -> None:
        """Let this tensor's transfers go by L2 (NORMAL) or past it (DISABLE); LAST and PERSISTENT count as NORMAL."""
        if not isinstance(mode, CacheMode):
            raise KernelError(f"set_l2_cache_hint takes a CacheMode, not {mode!r}")
        if rw_mode:
            self.l2_bypass = mode is CacheMode.CACHE_MODE_DISABLE

    def set_shape_info(self, info: ShapeInfo) -> None:
        self.shape_info = info

    def get_shape_info(self) -> ShapeInfo:
        if self.shape_info is None:
            raise KernelError("this GlobalTensor has no shape: call set_shape_info first")
        return self.shape_info

    def __repr__(self) -> str:
        name = self.allocation.name if hasattr(self, "allocation") else None
        return f"GlobalTensor({name!r}, {getattr(self, 'dtype', None)!r}, offset={getattr(self, 'offset', None)})"


_new_global = GlobalTensor.__new__


def element_offset(index: Any) -> int:
    """`t[i]` and `t[i:]` both mean "from element i on"; anything else is refused as pyasc does."""
    if isinstance(index, slice):
        if index.stop is not None or index.step is not None or index.start is None:
            raise KernelError(
                f"tensor slices take the form t[i] or t[i:], not [{_text(index.start)}:{_text(index.stop)}"
                f"{'' if index.step is None else f':{index.step}'}]"
            )
        index = index.start
    return integer("tensor index", index)


def _text(bound: Any) -> str:
    return "" if bound is None else str(bound)


def _check_bounds(tensor: LocalTensor, what: str) -> None:
    end = tensor.addr + tensor.size * tensor.dtype.itemsize
    limit = RECORDER.ub_bytes
    if tensor.addr < 0 or tensor.size < 0 or (limit and end > limit):
        raise KernelError(
            f"{what}: {tensor.size} elements of {tensor.dtype!r} at address {tensor.addr} end at {end}, but the "
            f"unified buffer has {limit} B"
        )
