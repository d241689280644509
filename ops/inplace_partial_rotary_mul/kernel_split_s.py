"""Keys 20x0 and 20x1: a tile is as many whole rows (tokens with all their heads) as fit into UB."""

from types import SimpleNamespace

from ascend_sim import asc

from .kernel_common import BLOCK_BYTES
from .kernel_general import (
    BUFFER_NUM,
    Buffers,
    Sizes,
    SliceSizes,
    add_times_sin,
    copy_in_x,
    copy_out,
    gather_table,
    round_up,
    rows_of_core,
    times_cos,
)


def tiles_of_core(tiling: SimpleNamespace, core: int) -> tuple[int, int, int]:
    """`(tiles, rows of a tile, rows of the last tile)`; a tail of 0 in the tiling means that the last tile is full."""
    if core < tiling.frontCoreNum:
        tiles, rows, tail = tiling.ubCalcLoop, tiling.ubCalcNum, tiling.ubCalcTail
    else:
        tiles, rows, tail = tiling.ubCalcTailLoop, tiling.ubCalcTailNum, tiling.ubCalcTailTail
    return tiles, rows, tail if tail > 0 else rows


@asc.jit
def rotary_split_s(
    x: asc.GlobalAddress, cos: asc.GlobalAddress, sin: asc.GlobalAddress, tiling: asc.ConstExpr[SimpleNamespace]
) -> None:
    """Rotate x (S, N, D) in place by cos, sin (S, headDim)."""
    sizes = SliceSizes(tiling, x.dtype, cos.dtype)
    core = asc.get_block_idx()
    first_row, _ = rows_of_core(tiling, core)
    tiles, tile_rows, last_rows = tiles_of_core(tiling, core)
    row_elements = sizes.heads * sizes.last_dim
    x_gm, cos_gm, sin_gm = asc.GlobalTensor(), asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x + (first_row * row_elements + sizes.start))
    cos_gm.set_global_buffer(cos + first_row * sizes.head_dim)
    sin_gm.set_global_buffer(sin + first_row * sizes.head_dim)
    ub = Buffers(sizes, tiling.ubCalcNum * sizes.heads, sizes.heads, getattr(tiling, "bufferNum", BUFFER_NUM))
    table = gather_table(ub, sizes.heads * sizes.pitch)
    for tile in asc.tiles(range(tiles)):
        rows = tile_rows if tile < tiles - 1 else last_rows
        row = tile * tile_rows
        x_tile = x_gm[row * row_elements]
        angles = row * sizes.head_dim
        rotate_tile(ub, table, x_tile, cos_gm[angles], sin_gm[angles], rows, sizes)


@asc.jit
def rotate_tile(
    ub: Buffers,
    table: asc.LocalTensor,
    x_gm: asc.GlobalTensor,
    cos_gm: asc.GlobalTensor,
    sin_gm: asc.GlobalTensor,
    rows: int,
    sizes: SliceSizes,
) -> None:
    lines = rows * sizes.heads
    count = lines * sizes.pitch
    x32 = copy_in_x(ub, x_gm, lines, sizes)
    cos = ub.in_cos.alloc_tensor(sizes.cos_dtype)
    copy_in_cos(ub, cos, cos_gm, rows, sizes)
    y32 = times_cos(ub, x32, cos, count, sizes)
    swap_pairs(x32, table, rows, sizes.heads * sizes.pitch)
    cos_read = ub.pipe.fetch_event_id(asc.HardEvent.V_MTE2)  # sin lands where cos is being read
    asc.set_flag(asc.HardEvent.V_MTE2, cos_read)
    asc.wait_flag(asc.HardEvent.V_MTE2, cos_read)
    copy_in_cos(ub, cos, sin_gm, rows, sizes)
    add_times_sin(ub, x32, cos, y32, count, sizes)
    copy_out(ub, y32, x_gm, lines, sizes)


@asc.jit
def copy_in_cos(ub: Buffers, cos: asc.LocalTensor, cos_gm: asc.GlobalTensor, rows: int, sizes: Sizes) -> None:
    """One line per row from GM, to the place of head 0, and from there to the row's other heads."""
    itemsize = sizes.cos_dtype.sizeof()
    line_blocks = sizes.pitch * itemsize // BLOCK_BYTES
    landed_blocks = round_up(sizes.head_dim * itemsize, BLOCK_BYTES) // BLOCK_BYTES  # mixed types: may be less
    row_blocks = sizes.heads * line_blocks
    params = asc.DataCopyExtParams(rows, sizes.head_dim * itemsize, 0, row_blocks - landed_blocks)
    asc.data_copy_pad(cos, cos_gm, params, asc.DataCopyPadExtParams(sizes.cos_dtype))
    loaded = ub.pipe.fetch_event_id(asc.HardEvent.MTE2_V)
    asc.set_flag(asc.HardEvent.MTE2_V, loaded)
    asc.wait_flag(asc.HardEvent.MTE2_V, loaded)
    spread = asc.DataCopyParams(rows, line_blocks, row_blocks - line_blocks, row_blocks - line_blocks)
    pitch = sizes.pitch
    for head in range(1, sizes.heads):
        asc.data_copy(cos[head * pitch], cos, spread)


@asc.jit
def swap_pairs(x32: asc.LocalTensor, table: asc.LocalTensor, rows: int, row: int) -> None:
    """Row by row, since the table covers one row; in place, since a pair never leaves its 32 B block."""
    for r in range(rows):
        pairs = x32[r * row]
        asc.gather(pairs, pairs, table, 0, row)
