"""Unified buffer of the 950's rotary kernels, and how tiles get into it and out of it.

A line is what is rotated of one head at one position, a cos row the cosines that belong to it. GM holds lines `full`
elements apart, of which only `length` are moved: what lies outside the slice is never read and never written. In UB the
parts of a line (1, 2 or 4, as the mode asks) fill whole blocks of 32 B each.
"""

from typing import Any, NamedTuple

from ascend_sim import asc

BLOCK_BYTES = 32
VECIN, VECOUT = asc.TPosition.VECIN, asc.TPosition.VECOUT


class Move(NamedTuple):
    """A copy: where it starts in GM and in UB (elements), its blocks, gaps in GM (bytes) and in UB (blocks of 32 B)."""

    gm: int
    ub: int
    blocks: int
    block_bytes: int
    gm_gap_bytes: int
    ub_gap: int


class Line:
    """Sizes of a line of `length` elements: in elements, or in bytes where the name says so.

    `pitch_bytes`: lines lie farther apart in UB than they need to, because others of the kernel do.
    """

    def __init__(self, dtype: asc.DataType, length: int, full: int, parts: int = 1, pitch_bytes: int = 0) -> None:
        self.dtype = dtype
        self.itemsize = dtype.sizeof()
        self.length = length
        self.full = full
        self.parts = parts
        self.part = length // parts
        self.part_bytes = self.part * self.itemsize
        self.part_blocks = -(-self.part_bytes // BLOCK_BYTES)
        natural = parts * self.part_blocks * BLOCK_BYTES
        self.pitch_bytes = max(pitch_bytes, natural)
        self.gap_blocks = (self.pitch_bytes - natural) // BLOCK_BYTES
        self.pitch = self.pitch_bytes // self.itemsize

    def moves(self, lines: int) -> list[Move]:
        """The copies of `lines` lines: a block per part; where the lines leave a rest in GM, a copy per part."""
        if self.length == self.full:
            return [Move(0, 0, lines * self.parts, self.part_bytes, 0, self.gap_blocks)]
        gm_gap_bytes = (self.full - self.part) * self.itemsize
        ub_gap = self.pitch_bytes // BLOCK_BYTES - self.part_blocks
        part_pitch = self.part_blocks * BLOCK_BYTES // self.itemsize
        return [
            Move(part * self.part, part * part_pitch, lines, self.part_bytes, gm_gap_bytes, ub_gap)
            for part in range(self.parts)
        ]


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


@asc.jit
def lines_in(tile: asc.LocalTensor, gm: asc.GlobalTensor, lines: int, line: Line) -> None:
    """`lines` lines from GM; the padding in UB keeps what was there."""
    padding = asc.DataCopyPadExtParams(line.dtype, False, 0, 0, 0)
    for move in line.moves(lines):
        params = asc.DataCopyExtParams(move.blocks, move.block_bytes, move.gm_gap_bytes, move.ub_gap)
        asc.data_copy_pad(tile[move.ub], gm[move.gm], params, padding)


@asc.jit
def lines_out(gm: asc.GlobalTensor, tile: asc.LocalTensor, lines: int, line: Line) -> None:
    for move in line.moves(lines):
        params = asc.DataCopyExtParams(move.blocks, move.block_bytes, move.ub_gap, move.gm_gap_bytes)
        asc.data_copy_pad(gm[move.gm], tile[move.ub], params)


@asc.jit
def copy_in(queue: asc.TQue, gm: asc.GlobalTensor, lines: int, line: Line) -> None:
    tile = queue.alloc_tensor(line.dtype)
    lines_in(tile, gm, lines, line)
    queue.enque(tile)


@asc.jit
def copy_in_both(
    first: asc.TQue, first_gm: asc.GlobalTensor, second: asc.TQue, second_gm: asc.GlobalTensor, rows: int, row: Line
) -> None:
    """cos and sin: both buffers are taken first, and both handed on last."""
    one, other = first.alloc_tensor(row.dtype), second.alloc_tensor(row.dtype)
    lines_in(one, first_gm, rows, row)
    lines_in(other, second_gm, rows, row)
    first.enque(one)
    second.enque(other)


@asc.jit
def copy_in_looped(queue: asc.TQue, gm: asc.GlobalTensor, lines: int, line: Line, loops: Loops) -> None:
    """[outer][inner][lines] lines, every copy repeated by loop mode."""
    tile = queue.alloc_tensor(line.dtype)
    asc.set_loop_mode_para(loops.to_ub(line.itemsize), asc.DataCopyMVType.OUT_TO_UB)
    lines_in(tile, gm, lines, line)
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
    lines_out(gm, tile, lines, line)
    queue.free_tensor(tile)


@asc.jit
def copy_out_looped(queue: asc.TQue, gm: asc.GlobalTensor, lines: int, line: Line, loops: Loops) -> None:
    tile = queue.deque(line.dtype)
    asc.set_loop_mode_para(loops.to_gm(line.itemsize), asc.DataCopyMVType.UB_TO_OUT)
    lines_out(gm, tile, lines, line)
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
