"""The A2/A3 tiling struct of rotary_position_embedding.

It holds three parts, one after another: the rotate-matrix path's matmul tiling, the half mode's and the interleaved
mode's fields. A call fills one part and leaves the others 0.
"""

from __future__ import annotations

from ascend_sim.host.tiling import TilingContext

from ..shared.structs import Struct

HALF = (
    *("tilingMode", "axisLenX1", "axisLenX2", "axisLenX3", "axisLenR1", "axisLenR2", "axisLenR3", "tailAxesFLBoost"),
    *("gmLength", "broadcastFirstDim", "broadcastSecondDim", "dLength", "halfDLength", "halfDPadLength", "dPadLength"),
    *("isAligned", "totalSLines", "storeSLines", "storeDataLength", "storePadDataLength"),
    *("formerCoreNum", "formerSLines", "formerUbLoop", "formerUbLast", "formerXDataLength", "formerRDataLength"),
    *("formerXCoreOffset", "formerRCoreOffset", "formerUbLastDataLength", "formerUbLastPadDataLength"),
    *("tailCoreNum", "tailSLines", "tailUbLoop", "tailUbLast", "tailXDataLength", "tailRDataLength"),
    *("tailUbLastDataLength", "tailUbLastPadDataLength", "isThreeOneDim"),
)
INTERLEAVE = (
    *("batchSize", "seqLen", "numHeads", "headDim", "frontCoreNum", "tailCoreNum", "coreCalcNum", "coreCalcTail"),
    *("ubCalcNum", "ubCalcLoop", "ubCalcTail", "ubCalcTailNum", "ubCalcTailLoop", "ubCalcTailTail"),
    *("ubCalcBNum", "ubCalcBLoop", "ubCalcBTail", "ubCalcNNum", "ubCalcNLoop", "ubCalcNTail"),
)
MATMUL_WORDS = 46
NOT_IN_8_3 = frozenset(name for name in HALF if name.startswith("axisLen")) | {"tailAxesFLBoost", "isThreeOneDim"}


def struct_of(context: TilingContext, path: str) -> Struct:
    """As the chosen CANN release lays it out, for a call that takes `path`."""
    old = context.cann == "8.3"
    half = tuple(name for name in HALF if not (old and name in NOT_IN_8_3))
    return Struct((half, INTERLEAVE), filled=0 if path.startswith("half") else 1, before=0 if old else MATMUL_WORDS)
