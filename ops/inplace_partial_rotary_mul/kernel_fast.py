"""Keys 1 and 2: short slices (up to 64 elements, whole 32 B blocks), double buffered.

Key 1: one line of cos and sin per row, the same for all heads. Key 2: one head per row, so cos and sin match x one to
one. All queues are sized for fp32: 16-bit data comes in behind the middle of its buffer and is cast into the buffer's
start, so that no second buffer is needed.
"""

from types import SimpleNamespace

from ascend_sim import asc

from .kernel_common import (
    FP32_BYTES,
    FP32_PER_BLOCK,
    REPEAT_FIELD,
    complete_gather_table,
    negate_even_lanes,
    write_first_entries,
)

BUFFER_NUM = 2
VECIN, VECOUT, VECCALC = asc.TPosition.VECIN, asc.TPosition.VECOUT, asc.TPosition.VECCALC


class Sizes:
    """Sizes in elements. `row`: all heads of one row; `tile_rows`: rows that a buffer holds."""

    def __init__(self, tiling: SimpleNamespace, dtype: asc.DataType) -> None:
        self.heads: int = tiling.numHead
        self.head_dim: int = tiling.headDim
        self.last_dim: int = tiling.allHeadDim
        self.start: int = tiling.start
        self.row = self.heads * self.head_dim
        self.tile_rows: int = tiling.ubFactor
        self.buffers: int = getattr(tiling, "bufferNum", BUFFER_NUM)
        self.dtype = dtype
        self.widen = dtype.sizeof() < FP32_BYTES


class Buffers:
    """The unified buffer of one core: four double-buffered queues and the gather table."""

    def __init__(self, sizes: Sizes) -> None:
        self.pipe = pipe = asc.TPipe()
        self.x, self.cos, self.sin = asc.TQue(VECIN, 1), asc.TQue(VECIN, 1), asc.TQue(VECIN, 1)
        self.y, self.table = asc.TQue(VECOUT, 1), asc.TBuf(VECCALC)
        pipe.init_buffer(self.x, sizes.buffers, sizes.tile_rows * sizes.row * FP32_BYTES)
        pipe.init_buffer(self.cos, sizes.buffers, sizes.tile_rows * sizes.head_dim * FP32_BYTES)
        pipe.init_buffer(self.sin, sizes.buffers, sizes.tile_rows * sizes.head_dim * FP32_BYTES)
        pipe.init_buffer(self.y, sizes.buffers, sizes.tile_rows * sizes.row * FP32_BYTES)
        pipe.init_buffer(self.table, sizes.row * FP32_BYTES)


@asc.jit
def rotary_fast(
    x: asc.GlobalAddress,
    cos: asc.GlobalAddress,
    sin: asc.GlobalAddress,
    tiling: asc.ConstExpr[SimpleNamespace],
    elementwise: asc.ConstExpr[bool],
) -> None:
    """Rotate x (rows, heads, D) in place by cos, sin (rows, headDim); `elementwise`: key 2."""
    if tiling.headDim == 0:
        return  # an empty slice: there is nothing to rotate
    sizes = Sizes(tiling, x.dtype)
    core = asc.get_block_idx()
    tiles, last_rows = tiles_of_core(tiling, core)
    first_row = asc.number(core, asc.int64) * tiling.blockFactor  # 64 bits: times a row's elements it may pass 2**31
    x_gm, cos_gm, sin_gm = asc.GlobalTensor(), asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x + (first_row * sizes.heads * sizes.last_dim + sizes.start))
    cos_gm.set_global_buffer(cos + first_row * sizes.head_dim)
    sin_gm.set_global_buffer(sin + first_row * sizes.head_dim)
    ub = Buffers(sizes)
    table = write_first_entries(ub.table)
    written = ub.pipe.fetch_event_id(asc.HardEvent.S_V)  # the vector unit must see what the scalar unit wrote
    asc.set_flag(asc.HardEvent.S_V, written)
    asc.wait_flag(asc.HardEvent.S_V, written)
    table = complete_gather_table(table, sizes.row)
    for tile in asc.tiles(range(tiles)):
        row = tile * sizes.tile_rows
        rows = sizes.tile_rows if tile < tiles - 1 else last_rows
        x_tile = x_gm[row * sizes.heads * sizes.last_dim]
        angles = row * sizes.head_dim
        copy_in(ub, x_tile, cos_gm[angles], sin_gm[angles], rows, sizes)
        compute(ub, table, rows, sizes, elementwise)
        copy_out(ub, x_tile, rows, sizes)


def tiles_of_core(tiling: SimpleNamespace, core: int) -> tuple[int, int]:
    """`(tiles, rows of the last tile)`: the last core may have less to do than the others."""
    if core == tiling.usedCoreNum - 1:
        return tiling.coreTUbLoopTime, tiling.coreTUbLoopTail
    return tiling.coreBUbLoopTime, tiling.coreBUbLoopTail


@asc.jit
def copy_in(
    ub: Buffers,
    x_gm: asc.GlobalTensor,
    cos_gm: asc.GlobalTensor,
    sin_gm: asc.GlobalTensor,
    rows: int,
    sizes: Sizes,
) -> None:
    itemsize = sizes.dtype.sizeof()
    line_bytes = sizes.head_dim * itemsize
    gap_bytes = (sizes.last_dim - sizes.head_dim) * itemsize  # what lies between two slices is stepped over
    no_pad = asc.DataCopyPadExtParams(sizes.dtype)
    lines = asc.DataCopyExtParams(rows * sizes.heads, line_bytes, gap_bytes, 0)
    angles = asc.DataCopyExtParams(rows, line_bytes, 0, 0)
    x = ub.x.alloc_tensor(asc.float32)
    asc.data_copy_pad(landing(x, sizes.tile_rows * sizes.row, sizes), x_gm, lines, no_pad)
    ub.x.enque(x)
    cos = ub.cos.alloc_tensor(asc.float32)
    asc.data_copy_pad(landing(cos, sizes.tile_rows * sizes.head_dim, sizes), cos_gm, angles, no_pad)
    ub.cos.enque(cos)
    sin = ub.sin.alloc_tensor(asc.float32)
    asc.data_copy_pad(landing(sin, sizes.tile_rows * sizes.head_dim, sizes), sin_gm, angles, no_pad)
    ub.sin.enque(sin)


@asc.jit
def landing(buffer: asc.LocalTensor, capacity: int, sizes: Sizes) -> asc.LocalTensor:
    """Where data comes in: 16-bit data in the upper half of a buffer of `capacity` fp32."""
    if not sizes.widen:
        return buffer
    return buffer.reinterpret_cast(sizes.dtype)[capacity]


@asc.jit
def compute(ub: Buffers, table: asc.LocalTensor, rows: int, sizes: Sizes, elementwise: bool) -> None:
    x, cos, sin = ub.x.deque(asc.float32), ub.cos.deque(asc.float32), ub.sin.deque(asc.float32)
    y = ub.y.alloc_tensor(asc.float32)
    count = rows * sizes.row
    if sizes.widen:
        widen(x, sizes.tile_rows * sizes.row, count, sizes)
        widen(cos, sizes.tile_rows * sizes.head_dim, rows * sizes.head_dim, sizes)
        widen(sin, sizes.tile_rows * sizes.head_dim, rows * sizes.head_dim, sizes)
        asc.pipe_barrier(asc.PipeID.PIPE_V)
    multiply(y, x, cos, rows, sizes, elementwise)
    asc.pipe_barrier(asc.PipeID.PIPE_V)
    for r in range(rows):  # the table covers one row; in place, since a pair never leaves its 32 B block
        pairs = x[r * sizes.row]
        asc.gather(pairs, pairs, table, 0, sizes.row)
    asc.pipe_barrier(asc.PipeID.PIPE_V)
    multiply(x, x, sin, rows, sizes, elementwise)
    negate_even_lanes(x, count)
    asc.add(y, y, x, count)
    asc.pipe_barrier(asc.PipeID.PIPE_V)
    if sizes.widen:
        asc.cast(y.reinterpret_cast(sizes.dtype), y, asc.RoundMode.CAST_RINT, count)
    ub.y.enque(y)
    ub.x.free_tensor(x)
    ub.cos.free_tensor(cos)
    ub.sin.free_tensor(sin)


@asc.jit
def widen(buffer: asc.LocalTensor, capacity: int, count: int, sizes: Sizes) -> None:
    """Upper half to whole buffer, in place: the fp32 written never pass the 16-bit elements still to be read."""
    asc.cast(buffer, landing(buffer, capacity, sizes), asc.RoundMode.CAST_NONE, count)


@asc.jit
def multiply(
    dst: asc.LocalTensor,
    x: asc.LocalTensor,
    angles: asc.LocalTensor,
    rows: int,
    sizes: Sizes,
    elementwise: bool,
) -> None:
    """dst = x * angles, the row of angles being the same for all heads unless `elementwise`."""
    if elementwise:
        asc.mul(dst, x, angles, rows * sizes.row)
        return
    line_blocks = sizes.head_dim // FP32_PER_BLOCK
    params = asc.BinaryRepeatParams(1, 1, 1, line_blocks, line_blocks, 0)  # src1 stays where it is
    heads = sizes.heads & REPEAT_FIELD  # one head per repeat; the host does not keep heads below 256
    for r in range(rows):
        row = r * sizes.row
        asc.mul(dst[row], x[row], angles[r * sizes.head_dim], sizes.head_dim, heads, params)


@asc.jit
def copy_out(ub: Buffers, x_gm: asc.GlobalTensor, rows: int, sizes: Sizes) -> None:
    itemsize = sizes.dtype.sizeof()
    gap_bytes = (sizes.last_dim - sizes.head_dim) * itemsize
    lines = asc.DataCopyExtParams(rows * sizes.heads, sizes.head_dim * itemsize, 0, gap_bytes)
    y = ub.y.deque(sizes.dtype)
    asc.data_copy_pad(x_gm, y, lines)
    ub.y.free_tensor(y)
