"""Where each core of the half grad kernel finds its lines: sizes and offsets in elements, from the tiling fields."""

from __future__ import annotations

from types import SimpleNamespace

from ascend_sim import asc

BLOCK_BYTES = 32
FP32_BYTES = 4
BSND, BNSD, SBND = 0, 10, 20


class Sizes:
    """Sizes of a line. In UB its two halves start `half_pitch` apart; `padded`: they are copied one by one."""

    def __init__(self, tiling: SimpleNamespace, dtype: asc.DataType) -> None:
        self.dtype = dtype
        self.itemsize = dtype.sizeof()
        self.widen = self.itemsize < FP32_BYTES
        self.line: int = tiling.dimD
        self.half = self.line // 2
        self.padded = self.line % 64 != 0
        self.half_pitch: int = tiling.halfDimDAlignNum if self.padded else self.half
        self.pitch = 2 * self.half_pitch
        self.buffer: int = tiling.alignUbSize


class Walk:
    """The elements of cos that one core owns, in `tiles` of `tile` elements and a last one of `last`, and for each of
    them the lines of dy: `first_reduce` times `second_reduce` runs, `gap` and one line apart.

    `scale`: an element offset in cos times this is one in dy. `batches`: runs of all this, `cos_batch` apart in cos and
    `dy_batch` in dy.
    """

    def __init__(self, tiling: SimpleNamespace, core: int) -> None:
        is_last = core == tiling.coreUsed - 1
        self.tile: int = tiling.calcUbSize
        self.tiles: int = tiling.lastCopyLoop if is_last else tiling.copyLoop
        self.last: int = tiling.lastCopyTail if is_last else tiling.copyTail
        self.all_tiles = self.tiles + (1 if self.last > 0 else 0)
        self.first_element = asc.number(core, asc.int64) * tiling.coreData  # 64 bits: offsets may pass 2**31
        self.first_reduce: int = tiling.firstReduce
        self.second_reduce: int = tiling.secondReduce
        self.scale: int = tiling.secondReduce
        self.gap: int = tiling.ubLoopGap
        self.contiguous = tiling.layout == BNSD
        self.batches, self.cos_batch, self.dy_batch = 1, 0, 0
        if tiling.layout == BNSD and tiling.cosDimB != 1 and tiling.cosDimN == 1:  # every batch has its own cos
            sequence = tiling.dimS * tiling.dimD
            self.batches, self.cos_batch, self.dy_batch = tiling.cosDimB, sequence, tiling.dimN * sequence
            self.gap = sequence
        self.block_len: int = tiling.blockLenInner
        self.block_gap: int = tiling.strideInner
        self.half_gap_bytes: int = tiling.stridePadInner
