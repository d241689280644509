"""How one GM transfer becomes an instruction: its work, its regions and the numpy function that moves the bytes.

A `Transfer` is built once per distinct call. Its `run` gets the allocation's bytes and the byte offset of this call, so
that the same instruction serves every tile.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.asc.operands import refuse, whole
from ascend_sim.asc.tensors import LocalTensor
from ascend_sim.isa.dtypes import DataType
from ascend_sim.program import BLOCK_BYTES, CopyWork, Memory, Region

Bytes = npt.NDArray[np.uint8]
GmRun = Callable[[Bytes, int], None]
Amount = int | tuple[int, int, int, int]  # count of elements, or block_count, block_len, src_stride, dst_stride
MAX_COUNT = 0xFFFFFFFF
MAX_BLOCKS = 4095  # the hardware's limit for block_count (soc_specs 2.4)
MAX_UINT16 = 0xFFFF
POISON = 0xFF  # what "random" filler holds: as memory that nothing has written (NaN for floats)


@dataclass(frozen=True, slots=True)
class Transfer:
    """`blocks` rows of `row_bytes` of GM data, `gm_pitch` bytes apart in GM and `ub_pitch` apart in UB.

    `left` bytes precede the data in each UB row; `ub_row` is the whole row with its filler, a multiple of 32 B.
    `loops` repeats all rows: `(count, GM bytes, UB bytes)` from one repetition to the next, outermost first.
    """

    blocks: int
    row_bytes: int
    gm_pitch: int
    ub_pitch: int
    ub_row: int
    left: int = 0
    loops: tuple[tuple[int, int, int], ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """Repetitions from the outermost loop to the rows."""
        return (*(count for count, _, _ in self.loops), self.blocks)

    @property
    def gm_strides(self) -> tuple[int, ...]:
        return (*(stride for _, stride, _ in self.loops), self.gm_pitch)

    @property
    def ub_strides(self) -> tuple[int, ...]:
        return (*(stride for _, _, stride in self.loops), self.ub_pitch)

    @property
    def gm_extent(self) -> int:
        """Bytes from the first to the last byte touched in GM."""
        return _reach(self.shape, self.gm_strides) + self.row_bytes

    @property
    def ub_extent(self) -> int:
        return _reach(self.shape, self.ub_strides) + self.ub_row

    @property
    def contiguous(self) -> bool:
        """Whether the data is one run on both sides, without filler."""
        dense = self.gm_pitch == self.row_bytes == self.ub_pitch
        return self.left == 0 and self.row_bytes == self.ub_row and (dense or self.blocks == 1) and not self.loops

    def gm_region(self) -> Region:
        region = rows_region(Memory.GM, 0, self.row_bytes, self.blocks, self.gm_pitch)
        return _repeated(region, tuple((count, stride) for count, stride, _ in self.loops))

    def ub_region(self, addr: int, with_filler: bool) -> Region:
        length = self.ub_row if with_filler else self.row_bytes
        region = rows_region(Memory.UB, addr, length, self.blocks, self.ub_pitch)
        return _repeated(region, tuple((count, stride) for count, _, stride in self.loops))

    def work(self, to_ub: bool, l2_bypass: bool, atomic: str | None = None) -> CopyWork:
        loops = tuple((count, stride) for count, stride, _ in self.loops)
        return CopyWork(to_ub, self.blocks, self.row_bytes, self.gm_pitch, l2_bypass, atomic, loops)


def _reach(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """Bytes from the start of the first row to the start of the last."""
    return sum((count - 1) * stride for count, stride in zip(shape, strides, strict=True))


def _repeated(region: Region, loops: tuple[tuple[int, int], ...]) -> Region:
    return Region(region.memory, region.start, region.length, loops + region.dims) if loops else region


def rows_region(memory: Memory, start: int, length: int, count: int, pitch: int) -> Region:
    """`count` runs of `length` bytes, merged into one where they touch."""
    if count == 1 or pitch == length:
        return Region(memory, start, length * count)
    return Region(memory, start, length, ((count, pitch),))


def ub_rows(ub: Bytes, start: int, count: int, length: int, pitch: int) -> npt.NDArray[np.uint8]:
    """A (count, length) byte view of UB."""
    return np.ndarray((count, length), np.uint8, ub, start, (pitch, 1))


def _ub_view(ub: Bytes, start: int, move: Transfer) -> npt.NDArray[np.uint8]:
    """The data of all rows in UB as bytes, an axis per loop."""
    return np.ndarray((*move.shape, move.row_bytes), np.uint8, ub, start, (*move.ub_strides, 1))


@dataclass(frozen=True, slots=True)
class Filler:
    """What stands beside the data in each UB row: `value` (None: poison), or the row's first element if `first`."""

    dtype: DataType
    first: bool
    value: Any = None

    def writer(self, ub: Bytes, addr: int, move: Transfer) -> Callable[[], None]:
        """The function that writes the filler of all rows; call it after the data has arrived."""
        size = self.dtype.itemsize
        shape, strides = (*move.shape, move.ub_row // size), (*move.ub_strides, size)
        typed = np.ndarray(shape, self.dtype.numpy, ub, addr, strides)
        left, right = typed[..., : move.left // size], typed[..., (move.left + move.row_bytes) // size :]
        if self.first:
            source = typed[..., :1]

            def repeat_first() -> None:
                right[...] = source

            return repeat_first
        sides = [side.view(np.uint8) if self.value is None else side for side in (left, right) if side.size]
        value = POISON if self.value is None else self.value

        def fill() -> None:
            for side in sides:
                side[...] = value

        return fill


def load(ub: Bytes, addr: int, move: Transfer, filler: Filler | None) -> GmRun:
    """The function that copies GM to UB."""
    if move.contiguous:
        nbytes = move.blocks * move.row_bytes
        target = ub[addr : addr + nbytes]

        def run(data: Bytes, start: int) -> None:
            target[:] = data[start : start + nbytes]

        return run
    rows = _ub_view(ub, addr + move.left, move)
    shape, strides, byte, make = rows.shape, (*move.gm_strides, 1), np.dtype(np.uint8), np.ndarray

    def copy_rows(data: Bytes, start: int) -> None:
        rows[...] = make(shape, byte, data, start, strides)

    if filler is None or move.ub_row == move.row_bytes:
        return copy_rows
    fill = filler.writer(ub, addr, move)

    def copy_and_fill(data: Bytes, start: int) -> None:
        copy_rows(data, start)
        fill()

    return copy_and_fill


def store(ub: Bytes, addr: int, move: Transfer) -> GmRun:
    """The function that copies UB to GM, overwriting."""
    if move.contiguous:
        nbytes = move.blocks * move.row_bytes
        source = ub[addr : addr + nbytes]

        def run(data: Bytes, start: int) -> None:
            data[start : start + nbytes] = source

        return run
    rows = _ub_view(ub, addr, move)
    shape, strides, byte, make = rows.shape, (*move.gm_strides, 1), np.dtype(np.uint8), np.ndarray

    def copy_rows(data: Bytes, start: int) -> None:
        make(shape, byte, data, start, strides)[...] = rows

    return copy_rows


_COMBINE: dict[str, Any] = {"add": np.add, "max": np.maximum, "min": np.minimum}


def store_atomic(ub: Bytes, tensor: LocalTensor, move: Transfer, op: str) -> GmRun:
    """The function that combines UB into GM; each element rounds once to its own dtype, integers wrap."""
    dtype, size = tensor.dtype.numpy, tensor.dtype.itemsize
    shape = (*move.shape, move.row_bytes // size)
    rows = np.ndarray(shape, dtype, ub, tensor.addr, (*move.ub_strides, size))
    strides, combine, make = (*move.gm_strides, size), _COMBINE[op], np.ndarray

    def run(data: Bytes, start: int) -> None:
        target: npt.NDArray[Any] = make(shape, dtype, data, start, strides)
        with np.errstate(all="ignore"):
            target[...] = combine(target, rows)

    return run


def block_transfer(op: str, dtype: DataType, count: Amount, to_ub: bool | None) -> Transfer | None:
    """The rows of a data_copy; None if it moves nothing. For UB -> UB `to_ub` is None and `gm_pitch` the source's."""
    if isinstance(count, int):
        if count < 0:
            refuse(op, f"count is {count}, allowed are 0..{MAX_COUNT}")
        nbytes = count * dtype.itemsize
        if nbytes % BLOCK_BYTES:
            refuse(
                op,
                f"count {count} of {dtype.name} is {nbytes} B, allowed are multiples of 32 B: the hardware moves whole "
                f"32 B blocks and would drop the last {nbytes % BLOCK_BYTES} B "
                f"{'' if to_ub is None else '(data_copy_pad moves any number of bytes)'}".rstrip(),
            )
        return Transfer(1, nbytes, nbytes, nbytes, nbytes) if nbytes else None
    names = ("block_count", "block_len", "src_stride", "dst_stride")
    limits = (MAX_BLOCKS, MAX_UINT16, MAX_UINT16, MAX_UINT16)
    blocks, length, src_gap, dst_gap = (
        whole(op, f"DataCopyParams.{name}", value, 0, limit)
        for name, value, limit in zip(names, count, limits, strict=True)
    )
    row = length * BLOCK_BYTES
    if blocks == 0 or row == 0:
        return None
    src_pitch, dst_pitch = row + src_gap * BLOCK_BYTES, row + dst_gap * BLOCK_BYTES
    gm_pitch, ub_pitch = (dst_pitch, src_pitch) if to_ub is False else (src_pitch, dst_pitch)
    return Transfer(blocks, row, gm_pitch, ub_pitch, row)
