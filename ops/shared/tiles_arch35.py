"""Unified buffer of the 950's rotary kernels, and how tiles get into it and out of it.

A line is what is rotated of one head at one position, a cos row the cosines that belong to it. GM holds lines `full`
elements apart, of which only `length` are moved: what lies outside the slice is never read and never written. In UB the
parts of a line (1, 2 or 4, as the mode asks) fill whole blocks of 32 B each.
"""

from typing import Any

from ascend_sim import asc

BLOCK_BYTES = 32
VECIN, VECOUT = asc.TPosition.VECIN, asc.TPosition.VECOUT


class Line:
    """Sizes of a line of `length` elements: in elements, or in bytes where the name says so.

    A line in several `parts` is whole (`full` is `length`). `pitch_bytes`: lines lie farther apart in UB than they need
    to, because others of the kernel do.
    """

    def __init__(self, dtype: asc.DataType, length: int, full: int, parts: int = 1, pitch_bytes: int = 0) -> None:
        self.dtype = dtype
        self.itemsize = dtype.sizeof()
        self.length = length
        self.full = full
        self.parts = parts
        self.part_bytes = length * self.itemsize // parts
        self.gap_bytes = (full - length) * self.itemsize
        natural = -(-self.part_bytes // BLOCK_BYTES) * BLOCK_BYTES * parts
        self.pitch_bytes = max(pitch_bytes, natural)
        self.gap_blocks = (self.pitch_bytes - natural) // BLOCK_BYTES
        self.pitch = self.pitch_bytes // self.itemsize


class Buffers:
    """Queues of one core: `lines` lines of x and of the result, two buffers each, `rows` rows of cos and of sin.

    `x`, `y` and `cos` are the lines of input, result and tables.
    """

    def __init__(
        self, pipe: asc.TPipe, x: Line, y: Line, cos: Line, lines: int, rows: int, cos_buffers: int, depth: int
    ) -> None:
        self.line, self.result, self.row = x, y, cos
        self.x, self.y = asc.TQue(VECIN, depth), asc.TQue(VECOUT, depth)
        cos_depth = min(depth, cos_buffers)
        self.cos, self.sin = asc.TQue(VECIN, cos_depth), asc.TQue(VECIN, cos_depth)
        line_bytes = max(x.pitch_bytes, y.pitch_bytes)
        pipe.init_buffer(self.x, 2, lines * line_bytes)
        pipe.init_buffer(self.cos, cos_buffers, rows * cos.pitch_bytes)
        pipe.init_buffer(self.sin, cos_buffers, rows * cos.pitch_bytes)
        pipe.init_buffer(self.y, 2, lines * line_bytes)


class Loops:
    """Sizes and strides of a copy in loop mode: `inner` times, and that `outer` times; strides in elements."""

    def __init__(
        self, inner: int, outer: int, inner_gm: int, inner_ub: int, outer_gm: int = 0, outer_ub: int = 0
    ) -> None:
        self.sizes = inner, outer
        self.gm = inner_gm, outer_gm
        self.ub = inner_ub, outer_ub

    def to_ub(self, itemsize: int) -> asc.LoopModeParams:
        (gm_1, gm_2), (ub_1, ub_2) = self.gm, self.ub
        return asc.LoopModeParams(
            *self.sizes, gm_1 * itemsize, ub_1 * itemsize, gm_2 * itemsize, ub_2 * itemsize
        )  # fmt: skip

    def to_gm(self, itemsize: int) -> asc.LoopModeParams:
        (gm_1, gm_2), (ub_1, ub_2) = self.gm, self.ub
        return asc.LoopModeParams(
            *self.sizes, ub_1 * itemsize, gm_1 * itemsize, ub_2 * itemsize, gm_2 * itemsize
        )  # fmt: skip


Params = tuple[asc.DataCopyExtParams, asc.DataCopyPadExtParams]


def lines_in(lines: int, line: Line) -> Params:
    """`lines` lines from GM; the padding of a line in UB keeps what was there."""
    params = asc.DataCopyExtParams(lines * line.parts, line.part_bytes, line.gap_bytes, line.gap_blocks)
    return params, asc.DataCopyPadExtParams(line.dtype, False, 0, 0, 0)


def lines_out(lines: int, line: Line) -> asc.DataCopyExtParams:
    return asc.DataCopyExtParams(lines * line.parts, line.part_bytes, line.gap_blocks, line.gap_bytes)


@asc.jit
def copy_in(queue: asc.TQue, gm: asc.GlobalTensor, lines: int, line: Line) -> None:
    tile = queue.alloc_tensor(line.dtype)
    asc.data_copy_pad(tile, gm, *lines_in(lines, line))
    queue.enque(tile)


@asc.jit
def copy_in_both(
    first: asc.TQue, first_gm: asc.GlobalTensor, second: asc.TQue, second_gm: asc.GlobalTensor, rows: int, row: Line
) -> None:
    """cos and sin: both buffers are taken first, and both handed on last."""
    one, other = first.alloc_tensor(row.dtype), second.alloc_tensor(row.dtype)
    asc.data_copy_pad(one, first_gm, *lines_in(rows, row))
    asc.data_copy_pad(other, second_gm, *lines_in(rows, row))
    first.enque(one)
    second.enque(other)


@asc.jit
def copy_in_looped(queue: asc.TQue, gm: asc.GlobalTensor, lines: int, line: Line, loops: Loops) -> None:
    """[outer][inner][lines] lines with one instruction."""
    tile = queue.alloc_tensor(line.dtype)
    asc.set_loop_mode_para(loops.to_ub(line.itemsize), asc.DataCopyMVType.OUT_TO_UB)
    asc.data_copy_pad(tile, gm, *lines_in(lines, line))
    asc.reset_loop_mode_para(asc.DataCopyMVType.OUT_TO_UB)
    queue.enque(tile)


@asc.jit
def copy_in_both_looped(
    first: asc.TQue,
    first_gm: asc.GlobalTensor,
    second: asc.TQue,
    second_gm: asc.GlobalTensor,
    rows: int,
    row: Line,
    loops: Loops,
) -> None:
    asc.set_loop_mode_para(loops.to_ub(row.itemsize), asc.DataCopyMVType.OUT_TO_UB)
    copy_in_both(first, first_gm, second, second_gm, rows, row)
    asc.reset_loop_mode_para(asc.DataCopyMVType.OUT_TO_UB)


@asc.jit
def copy_out(queue: asc.TQue, gm: asc.GlobalTensor, lines: int, line: Line) -> None:
    tile = queue.deque(line.dtype)
    asc.data_copy_pad(gm, tile, lines_out(lines, line))
    queue.free_tensor(tile)


@asc.jit
def copy_out_looped(queue: asc.TQue, gm: asc.GlobalTensor, lines: int, line: Line, loops: Loops) -> None:
    tile = queue.deque(line.dtype)
    asc.set_loop_mode_para(loops.to_gm(line.itemsize), asc.DataCopyMVType.UB_TO_OUT)
    asc.data_copy_pad(gm, tile, lines_out(lines, line))
    asc.reset_loop_mode_para(asc.DataCopyMVType.UB_TO_OUT)
    queue.free_tensor(tile)


@asc.jit
def turn_lines(ub: Buffers, vf: Any, cos: asc.LocalTensor, sin: asc.LocalTensor, positions: int, heads: int) -> None:
    """A tile [positions][heads] of lines, a cos row per position."""
    line = ub.line
    x, y = ub.x.deque(line.dtype), ub.y.alloc_tensor(line.dtype)
    vf(y, x, cos, sin, positions, heads, line.length, (ub.result.pitch, line.pitch, ub.row.pitch))
    ub.x.free_tensor(x)
    ub.y.enque(y)


@asc.jit
def turn_batches(
    ub: Buffers,
    vf: Any,
    cos: asc.LocalTensor,
    sin: asc.LocalTensor,
    sizes: tuple[int, int, int],
    x_steps: tuple[int, int, int],
    cos_steps: tuple[int, int],
) -> None:
    """A tile [batches][heads][positions] = `sizes` of lines, `x_steps` elements apart in UB, the result's too.

    `cos_steps`: from a cos row to that of the next batch (0: all batches share it) and to that of the next position.
    """
    line = ub.line
    x, y = ub.x.deque(line.dtype), ub.y.alloc_tensor(line.dtype)
    vf(y, x, cos, sin, sizes, x_steps, cos_steps, line.length)
    ub.x.free_tensor(x)
    ub.y.enque(y)
