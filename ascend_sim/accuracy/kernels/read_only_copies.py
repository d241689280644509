"""Loads GM -> UB and nothing else, in eight patterns: asc-devkit's data_copy sample.

One DataCopyPad per tile, always to UB address 0, without flags or stores. Rows per copy, bytes per row, alignment,
re-reading (whole tensor or slice by slice) and all blocks on the same addresses are varied.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from ascend_sim import asc
from ascend_sim.accuracy.kernels.case import Case, arrays
from ascend_sim.accuracy.rows import Row

BYTES = 2  # fp16


@dataclass(frozen=True, slots=True)
class Pattern:
    """Tensor and tile in elements. `passes`: how often each of the `slices` of columns is read before the next.
    `shared` ("same order", "rotated"): every block reads the whole tensor, past L2.
    """

    rows: int
    columns: int
    tile: tuple[int, int]
    passes: int = 1
    slices: int = 1
    shared: str = ""

    def tiles(self, blocks: int, block: int) -> Iterator[tuple[int, int]]:
        """`(row, column)` of the tiles that a block reads, in order."""
        if self.shared:
            yield from self._whole_tensor(blocks, block)
            return
        first = self.rows // blocks * block
        for left in range(0, self.columns, self._slice):
            for _ in range(self.passes):
                for row in range(first, first + self.rows // blocks, self.tile[0]):
                    for column in range(left, min(left + self._slice, self.columns), self.tile[1]):
                        yield row, column

    @property
    def _slice(self) -> int:
        return self.columns // self.slices

    def _whole_tensor(self, blocks: int, block: int) -> Iterator[tuple[int, int]]:
        bands = self.rows // self.tile[0]
        start = block if self.shared == "rotated" else 0
        for i in range(bands):
            for column in range(0, self.columns, self.tile[1]):
                yield (i + start) % bands * self.tile[0], column

    def count(self, blocks: int) -> int:
        """Tiles of one block."""
        rows = self.rows if self.shared else self.rows // blocks
        bands = -(-rows // self.tile[0])
        return bands * self.slices * -(-self._slice // self.tile[1]) * self.passes


@asc.jit
def read(x: asc.GlobalAddress, limit: int, pattern: asc.ConstExpr[Pattern]) -> None:
    asc.init_soc_state()
    gm = asc.GlobalTensor()
    gm.set_global_buffer(x)
    if pattern.shared:
        gm.set_l2_cache_hint(asc.CacheMode.CACHE_MODE_DISABLE)
    rows, columns = pattern.tile
    local = asc.LocalTensor(asc.float16, asc.TPosition.VECCALC, 0, rows * columns)
    no_padding = asc.DataCopyPadExtParams(asc.float16)
    tiles = pattern.tiles(int(asc.get_block_num()), int(asc.get_block_idx()))
    for row, column in islice(tiles, int(limit)):
        width = min(columns, pattern.columns - column)
        params = asc.DataCopyExtParams(rows, width * BYTES, (pattern.columns - width) * BYTES, 0)
        asc.data_copy_pad(local, gm[row * pattern.columns + column], params, no_padding)
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)


def build(row: Row) -> Case:
    """The fields of `Pattern`."""
    pattern = Pattern(**{**row.params, "tile": tuple(row.params["tile"])})
    blocks = row.block_dim or 1
    (x,) = arrays(1, (pattern.rows, pattern.columns), "float16")
    return Case(lambda limit: read[blocks](x, limit, pattern), pattern.count(blocks))
