"""ND to NZ inside UB, with and without bank conflicts: asc-devkit's bank_conflict_nd2nz sample.

A tile of 144 rows x 128 columns is loaded, its blocks of 16 columns are spread over UB by one Copy, and each column
block is stored. A column stride of 144 blocks puts all eight blocks of a repeat into one bank group, 145 into eight.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from ascend_sim import asc
from ascend_sim.accuracy.kernels.case import Case, arrays
from ascend_sim.accuracy.kernels.flags import MTE2_V, MTE3_V, V_MTE2, V_MTE3, even_share, hand_over
from ascend_sim.accuracy.rows import Row

TILE_ROWS = 144
TILE_COLUMNS = 128
ROW_SPLITS, COLUMN_SPLITS = 6, 8
BLOCK = 16  # fp16 elements of 32 B
TILE_BLOCKS = TILE_COLUMNS // BLOCK
ND_BYTES = 36_864
NZ_AT = 73_728


@dataclass(frozen=True, slots=True)
class Layout:
    rows: int
    columns: int
    column_stride_blocks: int

    @property
    def buffers(self) -> tuple[tuple[int, int], ...]:
        """UB addresses of the tile before and after, for the two event ids."""
        nz_bytes = -(-self.column_stride_blocks * TILE_BLOCKS * 32 // 256) * 256
        return ((0, NZ_AT), (ND_BYTES, NZ_AT + nz_bytes))

    def tiles(self, block: int) -> Iterator[tuple[int, int, int]]:
        """`(first row, rows, first column)` of a block's tiles: row tiles outside, column tiles inside."""
        first_row, row_tiles = even_share(-(-self.rows // TILE_ROWS), ROW_SPLITS, block // COLUMN_SPLITS)
        first_column, column_tiles = even_share(self.columns // TILE_COLUMNS, COLUMN_SPLITS, block % COLUMN_SPLITS)
        for row_tile in range(first_row, first_row + row_tiles):
            row = row_tile * TILE_ROWS
            for column_tile in range(first_column, first_column + column_tiles):
                yield row, min(TILE_ROWS, self.rows - row), column_tile * TILE_COLUMNS


@asc.jit
def nd_to_nz(x: asc.GlobalAddress, y: asc.GlobalAddress, limit: int, layout: asc.ConstExpr[Layout]) -> None:
    asc.init_soc_state()
    source, target = asc.GlobalTensor(), asc.GlobalTensor()
    source.set_global_buffer(x)
    target.set_global_buffer(y)
    for event in (0, 1):
        asc.set_flag(V_MTE2, event)
        asc.set_flag(MTE3_V, event)
    tiles = islice(layout.tiles(int(asc.get_block_idx())), int(limit))
    for i, (row, rows, column) in enumerate(tiles):
        event = i % 2
        nd, nz = local_tensors(layout, event)
        asc.wait_flag(V_MTE2, event)
        gap = (layout.columns - TILE_COLUMNS) // BLOCK
        asc.data_copy(nd, source[row * layout.columns + column], asc.DataCopyParams(rows, TILE_BLOCKS, gap, 0))
        hand_over(MTE2_V, event)
        asc.wait_flag(MTE3_V, event)
        asc.copy(nz, nd, TILE_COLUMNS, rows, asc.CopyRepeatParams(layout.column_stride_blocks, 1, 1, TILE_BLOCKS))
        asc.set_flag(V_MTE2, event)
        hand_over(V_MTE3, event)
        params = asc.DataCopyParams(TILE_BLOCKS, rows, layout.column_stride_blocks - rows, layout.rows - rows)
        asc.data_copy(target[column * layout.rows + row * BLOCK], nz, params)
        asc.set_flag(MTE3_V, event)
    for event in (0, 1):
        asc.wait_flag(V_MTE2, event)
        asc.wait_flag(MTE3_V, event)
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)


def local_tensors(layout: Layout, event: int) -> tuple[asc.LocalTensor, asc.LocalTensor]:
    nd_at, nz_at = layout.buffers[event]
    nd = asc.LocalTensor(asc.float16, asc.TPosition.VECCALC, nd_at, TILE_ROWS * TILE_COLUMNS)
    size = layout.column_stride_blocks * TILE_BLOCKS * BLOCK
    return nd, asc.LocalTensor(asc.float16, asc.TPosition.VECCALC, nz_at, size)


def build(row: Row) -> Case:
    """The fields of `Layout`; always 48 blocks."""
    layout = Layout(**row.params)
    x, y = arrays(2, (layout.rows, layout.columns), "float16")
    most = sum(1 for _ in layout.tiles(0))  # the first blocks have the most
    return Case(lambda limit: nd_to_nz[ROW_SPLITS * COLUMN_SPLITS](x, y, limit, layout), most)
