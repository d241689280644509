"""ND to NZ on the 950: the sample of `nd_to_nz`, whose blocks are spread by one vector function per tile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from ascend_sim import asc
from ascend_sim.accuracy.kernels.case import Case, arrays
from ascend_sim.accuracy.kernels.flags import MTE2_V, MTE3_V, V_MTE2, V_MTE3, even_share, hand_over
from ascend_sim.accuracy.kernels.nd_to_nz import BLOCK, ND_BYTES, NZ_AT, TILE_BLOCKS, TILE_COLUMNS, TILE_ROWS
from ascend_sim.accuracy.rows import Row
from ascend_sim.asc import reg

ROW_SPLITS, COLUMN_SPLITS = 8, 8


@dataclass(frozen=True, slots=True)
class Layout:
    rows: int
    columns: int
    column_stride_blocks: int
    nz_shift_bytes: int = 0

    @property
    def buffers(self) -> tuple[tuple[int, int], ...]:
        """UB addresses of the tile before and after, for the two event ids."""
        nz_at = NZ_AT + self.nz_shift_bytes
        nz_bytes = -(-self.column_stride_blocks * TILE_BLOCKS * 32 // 256) * 256
        return ((0, nz_at), (ND_BYTES, nz_at + nz_bytes))

    def tiles(self, block: int) -> Iterator[tuple[int, int, int]]:
        """`(first row, rows, first column)` of a block's tiles: row tiles outside, column tiles inside."""
        first_row, row_tiles = even_share(-(-self.rows // TILE_ROWS), ROW_SPLITS, block // COLUMN_SPLITS)
        first_column, column_tiles = even_share(self.columns // TILE_COLUMNS, COLUMN_SPLITS, block % COLUMN_SPLITS)
        for row_tile in range(first_row, first_row + row_tiles):
            row = row_tile * TILE_ROWS
            for column_tile in range(first_column, first_column + column_tiles):
                yield row, min(TILE_ROWS, self.rows - row), column_tile * TILE_COLUMNS


@asc.vf
def spread_vf(nz: asc.LocalTensor, nd: asc.LocalTensor, rows: int, stride: int) -> None:
    """Row by row: one register of 8 blocks, stored `stride` blocks apart."""
    x, everything = reg.RegTensor(asc.float16), reg.create_mask(asc.float16)
    for row in asc.range(rows):
        reg.load_align(x, nd + row * TILE_COLUMNS)
        reg.store_align(nz + row * BLOCK, x, everything, block_stride=stride)


@asc.jit
def nd_to_nz_reg(x: asc.GlobalAddress, y: asc.GlobalAddress, limit: int, layout: asc.ConstExpr[Layout]) -> None:
    asc.init_soc_state()
    source, target = asc.GlobalTensor(), asc.GlobalTensor()
    source.set_global_buffer(x)
    target.set_global_buffer(y)
    for event in (0, 1):
        asc.set_flag(V_MTE2, event)
        asc.set_flag(MTE3_V, event)
    size = layout.column_stride_blocks * TILE_BLOCKS * BLOCK
    tiles = islice(layout.tiles(int(asc.get_block_idx())), int(limit))
    for i, (row, rows, column) in enumerate(tiles):
        event = i % 2
        nd_at, nz_at = layout.buffers[event]
        nd = asc.LocalTensor(asc.float16, asc.TPosition.VECCALC, nd_at, TILE_ROWS * TILE_COLUMNS)
        nz = asc.LocalTensor(asc.float16, asc.TPosition.VECCALC, nz_at, size)
        asc.wait_flag(V_MTE2, event)
        gap = (layout.columns - TILE_COLUMNS) // BLOCK
        asc.data_copy(nd, source[row * layout.columns + column], asc.DataCopyParams(rows, TILE_BLOCKS, gap, 0))
        hand_over(MTE2_V, event)
        asc.wait_flag(MTE3_V, event)
        spread_vf(nz, nd, rows, layout.column_stride_blocks)
        asc.set_flag(V_MTE2, event)
        hand_over(V_MTE3, event)
        params = asc.DataCopyParams(TILE_BLOCKS, rows, layout.column_stride_blocks - rows, layout.rows - rows)
        asc.data_copy(target[column * layout.rows + row * BLOCK], nz, params)
        asc.set_flag(MTE3_V, event)
    for event in (0, 1):
        asc.wait_flag(V_MTE2, event)
        asc.wait_flag(MTE3_V, event)
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)


def build(row: Row) -> Case:
    """The fields of `Layout`; always 64 blocks."""
    layout = Layout(**row.params)
    x, y = arrays(2, (layout.rows, layout.columns), "float16")
    most = sum(1 for _ in layout.tiles(0))  # the first blocks have the most
    return Case(lambda limit: nd_to_nz_reg[ROW_SPLITS * COLUMN_SPLITS](x, y, limit, layout), most)
