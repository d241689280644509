"""Keys 20xx, 21xx and 22xx: mode interleave on A2 and A3.

Same steps, buffers and gather table as the general path of inplace_partial_rotary_mul, which was made from this
operator. Here lines are whole, the output is another tensor, and several batches may share a row of cos and sin:

    split S    a tile is some rows (positions) of all batches, all heads
    split BS   one row of as many batches as fit
    split BSN  one row of one batch, as many heads as fit

In UB a tile lies as [batches][rows][heads][pitch].
"""

from types import SimpleNamespace
from typing import Any

from ascend_sim import asc

from ..inplace_partial_rotary_mul import kernel_split_bsn, kernel_split_s
from ..inplace_partial_rotary_mul.kernel_general import (
    BUFFER_NUM,
    Buffers,
    Sizes,
    add_times_sin,
    gather_table,
    narrow_y,
    rows_of_core,
    times_cos,
    widen_x,
)


class Tile:
    """A part of x: `batches` runs of `lines` lines, in GM `distance` elements apart; in UB they follow each other."""

    def __init__(self, sizes: Sizes, batches: int, lines: int, distance: int) -> None:
        itemsize = sizes.x_dtype.sizeof()
        self.batches = batches
        self.lines = lines
        self.distance = distance
        self.count = batches * lines * sizes.pitch
        self.line_bytes = sizes.head_dim * itemsize
        self.run_bytes = lines * self.line_bytes
        self.gap_bytes = distance * itemsize - self.run_bytes
        # unaligned lines are blocks of their own, padded to 32 B each, so that a run takes an instruction of its own
        self.one_by_one = sizes.pitch != sizes.head_dim and lines > 1


@asc.jit
def copy_in_x(ub: Buffers, x_gm: asc.GlobalTensor, tile: Tile, sizes: Sizes) -> asc.LocalTensor:
    x = ub.in_x.alloc_tensor(sizes.x_dtype)
    no_pad = asc.DataCopyPadExtParams(sizes.x_dtype)
    if tile.one_by_one:
        params = asc.DataCopyExtParams(tile.lines, tile.line_bytes, 0, 0)
        for batch in range(tile.batches):
            asc.data_copy_pad(x[batch * tile.lines * sizes.pitch], x_gm[batch * tile.distance], params, no_pad)
    else:
        params = asc.DataCopyExtParams(tile.batches, tile.run_bytes, tile.gap_bytes, 0)
        asc.data_copy_pad(x, x_gm, params, no_pad)
    loaded = ub.pipe.fetch_event_id(asc.HardEvent.MTE2_V)  # no EnQue and DeQue here: the flag is set by hand
    asc.set_flag(asc.HardEvent.MTE2_V, loaded)
    asc.wait_flag(asc.HardEvent.MTE2_V, loaded)
    return widen_x(ub, x, tile.count, sizes)


@asc.jit
def copy_out_y(ub: Buffers, y32: asc.LocalTensor, y_gm: asc.GlobalTensor, tile: Tile, sizes: Sizes) -> None:
    """To the places in y that `copy_in_x` read in x."""
    y = narrow_y(ub, y32, tile.count, sizes)
    if tile.one_by_one:
        params = asc.DataCopyExtParams(tile.lines, tile.line_bytes, 0, 0)
        for batch in range(tile.batches):
            asc.data_copy_pad(y_gm[batch * tile.distance], y[batch * tile.lines * sizes.pitch], params)
    else:
        asc.data_copy_pad(y_gm, y, asc.DataCopyExtParams(tile.batches, tile.run_bytes, 0, tile.gap_bytes))
    ub.out_y.free_tensor(y)


class Memory:
    """x, cos, sin and y in GM, from the first row of this core on."""

    def __init__(self, x: Any, cos: Any, sin: Any, y: Any, first_row: int, sizes: Sizes) -> None:
        self.x, self.cos, self.sin, self.y = (asc.GlobalTensor() for _ in range(4))
        self.x.set_global_buffer(x + first_row * sizes.heads * sizes.head_dim)
        self.cos.set_global_buffer(cos + first_row * sizes.head_dim)
        self.sin.set_global_buffer(sin + first_row * sizes.head_dim)
        self.y.set_global_buffer(y + first_row * sizes.heads * sizes.head_dim)


@asc.jit
def interleave_split_s(
    x: asc.GlobalAddress,
    cos: asc.GlobalAddress,
    sin: asc.GlobalAddress,
    y: asc.GlobalAddress,
    tiling: asc.ConstExpr[SimpleNamespace],
) -> None:
    """x, y (B, S, N, D); cos, sin (S, D)."""
    sizes = Sizes(tiling.numHeads, tiling.headDim, x.dtype, cos.dtype)
    core = asc.get_block_idx()
    first_row, _ = rows_of_core(tiling, core)
    tiles, tile_rows, last_rows = kernel_split_s.tiles_of_core(tiling, core)
    gm = Memory(x, cos, sin, y, first_row, sizes)
    batches, row_elements = tiling.batchSize, sizes.heads * sizes.head_dim
    ub = Buffers(sizes, batches * tiling.ubCalcNum * sizes.heads, sizes.heads, buffer_num(tiling))
    table = gather_table(ub, sizes.heads * sizes.pitch)
    for step in asc.tiles(range(tiles)):
        rows = tile_rows if step < tiles - 1 else last_rows
        row = step * tile_rows
        tile = Tile(sizes, batches, rows * sizes.heads, tiling.seqLen * row_elements)
        x32 = copy_in_x(ub, gm.x[row * row_elements], tile, sizes)
        cos_in = ub.in_cos.alloc_tensor(sizes.cos_dtype)
        copy_in_rows(ub, cos_in, gm.cos[row * sizes.head_dim], rows, batches, sizes)
        y32 = times_cos(ub, x32, cos_in, tile.count, sizes)
        kernel_split_s.swap_pairs(x32, table, batches * rows, sizes.heads * sizes.pitch)
        cos_read = ub.pipe.fetch_event_id(asc.HardEvent.V_MTE2)  # sin lands where cos is being read
        asc.set_flag(asc.HardEvent.V_MTE2, cos_read)
        asc.wait_flag(asc.HardEvent.V_MTE2, cos_read)
        copy_in_rows(ub, cos_in, gm.sin[row * sizes.head_dim], rows, batches, sizes)
        add_times_sin(ub, x32, cos_in, y32, tile.count, sizes)
        copy_out_y(ub, y32, gm.y[row * row_elements], tile, sizes)


@asc.jit
def copy_in_rows(
    ub: Buffers, cos: asc.LocalTensor, cos_gm: asc.GlobalTensor, rows: int, batches: int, sizes: Sizes
) -> None:
    """`rows` lines of cos, spread over the heads, then the whole for every further batch."""
    kernel_split_s.copy_in_cos(ub, cos, cos_gm, rows, sizes)
    count = rows * sizes.heads * sizes.pitch
    for batch in range(1, batches):
        asc.data_copy(cos[batch * count], cos, count)


@asc.jit
def interleave_split_bs(
    x: asc.GlobalAddress,
    cos: asc.GlobalAddress,
    sin: asc.GlobalAddress,
    y: asc.GlobalAddress,
    tiling: asc.ConstExpr[SimpleNamespace],
) -> None:
    """x, y (B, S, N, D); cos, sin (S, D)."""
    sizes = Sizes(tiling.numHeads, tiling.headDim, x.dtype, cos.dtype)
    first_row, rows = rows_of_core(tiling, asc.get_block_idx())
    gm = Memory(x, cos, sin, y, first_row, sizes)
    row_elements = sizes.heads * sizes.head_dim
    batch_elements = tiling.seqLen * row_elements
    ub = Buffers(sizes, tiling.ubCalcBNum * sizes.heads, sizes.heads, buffer_num(tiling))
    table = gather_table(ub, sizes.heads * sizes.pitch)
    steps, last_batches = tiling.ubCalcBLoop, last_step(tiling.ubCalcBTail, tiling.ubCalcBNum)
    for row in asc.tiles(range(rows)):
        for step in asc.tiles(range(steps)):  # cos and sin come in anew for every step
            batches = tiling.ubCalcBNum if step < steps - 1 else last_batches
            offset = step * tiling.ubCalcBNum * batch_elements + row * row_elements
            tile = Tile(sizes, batches, sizes.heads, batch_elements)
            rotate_part(ub, gm, table, offset, row * sizes.head_dim, tile, sizes)


@asc.jit
def interleave_split_bsn(
    x: asc.GlobalAddress,
    cos: asc.GlobalAddress,
    sin: asc.GlobalAddress,
    y: asc.GlobalAddress,
    tiling: asc.ConstExpr[SimpleNamespace],
) -> None:
    """x, y (B, S, N, D); cos, sin (S, D)."""
    sizes = Sizes(tiling.numHeads, tiling.headDim, x.dtype, cos.dtype)
    first_row, rows = rows_of_core(tiling, asc.get_block_idx())
    gm = Memory(x, cos, sin, y, first_row, sizes)
    row_elements = sizes.heads * sizes.head_dim
    ub = Buffers(sizes, tiling.ubCalcNNum, tiling.ubCalcNNum, buffer_num(tiling))
    table = gather_table(ub, tiling.ubCalcNNum * sizes.pitch)
    steps, last_heads = tiling.ubCalcNLoop, last_step(tiling.ubCalcNTail, tiling.ubCalcNNum)
    for batch in asc.tiles(range(tiling.batchSize)):
        for row in asc.tiles(range(rows)):
            for step in asc.tiles(range(steps)):
                heads = tiling.ubCalcNNum if step < steps - 1 else last_heads
                line = (batch * tiling.seqLen + row) * sizes.heads + step * tiling.ubCalcNNum
                tile = Tile(sizes, 1, heads, row_elements)
                rotate_part(ub, gm, table, line * sizes.head_dim, row * sizes.head_dim, tile, sizes)


@asc.jit
def rotate_part(
    ub: Buffers, gm: Memory, table: asc.LocalTensor, offset: int, angles: int, tile: Tile, sizes: Sizes
) -> None:
    """Lines that all share one line of cos and sin; one Gather per run."""
    lines = tile.batches * tile.lines
    x32 = copy_in_x(ub, gm.x[offset], tile, sizes)
    cos = ub.in_cos.alloc_tensor(sizes.cos_dtype)
    kernel_split_bsn.copy_in_cos(ub, cos, gm.cos[angles], lines, sizes)
    y32 = times_cos(ub, x32, cos, tile.count, sizes)
    kernel_split_s.swap_pairs(x32, table, tile.batches, tile.lines * sizes.pitch)
    cos_read = ub.pipe.fetch_event_id(asc.HardEvent.V_MTE2)  # sin lands where cos is being read
    asc.set_flag(asc.HardEvent.V_MTE2, cos_read)
    asc.wait_flag(asc.HardEvent.V_MTE2, cos_read)
    kernel_split_bsn.copy_in_cos(ub, cos, gm.sin[angles], lines, sizes)
    add_times_sin(ub, x32, cos, y32, tile.count, sizes)
    copy_out_y(ub, y32, gm.y[offset], tile, sizes)


def buffer_num(tiling: SimpleNamespace) -> int:
    """Buffers of a queue: what `tune` tries, which the tiling struct lacks, or what these kernels have."""
    return getattr(tiling, "bufferNum", BUFFER_NUM)


def last_step(tail: int, full: int) -> int:
    """A tail of 0 in the tiling means that the last step is full."""
    return tail if tail > 0 else full
