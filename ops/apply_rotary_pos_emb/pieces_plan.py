"""What a core of the A2/A3 kernel works on: sizes in elements and 32 B blocks, its pieces and rounds, its buffers."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

from ascend_sim import asc

BLOCK_BYTES = 32
FP32_BYTES = 4
VECIN, VECOUT, VECCALC = asc.TPosition.VECIN, asc.TPosition.VECOUT, asc.TPosition.VECCALC


class Sizes:
    """Sizes of one position, in elements unless they say otherwise.

    In UB its query heads and key heads lie one after the other, `dim` elements of each: a `row`. `lanes` elements are
    one repeat's, at most 256 B. `widen`: bfloat16 is computed in float32.
    """

    def __init__(self, tiling: SimpleNamespace, dtype: asc.DataType) -> None:
        self.dtype = dtype
        self.widen = dtype == asc.bfloat16
        self.dim: int = tiling.lastDim
        self.half: int = tiling.halfNum
        self.lanes: int = tiling.mask
        self.q_heads: int = tiling.qcNum
        self.k_heads: int = tiling.kcNum
        self.heads: int = tiling.qkcNum
        self.q_row = self.q_heads * self.dim
        self.row = self.heads * self.dim
        self.q_position = self.q_heads * tiling.qDim3  # from one position to the next in GM
        self.k_position = self.k_heads * tiling.kDim3
        self.whole = tiling.qDim3 == self.dim  # else the first half of every head rotates
        self.line_blocks: int = tiling.dstRepSBr  # of a line as it is computed
        self.half_blocks = self.line_blocks // 2
        self.copied_blocks: int = tiling.blockMoveQ  # of a line as it is copied


@dataclass(frozen=True)
class Piece:
    """Positions that are loaded and stored together; `rounds` of them are computed at a time, in the end `last`."""

    first: int
    positions: int
    rounds: int
    full_rounds: int
    last: int


class Walk:
    """The pieces of one core, of which the last one, and in it the last round, are smaller or as large as the rest."""

    def __init__(self, tiling: SimpleNamespace, core: int, path: str) -> None:
        self.pieces = [Piece(0, 1, 1, 0, 1)]
        if path == "small":
            return
        size, rounds = tiling.preCBatchB, tiling.comBatchBB
        full = Piece(0, size, rounds, tiling.preCBBTimes, tiling.comBatchBBL)
        if core == tiling.useCoreNum - 1:
            times, ending = tiling.lastCLTimes, (tiling.lastCBatchL, rounds, tiling.preCLLTimes, tiling.comBatchLLL)
        else:
            times, ending = tiling.preCLTimes, (tiling.preCBatchL, rounds, tiling.preCBLTimes, tiling.comBatchBLL)
        before = [Piece(i * size, full.positions, rounds, full.full_rounds, full.last) for i in range(times)]
        self.pieces = [*before, Piece(times * size, *ending)]


# The order in which the kernels ask for their buffers, by path. What comes in is double-buffered but for "small";
# `tune` tries other numbers, which the tiling struct lacks.
ORDER = {
    "small": ("cos", "by_sin", "sin", "by_cos", "heads", "out"),
    "ab": ("cos", "by_sin", "sin", "heads", "by_cos", "out"),
    "ab_cast": ("cos", "heads", "sin", "by_sin", "out", "by_cos"),
}


class Buffers:
    """The unified buffer of one core: queues of heads, cos and sin, one of results, temporaries."""

    def __init__(self, tiling: SimpleNamespace, sizes: Sizes, path: str) -> None:
        pipe, count = asc.TPipe(), getattr(tiling, "bufferNum", 1 if path == "small" else 2)
        out_count = getattr(tiling, "outBufferNum", 1)
        self.heads, self.cos, self.sin = (asc.TQue(VECIN, count) for _ in range(3))
        self.out = asc.TQue(VECOUT, out_count)
        self.by_sin, self.by_cos, self.cos32, self.sin32 = (asc.TBuf(VECCALC) for _ in range(4))
        queues = {
            "heads": (self.heads, count, tiling.qPart1Ub),
            "cos": (self.cos, count, tiling.cosPart1Ub),
            "sin": (self.sin, count, tiling.cosPart1Ub),
            "out": (self.out, out_count, tiling.qPart1Ub),
        }
        for name in ORDER[path]:
            if name in queues:
                pipe.init_buffer(*queues[name])
            else:
                pipe.init_buffer(getattr(self, name), tiling.q2q1Part1Ub)
        if sizes.widen:
            pipe.init_buffer(self.cos32, tiling.sin1UbSize)
            pipe.init_buffer(self.sin32, tiling.sin1UbSize)
