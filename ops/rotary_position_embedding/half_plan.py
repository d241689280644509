"""Where each core of the half kernel finds its lines: sizes and offsets in elements, from the tiling fields."""

from __future__ import annotations

from types import SimpleNamespace

from ascend_sim import asc

FP32_BYTES = 4

BNSD, BSND, SBND, NO_BROADCAST, BND, R_B1SD = range(1, 7)  # tilingMode: which axes of x share a line of cos


class Sizes:
    """Sizes of a line. `pitch`: a line in UB, each of its halves rounded up to 32 B; `half_pitch`: one of them."""

    def __init__(self, tiling: SimpleNamespace, dtype: asc.DataType) -> None:
        self.dtype = dtype
        self.itemsize = dtype.sizeof()
        self.widen = self.itemsize < FP32_BYTES
        self.line: int = tiling.dLength
        self.half: int = tiling.halfDLength
        self.half_pitch: int = tiling.halfDPadLength
        self.pitch: int = tiling.dPadLength
        self.aligned = tiling.isAligned == 1
        self.tile_lines: int = tiling.storeSLines


class Walk:
    """The lines of one core.

    `tiles` full tiles of `storeSLines` lines, then one of `last_lines` if there are any: `all_tiles` in all. `x_base`
    and `cos_base`: first element of this core. From one position to the next x is `position` elements apart (`strided`:
    heads lie between). Batches and heads that share a tile of cos are `batch` and `head` elements apart. Where every
    batch has its own cos, `cos_batch` elements apart, batches are the outermost loop (`outer_batches`), else they share
    a tile's cos (`inner_batches`).
    """

    def __init__(self, tiling: SimpleNamespace, core: int) -> None:
        core = asc.number(core, asc.int64)  # 64 bits: offsets into x may pass 2**31 elements
        former = core < tiling.formerCoreNum
        relative = core if former else core - tiling.formerCoreNum
        self.lines: int = tiling.formerSLines if former else tiling.tailSLines
        self.tiles: int = tiling.formerUbLoop if former else tiling.tailUbLoop
        self.last_lines: int = tiling.formerUbLast if former else tiling.tailUbLast
        self.all_tiles = self.tiles + (1 if self.last_lines > 0 else 0)
        first, second, line = tiling.broadcastFirstDim, tiling.broadcastSecondDim, tiling.dLength
        mode, sequence = tiling.tilingMode, tiling.totalSLines * line
        self.strided = mode in (BSND, SBND)
        self.one_line_of_cos = mode == BND
        self.position = {BSND: second, SBND: first * second}.get(mode, 1) * line
        self.head = line if self.strided else sequence
        self.batch = self.cos_batch = 0
        self.outer_batches, self.inner_batches, self.heads = 1, 1, 1
        if mode in (BNSD, SBND):
            self.heads = first * second
        elif mode == BSND:
            self.inner_batches, self.heads, self.batch = first, second, second * sequence
        elif mode == R_B1SD:
            self.outer_batches, self.heads, self.batch, self.cos_batch = first, second, second * sequence, sequence
        self.x_base = (0 if former else tiling.formerXCoreOffset) + relative * self.lines * self.position
        self.cos_base = (0 if former else tiling.formerRCoreOffset) + relative * self.lines * line
        if self.one_line_of_cos:
            self.cos_base = 0
