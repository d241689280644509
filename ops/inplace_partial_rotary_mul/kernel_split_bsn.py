"""Keys 22x0 and 22x1: not even one row fits into UB, so each row is cut into chunks of heads."""

from types import SimpleNamespace

from ascend_sim import asc

from .kernel_common import BLOCK_BYTES, smaller
from .kernel_general import (
    BUFFER_NUM,
    Buffers,
    Sizes,
    SliceSizes,
    add_times_sin,
    copy_in_x,
    copy_out,
    gather_table,
    rows_of_core,
    times_cos,
)

REPEAT_BYTES = 256
MAX_REPEATS = 255


@asc.jit
def rotary_split_bsn(
    x: asc.GlobalAddress, cos: asc.GlobalAddress, sin: asc.GlobalAddress, tiling: asc.ConstExpr[SimpleNamespace]
) -> None:
    """Rotate x (S, N, D) in place by cos, sin (S, headDim)."""
    sizes = SliceSizes(tiling, x.dtype, cos.dtype)
    first_row, rows = rows_of_core(tiling, asc.get_block_idx())
    x_gm, cos_gm, sin_gm = asc.GlobalTensor(), asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x + (first_row * sizes.heads * sizes.last_dim + sizes.start))
    cos_gm.set_global_buffer(cos + first_row * sizes.head_dim)
    sin_gm.set_global_buffer(sin + first_row * sizes.head_dim)
    ub = Buffers(sizes, tiling.ubCalcNNum, tiling.ubCalcNNum, getattr(tiling, "bufferNum", BUFFER_NUM))
    table = gather_table(ub, tiling.ubCalcNNum * sizes.pitch)
    chunks = tiling.ubCalcNLoop
    last_heads = tiling.ubCalcNTail if tiling.ubCalcNTail > 0 else tiling.ubCalcNNum
    for row in asc.tiles(range(rows)):
        for chunk in asc.tiles(range(chunks)):  # cos and sin come in anew for every chunk
            heads = tiling.ubCalcNNum if chunk < chunks - 1 else last_heads
            line = row * sizes.heads + chunk * tiling.ubCalcNNum
            angles = row * sizes.head_dim
            rotate_tile(ub, table, x_gm[line * sizes.last_dim], cos_gm[angles], sin_gm[angles], heads, sizes)


@asc.jit
def rotate_tile(
    ub: Buffers,
    table: asc.LocalTensor,
    x_gm: asc.GlobalTensor,
    cos_gm: asc.GlobalTensor,
    sin_gm: asc.GlobalTensor,
    heads: int,
    sizes: SliceSizes,
) -> None:
    count = heads * sizes.pitch
    x32 = copy_in_x(ub, x_gm, heads, sizes)
    cos = ub.in_cos.alloc_tensor(sizes.cos_dtype)
    copy_in_cos(ub, cos, cos_gm, heads, sizes)
    y32 = times_cos(ub, x32, cos, count, sizes)
    asc.gather(x32, x32, table, 0, count)  # the table covers a whole chunk; in place, pair by pair
    cos_read = ub.pipe.fetch_event_id(asc.HardEvent.V_MTE2)  # sin lands where cos is being read
    asc.set_flag(asc.HardEvent.V_MTE2, cos_read)
    asc.wait_flag(asc.HardEvent.V_MTE2, cos_read)
    copy_in_cos(ub, cos, sin_gm, heads, sizes)
    add_times_sin(ub, x32, cos, y32, count, sizes)
    copy_out(ub, y32, x_gm, heads, sizes)


@asc.jit
def copy_in_cos(ub: Buffers, cos: asc.LocalTensor, cos_gm: asc.GlobalTensor, heads: int, sizes: Sizes) -> None:
    """One line from GM to the place of head 0, and from there to the other heads, up to 256 B of it at a time."""
    itemsize = sizes.cos_dtype.sizeof()
    params = asc.DataCopyExtParams(1, sizes.head_dim * itemsize, 0, 0)
    asc.data_copy_pad(cos, cos_gm, params, asc.DataCopyPadExtParams(sizes.cos_dtype))
    loaded = ub.pipe.fetch_event_id(asc.HardEvent.MTE2_V)
    asc.set_flag(asc.HardEvent.MTE2_V, loaded)
    asc.wait_flag(asc.HardEvent.MTE2_V, loaded)
    lanes = REPEAT_BYTES // itemsize
    for column in range(0, sizes.pitch, lanes):
        copy_column(cos, column, smaller(lanes, sizes.pitch - column), heads - 1, sizes)


@asc.jit
def copy_column(cos: asc.LocalTensor, column: int, lanes: int, copies: int, sizes: Sizes) -> None:
    """Lanes `column` .. `column + lanes - 1` of line 0 into the next `copies` lines, 255 repeats at a time."""
    line_blocks = sizes.pitch * sizes.cos_dtype.sizeof() // BLOCK_BYTES
    params = asc.CopyRepeatParams(1, 1, line_blocks, 0)  # a source repeat stride of 0 reads line 0 again and again
    full = copies // MAX_REPEATS
    for i in range(full):
        asc.copy(cos[(1 + i * MAX_REPEATS) * sizes.pitch + column], cos[column], lanes, MAX_REPEATS, params)
    left = copies - full * MAX_REPEATS  # issued even when nothing is left, with repeat 0
    first = 1 + full * MAX_REPEATS if left > 0 else 0
    asc.copy(cos[first * sizes.pitch + column], cos[column], lanes, left, params)
