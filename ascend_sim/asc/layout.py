"""transpose: a square of 16x16, or the sequence of instructions that changes NCHW into NHWC and back.

The layout change is no instruction of its own on the chip. It spreads every element of a source block into a row,
gathers rows in the order of the destination with one-block copies, turns them, and copies the first row of the result
out; a PIPE_V barrier stands behind each step. `_Turner` issues exactly these instructions, so values and time follow.
"""

from __future__ import annotations

from itertools import combinations
from sys import _getframe
from types import FrameType
from typing import Any

from ascend_sim.asc import checks
from ascend_sim.asc.checks import MAX_REPEATS
from ascend_sim.asc.flags import emit_barrier
from ascend_sim.asc.localcopy import local_copy
from ascend_sim.asc.operands import fits, local, refuse, whole
from ascend_sim.asc.params import TransposeParamsExt
from ascend_sim.asc.permute import TurnParams, block_list, five_hd, same_block, turn_square
from ascend_sim.asc.regions import overlap
from ascend_sim.asc.tensors import LocalTensor
from ascend_sim.isa.enums import TransposeType
from ascend_sim.isa.moves import TRANSPOSE, TRANSPOSE_LAYOUT
from ascend_sim.plurals import counted
from ascend_sim.program import BLOCK_BYTES, Memory, PipeID, Region

__all__ = ["transpose"]

MAX_CHANNELS = MAX_IMAGE = 4095
MAX_IMAGES = 65535


def transpose(dst: LocalTensor, src: LocalTensor, shared_tmp_buffer: Any = None, params: Any = None) -> None:
    """Transpose: `transpose(dst, src)` turns a 16x16 matrix of 16-bit elements; dst may be src.

    `transpose(dst, src, shared_tmp_buffer, params)` with TransposeParamsExt does the same for TRANSPOSE_ND2ND_B16, and
    changes the layout for TRANSPOSE_NCHW2NHWC and TRANSPOSE_NHWC2NCHW: (n_size, c_size, h_size, w_size) elements, where
    h_size * w_size is at most 4095 and fills whole 32 B blocks. `shared_tmp_buffer` is uint8; it needs
    (c + 2) * f bytes for NCHW -> NHWC and (2 c + 1) * f for NHWC -> NCHW, f = 512, or 1024 for 8-bit types. A size of 0
    does nothing. dst, src and the buffer must be disjoint.
    """
    frame = _getframe(1)
    if params is None and shared_tmp_buffer is None:
        turn_square(dst, src, frame)
        return
    row = TRANSPOSE
    if not isinstance(params, TransposeParamsExt):
        refuse(row.name, f"params must be TransposeParamsExt, not {type(params).__name__}")
    kind = params.transpose_type
    if kind == TransposeType.TRANSPOSE_ND2ND_B16:
        turn_square(dst, src, frame)
    elif kind in (TransposeType.TRANSPOSE_NCHW2NHWC, TransposeType.TRANSPOSE_NHWC2NCHW):
        to_nhwc = kind == TransposeType.TRANSPOSE_NCHW2NHWC
        _change_layout(dst, src, shared_tmp_buffer, params, to_nhwc, frame)
    else:
        name = TransposeType(kind).name if isinstance(kind, int) else repr(kind)
        allowed = "TRANSPOSE_ND2ND_B16, TRANSPOSE_NCHW2NHWC, TRANSPOSE_NHWC2NCHW"
        refuse(row.name, f"transpose_type is {name}, allowed are {allowed}")


def _change_layout(
    dst: LocalTensor, src: LocalTensor, temporary: Any, params: TransposeParamsExt, to_nhwc: bool, frame: FrameType
) -> None:
    row = TRANSPOSE_LAYOUT
    checks.check_tensors(row, (("dst", dst), ("src", src)))
    images = whole(row.name, "n_size", params.n_size, 0, MAX_IMAGES)
    channels = whole(row.name, "c_size", params.c_size, 0, MAX_CHANNELS)
    height, width = (whole(row.name, name, getattr(params, name), 0, MAX_IMAGE) for name in ("h_size", "w_size"))
    image = whole(row.name, "h_size * w_size", height * width, 0, MAX_IMAGE)
    size = src.dtype.itemsize
    if image * size % BLOCK_BYTES:
        refuse(
            row.name,
            f"h_size * w_size is {counted(image, 'element')} of {src.dtype.name} ({image * size} B), allowed are "
            "multiples of 32 B",
        )
    if not images * channels * image:
        return
    nbytes = images * channels * image * size
    fits(row.name, "dst", dst, nbytes)
    fits(row.name, "src", src, nbytes)
    square = 1024 if size == 1 else 512
    needed = square * (channels + 2 if to_nhwc else 2 * channels + 1)
    if local(row.name, "shared_tmp_buffer", temporary).dtype.name != "uint8":
        refuse(row.name, f"shared_tmp_buffer is {temporary.dtype.name}, allowed is uint8")
    fits(row.name, "shared_tmp_buffer", temporary, needed)
    lengths = (("dst", dst, nbytes), ("src", src, nbytes), ("shared_tmp_buffer", temporary, needed))
    spans = [(role, Region(Memory.UB, tensor.addr, length)) for role, tensor, length in lengths]
    for (role, span), (other, beside) in combinations(spans, 2):
        if overlap((span,), (beside,)):
            refuse(row.name, f"{role} and {other} overlap, they must not")
    turner = _Turner(dst, src, temporary, channels, image, frame)
    for n in range(images):
        (turner.to_nhwc if to_nhwc else turner.to_nchw)(n * channels * image * size)


class _Turner:
    """Issues the layout change of one image after the other; addresses in bytes, `square` bytes per turned square."""

    def __init__(
        self, dst: LocalTensor, src: LocalTensor, temporary: LocalTensor, channels: int, image: int, frame: FrameType
    ) -> None:
        self.dst, self.src, self.temporary, self.frame = dst, src, temporary, frame
        self.channels, self.image = channels, image
        self.size = src.dtype.itemsize
        self.per_block = BLOCK_BYTES // self.size
        self.rows = 32 if self.size == 1 else 16  # rows that are turned together
        self.row_bytes = 64 if self.size == 4 else 32  # one turned row
        self.square = 1024 if self.size == 1 else 512

    def to_nhwc(self, base: int) -> None:
        """src (C, HW) -> dst (HW, C), both `base` bytes into their tensors."""
        spread, picked = self.temporary.addr, self.temporary.addr + self.channels * self.square
        turned = picked + self.square
        image_blocks = self.image // self.per_block
        filled, done = 0, base
        total = self.image * self.channels
        for block in range(image_blocks):
            self.spread(spread, self.src.addr + base + block * BLOCK_BYTES, self.channels, image_blocks)
            for row in range(self.per_block):
                for channel in range(self.channels):
                    self.copy(picked + filled * BLOCK_BYTES, spread + channel * self.square + row * self.row_bytes, 1)
                    filled += 1
                    total -= 1
                    if filled == self.rows or total == 0:
                        self.turn(turned, picked)
                        blocks = filled // self.per_block
                        self.copy(self.dst.addr + done, turned, blocks)
                        done += blocks * BLOCK_BYTES
                        filled = 0

    def to_nchw(self, base: int) -> None:
        """src (HW, C) -> dst (C, HW), both `base` bytes into their tensors."""
        spread, picked = self.temporary.addr, self.temporary.addr + self.square
        turned = picked + self.channels * self.square
        image_bytes = self.image * self.size
        pixels = 0  # pixels that every channel has picked since the last turn
        for element in range(self.image * self.channels):
            row = element % self.per_block
            if row == 0:
                self.spread(spread, self.src.addr + base + element * self.size, 1, 0)
            channel = element % self.channels
            self.copy(picked + channel * self.square + pixels * BLOCK_BYTES, spread + row * self.row_bytes, 1)
            if channel < self.channels - 1:
                continue
            pixels += 1
            pixel = element // self.channels + 1
            if pixels == self.rows or pixel == self.image:
                self._put_channels(picked, turned, base + (pixel - pixels) * self.size, pixels, image_bytes)
                pixels = 0

    def _put_channels(self, picked: int, turned: int, at: int, pixels: int, image_bytes: int) -> None:
        """Turn the picked rows of every channel and copy the `pixels` first elements of each to its plane."""
        for channel in range(self.channels):
            self.turn(turned + channel * self.square, picked + channel * self.square)
        blocks = pixels // self.per_block
        gaps = self.square // BLOCK_BYTES - blocks, image_bytes // BLOCK_BYTES - blocks
        amount = (self.channels, blocks, gaps[0], gaps[1])
        local_copy(self._tensor(self.dst.addr + at), self._tensor(turned), amount, self.frame)
        emit_barrier(PipeID.PIPE_V, self.frame)

    def copy(self, to: int, out_of: int, blocks: int) -> None:
        local_copy(self._tensor(to), self._tensor(out_of), (1, blocks, 0, 0), self.frame)
        emit_barrier(PipeID.PIPE_V, self.frame)

    def spread(self, to: int, out_of: int, repeats: int, src_stride: int) -> None:
        """Every element of a block fills a row; repeat r takes the block `r * src_stride` blocks further on."""
        dst_stride = self.square // BLOCK_BYTES
        for first in range(0, repeats, MAX_REPEATS):
            at = to + first * self.square, out_of + first * src_stride * BLOCK_BYTES
            count = min(MAX_REPEATS, repeats - first)
            self._spread(*at, count, *((dst_stride, src_stride) if count > 1 else (0, 0)))

    def _spread(self, to: int, out_of: int, repeats: int, dst_stride: int, src_stride: int) -> None:
        source = same_block(out_of)
        if self.size > 1:
            self._turn(block_list(to), source, TurnParams(False, False, repeats, dst_stride, src_stride))
            return
        for high in (False, True):
            rows = block_list(to + (512 if high else 0))
            for half in (False, True):
                self._turn(rows, source, TurnParams(half, high, repeats, dst_stride, src_stride))

    def turn(self, to: int, out_of: int) -> None:
        """A square turned: row j of the result is element j of every row."""
        if self.size > 1:
            self._turn(block_list(to), block_list(out_of), TurnParams())
            return
        for below in (False, True):
            for high in (False, True):
                rows = block_list(to + (512 if high else 0))
                self._turn(rows, block_list(out_of + (512 if below else 0)), TurnParams(below, high))

    def _turn(self, to: Any, out_of: Any, params: TurnParams) -> None:
        five_hd(self.src.dtype, to, out_of, params, self.frame)
        emit_barrier(PipeID.PIPE_V, self.frame)

    def _tensor(self, addr: int) -> LocalTensor:
        """All of UB from `addr` on, as far as this sequence may touch it."""
        dtype = self.src.dtype
        for owner in (self.dst, self.src, self.temporary):
            end = owner.addr + owner.size * owner.dtype.itemsize
            if owner.addr <= addr < end:
                return LocalTensor(dtype, owner.position, addr, (end - addr) // dtype.itemsize)
        raise AssertionError(f"address {addr} lies in no operand")
