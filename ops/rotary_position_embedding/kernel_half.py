"""Keys 10xx: mode half on A2 and A3. Lines of cos and sin are loaded once per tile and used for every head.

A tile is up to `storeSLines` lines (positions) of one head, D elements each. Every core owns a run of positions. For
each tile it loads and widens cos and sin, negates the first half of sin once, and then walks over the batches and heads
that share these angles:

    x    GM -> UB ; 16 bit: Cast to fp32
    swap the halves of every line by two moves inside UB
    y = swapped * sin' + x * cos
    16 bit: Cast, half to even ; y UB -> GM

All four queues are double buffered: MTE2 loads the next head while V computes this one and MTE3 stores the last one.
(`tune` tries single buffers too: `bufferNum`, which the tiling struct lacks.)
The kernel sets no flags and no barriers of its own: the queues order the pipes, the compiler's auto sync orders V.
"""

from types import SimpleNamespace

from ascend_sim import asc

from .half_plan import Sizes, Walk

VECIN, VECOUT, VECCALC = asc.TPosition.VECIN, asc.TPosition.VECOUT, asc.TPosition.VECCALC
BUFFER_NUM = 2
BLOCK_BYTES = 32
FP32_BYTES = 4
FP32_PER_BLOCK = 8
FP32_PER_REPEAT = 64
MAX_REPEATS = 255


class Buffers:
    """The unified buffer of one core: every buffer holds one tile of lines."""

    def __init__(self, sizes: Sizes, buffers: int) -> None:
        count = sizes.tile_lines * sizes.pitch
        pipe = asc.TPipe()
        self.x, self.y = asc.TQue(VECIN, buffers), asc.TQue(VECOUT, buffers)
        self.cos, self.sin = asc.TQue(VECIN, buffers), asc.TQue(VECIN, buffers)
        for queue in (self.x, self.y, self.cos, self.sin):
            pipe.init_buffer(queue, buffers, count * sizes.itemsize)
        self.x32, self.cos32, self.sin32, self.swapped = (asc.TBuf(VECCALC) for _ in range(4))
        if sizes.widen:
            for buffer in (self.x32, self.cos32, self.sin32, self.swapped):
                pipe.init_buffer(buffer, count * FP32_BYTES)


@asc.jit
def rotary_half(
    x: asc.GlobalAddress,
    cos: asc.GlobalAddress,
    sin: asc.GlobalAddress,
    y: asc.GlobalAddress,
    tiling: asc.ConstExpr[SimpleNamespace],
) -> None:
    """y = rotation of x by cos and sin."""
    sizes = Sizes(tiling, x.dtype)
    walk = Walk(tiling, asc.get_block_idx())
    x_gm, cos_gm, sin_gm, y_gm = asc.GlobalTensor(), asc.GlobalTensor(), asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x + walk.x_base)
    y_gm.set_global_buffer(y + walk.x_base)
    cos_gm.set_global_buffer(cos + walk.cos_base)
    sin_gm.set_global_buffer(sin + walk.cos_base)
    ub = Buffers(sizes, getattr(tiling, "bufferNum", BUFFER_NUM))
    if walk.one_line_of_cos:
        rotate_by_one_line(ub, x_gm, cos_gm, sin_gm, y_gm, walk, sizes)
        return
    for batch in asc.tiles(range(walk.outer_batches)):
        for tile in asc.tiles(range(walk.all_tiles)):
            lines = sizes.tile_lines if tile < walk.tiles else walk.last_lines
            first = tile * sizes.tile_lines
            angles = batch * walk.cos_batch + first * sizes.line
            cos_line, sin_line = load_angles(ub, cos_gm[angles], sin_gm[angles], lines, sizes)
            negate_first_halves(sin_line, lines, sizes)
            for inner in asc.tiles(range(walk.inner_batches)):
                for head in asc.tiles(range(walk.heads)):
                    offset = (batch + inner) * walk.batch + head * walk.head + first * walk.position
                    rotate_head(ub, x_gm[offset], cos_line, sin_line, y_gm[offset], lines, walk, sizes)
            free_angles(ub, cos_line, sin_line, sizes)


@asc.jit
def rotate_by_one_line(
    ub: Buffers,
    x_gm: asc.GlobalTensor,
    cos_gm: asc.GlobalTensor,
    sin_gm: asc.GlobalTensor,
    y_gm: asc.GlobalTensor,
    walk: Walk,
    sizes: Sizes,
) -> None:
    """cos and sin have a single line: load it once and copy it to every line of a tile."""
    cos_line, sin_line = load_angles(ub, cos_gm, sin_gm, 1, sizes)
    asc.muls(sin_line, sin_line, -1.0, sizes.half_pitch)
    spread_lines(cos_line, sin_line, (sizes.tile_lines if walk.tiles > 0 else walk.last_lines) - 1, sizes)
    for tile in asc.tiles(range(walk.all_tiles)):
        lines = sizes.tile_lines if tile < walk.tiles else walk.last_lines
        offset = tile * sizes.tile_lines * walk.position
        rotate_head(ub, x_gm[offset], cos_line, sin_line, y_gm[offset], lines, walk, sizes)
    free_angles(ub, cos_line, sin_line, sizes)


@asc.jit
def load_angles(
    ub: Buffers, cos_gm: asc.GlobalTensor, sin_gm: asc.GlobalTensor, lines: int, sizes: Sizes
) -> tuple[asc.LocalTensor, asc.LocalTensor]:
    """`lines` lines of cos and sin as fp32; 16-bit sin comes first, fp32 cos."""
    count = lines * sizes.pitch
    if not sizes.widen:
        copy_in_angle(ub.cos, cos_gm, lines, sizes)
        copy_in_angle(ub.sin, sin_gm, lines, sizes)
        return ub.cos.deque(asc.float32), ub.sin.deque(asc.float32)
    copy_in_angle(ub.sin, sin_gm, lines, sizes)
    copy_in_angle(ub.cos, cos_gm, lines, sizes)
    cos, sin = ub.cos.deque(sizes.dtype), ub.sin.deque(sizes.dtype)
    cos32, sin32 = ub.cos32.get(asc.float32), ub.sin32.get(asc.float32)
    asc.cast(cos32, cos, asc.RoundMode.CAST_NONE, count)
    asc.cast(sin32, sin, asc.RoundMode.CAST_NONE, count)
    ub.cos.free_tensor(cos)
    ub.sin.free_tensor(sin)
    return cos32, sin32


@asc.jit
def copy_in_angle(queue: asc.TQue, gm: asc.GlobalTensor, lines: int, sizes: Sizes) -> None:
    angle = queue.alloc_tensor(sizes.dtype)
    copy_in_lines(angle, gm, lines, sizes)
    queue.enque(angle)


@asc.jit
def free_angles(ub: Buffers, cos: asc.LocalTensor, sin: asc.LocalTensor, sizes: Sizes) -> None:
    """fp32 has worked on the queues' own tensors and gives them back when the tile is done."""
    if not sizes.widen:
        ub.cos.free_tensor(cos)
        ub.sin.free_tensor(sin)


@asc.jit
def negate_first_halves(sin: asc.LocalTensor, lines: int, sizes: Sizes) -> None:
    """sin' = (-first half, second half), so that the rotation needs no sign later: one repeat per line."""
    for column in range(0, sizes.half, FP32_PER_REPEAT):
        lanes = smaller(FP32_PER_REPEAT, sizes.half - column)
        negate_column(sin[column], lanes, lines, sizes)


@asc.jit
def negate_column(column: asc.LocalTensor, lanes: int, lines: int, sizes: Sizes) -> None:
    line_blocks = sizes.pitch // FP32_PER_BLOCK
    params = asc.UnaryRepeatParams(1, 1, line_blocks, line_blocks)
    for first in range(0, lines, MAX_REPEATS):
        part = column[first * sizes.pitch]
        asc.muls(part, part, -1.0, lanes, smaller(MAX_REPEATS, lines - first), params)


@asc.jit
def spread_lines(cos: asc.LocalTensor, sin: asc.LocalTensor, copies: int, sizes: Sizes) -> None:
    """Line 0 of cos and sin into the next `copies` lines, up to 64 elements of the line at a time."""
    for column in range(0, sizes.pitch, FP32_PER_REPEAT):
        lanes = smaller(FP32_PER_REPEAT, sizes.pitch - column)
        spread_column(cos[column], lanes, copies, sizes)
        spread_column(sin[column], lanes, copies, sizes)


@asc.jit
def spread_column(column: asc.LocalTensor, lanes: int, copies: int, sizes: Sizes) -> None:
    params = asc.CopyRepeatParams(1, 1, sizes.pitch // FP32_PER_BLOCK, 0)  # the source does not move
    for first in range(0, copies, MAX_REPEATS):
        repeats = smaller(MAX_REPEATS, copies - first)
        asc.copy(column[(first + 1) * sizes.pitch], column, lanes, repeats, params)


@asc.jit
def rotate_head(
    ub: Buffers,
    x_gm: asc.GlobalTensor,
    cos: asc.LocalTensor,
    sin: asc.LocalTensor,
    y_gm: asc.GlobalTensor,
    lines: int,
    walk: Walk,
    sizes: Sizes,
) -> None:
    copy_in_x(ub, x_gm, lines, walk, sizes)
    compute(ub, cos, sin, lines, sizes)
    copy_out_y(ub, y_gm, lines, walk, sizes)


@asc.jit
def copy_in_x(ub: Buffers, x_gm: asc.GlobalTensor, lines: int, walk: Walk, sizes: Sizes) -> None:
    x = ub.x.alloc_tensor(sizes.dtype)
    if not walk.strided:
        copy_in_lines(x, x_gm, lines, sizes)
    elif sizes.aligned:
        gap_bytes = (walk.position - sizes.line) * sizes.itemsize
        params = asc.DataCopyExtParams(lines, sizes.line * sizes.itemsize, gap_bytes, 0)
        asc.data_copy_pad(x, x_gm, params, asc.DataCopyPadExtParams(sizes.dtype))
    else:  # first halves, then second halves: each of them starts on a 32 B block in UB
        params = halves(lines, walk, sizes, to_ub=True)
        asc.data_copy_pad(x, x_gm, params, asc.DataCopyPadExtParams(sizes.dtype))
        asc.data_copy_pad(x[sizes.half_pitch], x_gm[sizes.half], params, asc.DataCopyPadExtParams(sizes.dtype))
    ub.x.enque(x)


@asc.jit
def compute(ub: Buffers, cos: asc.LocalTensor, sin: asc.LocalTensor, lines: int, sizes: Sizes) -> None:
    count = lines * sizes.pitch
    x = ub.x.deque(sizes.dtype)
    y = ub.y.alloc_tensor(sizes.dtype)
    if not sizes.widen:
        rotate(y, x, cos, sin, lines, sizes)
        ub.y.enque(y)
        ub.x.free_tensor(x)
        return
    x32, swapped = ub.x32.get(asc.float32), ub.swapped.get(asc.float32)
    asc.cast(x32, x, asc.RoundMode.CAST_NONE, count)
    ub.x.free_tensor(x)
    rotate(swapped, x32, cos, sin, lines, sizes)
    asc.cast(y, swapped, asc.RoundMode.CAST_RINT, count)
    ub.y.enque(y)


@asc.jit
def rotate(
    out: asc.LocalTensor, x: asc.LocalTensor, cos: asc.LocalTensor, sin: asc.LocalTensor, lines: int, sizes: Sizes
) -> None:
    """out = (halves of x swapped) * sin' + x * cos, in fp32; x is used up."""
    count = lines * sizes.pitch
    swap_halves(out, x, lines, sizes)
    asc.mul(x, x, cos, count)
    asc.mul(out, out, sin, count)
    asc.add(out, out, x, count)


@asc.jit
def swap_halves(out: asc.LocalTensor, x: asc.LocalTensor, lines: int, sizes: Sizes) -> None:
    """Two moves inside UB, each of every other half."""
    half_blocks = sizes.half_pitch // FP32_PER_BLOCK
    every_other = asc.DataCopyParams(lines, half_blocks, half_blocks, half_blocks)
    asc.data_copy(out, x[sizes.half_pitch], every_other)
    asc.data_copy(out[sizes.half_pitch], x, every_other)


@asc.jit
def copy_out_y(ub: Buffers, y_gm: asc.GlobalTensor, lines: int, walk: Walk, sizes: Sizes) -> None:
    """Back to where `copy_in_x` read, in y."""
    y = ub.y.deque(sizes.dtype)
    if not walk.strided:
        copy_out_lines(y_gm, y, lines, sizes)
    elif sizes.aligned:
        gap_bytes = (walk.position - sizes.line) * sizes.itemsize
        asc.data_copy_pad(y_gm, y, asc.DataCopyExtParams(lines, sizes.line * sizes.itemsize, 0, gap_bytes))
    else:
        params = halves(lines, walk, sizes, to_ub=False)
        asc.data_copy_pad(y_gm, y, params)
        asc.data_copy_pad(y_gm[sizes.half], y[sizes.half_pitch], params)
    ub.y.free_tensor(y)


@asc.jit
def copy_in_lines(tensor: asc.LocalTensor, gm: asc.GlobalTensor, lines: int, sizes: Sizes) -> None:
    """Lines that follow each other in GM; unaligned halves are padded to 32 B one by one."""
    if sizes.aligned:
        asc.data_copy(tensor, gm, lines * sizes.line)
    else:
        params = asc.DataCopyExtParams(2 * lines, sizes.half * sizes.itemsize, 0, 0)
        asc.data_copy_pad(tensor, gm, params, asc.DataCopyPadExtParams(sizes.dtype))


@asc.jit
def copy_out_lines(gm: asc.GlobalTensor, tensor: asc.LocalTensor, lines: int, sizes: Sizes) -> None:
    if sizes.aligned:
        asc.data_copy(gm, tensor, lines * sizes.line)
    else:
        asc.data_copy_pad(gm, tensor, asc.DataCopyExtParams(2 * lines, sizes.half * sizes.itemsize, 0, 0))


def halves(lines: int, walk: Walk, sizes: Sizes, to_ub: bool) -> asc.DataCopyExtParams:
    """One half of every line: gaps in GM in bytes, in UB in blocks."""
    gap_bytes = (walk.position - sizes.half) * sizes.itemsize
    gap_blocks = sizes.half_pitch * sizes.itemsize // BLOCK_BYTES
    source, destination = (gap_bytes, gap_blocks) if to_ub else (gap_blocks, gap_bytes)
    return asc.DataCopyExtParams(lines, sizes.half * sizes.itemsize, source, destination)


def smaller(a: int, b: int) -> int:
    return min(a, b)
