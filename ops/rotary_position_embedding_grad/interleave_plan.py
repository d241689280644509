"""Sizes, loops and buffers of the interleave grad kernel, from the tiling fields."""

from __future__ import annotations

from types import SimpleNamespace

from ascend_sim import asc

VECIN, VECOUT, VECCALC = asc.TPosition.VECIN, asc.TPosition.VECOUT, asc.TPosition.VECCALC
BUFFER_NUM = 2
BLOCK_BYTES = 32
FP32_BYTES = 4
BSND, BNSD, SBND = 0, 1, 2


class Sizes:
    """Sizes of a line in elements; `pitch`: a line in UB, filled up with zeros to 32 B."""

    def __init__(self, tiling: SimpleNamespace, dtype: asc.DataType) -> None:
        self.dtype = dtype
        self.itemsize = dtype.sizeof()
        self.widen = self.itemsize < FP32_BYTES
        self.line: int = tiling.headDim
        self.pitch: int = tiling.alignHeadDim
        self.layout: int = tiling.layout
        self.batches: int = tiling.batchSize
        self.heads: int = tiling.numHeads
        self.positions: int = tiling.seqLen
        self.line_blocks = self.pitch * self.itemsize // BLOCK_BYTES
        self.copies = self.batches * self.heads  # lines of dy for each line of cos
        self.padding = asc.DataCopyPadExtParams(dtype, True, 0, self.pitch - self.line, 0)


class Walk:
    """The positions of one core: `steps` of `step` and a shorter last one of `last` (0: none is shorter)."""

    def __init__(self, tiling: SimpleNamespace, core: int) -> None:
        core = asc.number(core, asc.int64)  # 64 bits: offsets may pass 2**31 elements
        front = core < tiling.frontCoreNum
        behind = core - tiling.frontCoreNum
        before = tiling.frontCoreNum * tiling.seqFrontLen
        self.first = core * tiling.seqFrontLen if front else before + behind * tiling.seqTailLen
        self.positions: int = tiling.seqFrontLen if front else tiling.seqTailLen
        self.step: int = tiling.seqFrontCalcNum if front else tiling.seqTailCalcNum
        self.steps: int = tiling.seqFrontCalcLoop if front else tiling.seqTailCalcLoop
        tail: int = tiling.seqFrontCalcTail if front else tiling.seqTailCalcTail
        self.last = tail if tail > 0 else self.step


class Buffers:
    """The unified buffer of one core, `count` elements in every buffer; cos and sin, dcos and dsin share theirs.

    The queues have two buffers; `tune` tries single ones too: `bufferNum`, which the tiling struct lacks.
    """

    def __init__(self, tiling: SimpleNamespace, sizes: Sizes, count: int, with_x: bool) -> None:
        buffers = getattr(tiling, "bufferNum", BUFFER_NUM)
        self.count = count
        self.pipe = pipe = asc.TPipe()
        self.dy, self.cos_sin, self.x = asc.TQue(VECIN, buffers), asc.TQue(VECIN, buffers), asc.TQue(VECIN, buffers)
        self.dx, self.sums = asc.TQue(VECOUT, buffers), asc.TQue(VECOUT, buffers)
        nbytes = count * sizes.itemsize
        pipe.init_buffer(self.dy, buffers, nbytes)
        pipe.init_buffer(self.cos_sin, buffers, 2 * nbytes)
        pipe.init_buffer(self.dx, buffers, nbytes)
        if with_x:
            pipe.init_buffer(self.x, buffers, nbytes)
            pipe.init_buffer(self.sums, buffers, 2 * nbytes)
        self.table, self.backward, self.forward, self.spread = (asc.TBuf(VECCALC) for _ in range(4))
        pipe.init_buffer(self.table, count * FP32_BYTES)
        pipe.init_buffer(self.backward, BLOCK_BYTES)
        if with_x:
            pipe.init_buffer(self.forward, BLOCK_BYTES)
        if sizes.layout != BNSD:
            pipe.init_buffer(self.spread, nbytes)
        self.product, self.swapped = asc.TBuf(VECCALC), asc.TBuf(VECCALC)
        self.dy32, self.cos_sin32, self.x32, self.dx32, self.sums32 = (asc.TBuf(VECCALC) for _ in range(5))
        fp32 = count * FP32_BYTES
        pipe.init_buffer(self.product, fp32)
        pipe.init_buffer(self.swapped, fp32)
        if sizes.widen:
            pipe.init_buffer(self.dy32, fp32)
            pipe.init_buffer(self.cos_sin32, 2 * fp32)
            pipe.init_buffer(self.dx32, fp32)
            if with_x:
                pipe.init_buffer(self.x32, fp32)
                pipe.init_buffer(self.sums32, 2 * fp32)
