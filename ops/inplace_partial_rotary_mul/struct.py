"""The operator's tiling struct, and how an answer is put together from its fields."""

from __future__ import annotations

from ascend_sim.host.tiling import Tiling, TilingContext

from ..shared import structs
from ..shared.structs import Struct

# The tiling struct in the order of its declaration (ops-transformer, inplace_partial_rotary_mul_tiling.h, 2026-07), all
# int64; the first half serves the 950.
STRUCT = (
    *("B", "CosB", "S", "D", "N", "blockNumB", "blockFactorB", "blockNumS", "blockFactorS"),
    *("ubLoopNumS", "ubFactorS", "ubTailFactorS", "ubLoopNumB", "ubFactorB", "ubTailFactorB"),
    *("ubLoopNumN", "ubFactorN", "ubTailFactorN", "rotaryMode", "dAlign", "dSplitCoef"),
    *("blockNumBS", "blockFactorBS", "blockTailBS", "blockNumN", "blockFactorN", "blockTailN", "ubFactorBS"),
    *("sliceStart", "sliceEnd", "sliceLength"),
    *("usedCoreNum", "numHead", "headDim", "allHeadDim", "coreTUbLoopTime", "coreBUbLoopTime"),
    *("coreTUbLoopTail", "coreBUbLoopTail", "ubFactor", "start", "blockFactor"),
    *("batchSize", "seqLen", "numHeads", "frontCoreNum", "tailCoreNum", "coreCalcNum", "coreCalcTail"),
    *("ubCalcNum", "ubCalcLoop", "ubCalcTail", "ubCalcTailNum", "ubCalcTailLoop", "ubCalcTailTail"),
    *("ubCalcBNum", "ubCalcBLoop", "ubCalcBTail", "ubCalcNNum", "ubCalcNLoop", "ubCalcNTail"),
)


def answer(context: TilingContext, key: int, meaning: str, block_dim: int, fields: dict[str, int], path: str) -> Tiling:
    """A tiling whose fields are `fields`, 0 where they say nothing."""
    struct = Struct((STRUCT,))
    return structs.answer(context, struct, key=key, meaning=meaning, block_dim=block_dim, fields=fields, path=path)
