"""The A2/A3 tiling struct of rotary_position_embedding_grad: the half mode's part, then the interleaved mode's."""

from __future__ import annotations

from ..shared.structs import Struct

HALF = (
    *("layout", "xShapeSize", "cosShapeSize", "dimB", "dimS", "dimN", "dimD", "cosDimB", "cosDimN"),
    *("halfDimDAlignNum", "coreData", "coreLast", "copyLoop", "copyTail", "lastCopyLoop", "lastCopyTail"),
    *("alignUbSize", "calcUbSize", "coreUsed", "coreNum", "firstReduce", "secondReduce", "ubLoopGap"),
    *("blockLenInner", "strideInner", "blockLenPadInner", "stridePadInner"),
)
INTERLEAVE = (
    *("batchSize", "seqLen", "numHeads", "headDim", "alignHeadDim", "padHeadDim", "frontCoreNum", "tailCoreNum"),
    *("seqFrontLen", "seqTailLen", "seqFrontCalcNum", "seqFrontCalcLoop", "seqFrontCalcTail"),
    *("seqTailCalcNum", "seqTailCalcLoop", "seqTailCalcTail", "numHeadsLength", "numHeadsLoop", "numHeadsTail"),
    *("batchNumHeadsLength", "batchNumHeadsLoop", "batchNumHeadsTail", "layout"),
)


def struct_of(path: str) -> Struct:
    return Struct((HALF, INTERLEAVE), filled=0 if path.startswith("half") else 1)
