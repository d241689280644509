"""The operator's tiling struct, and how an answer is put together from its fields."""

from __future__ import annotations

from ascend_sim.host.tiling import Tiling, TilingContext

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
    data: dict[str, int | str] = {name: fields.get(name, 0) for name in STRUCT}
    words = tuple(fields.get(name, 0) for name in STRUCT)
    return Tiling(
        op=context.op,
        soc=context.soc,
        variant=context.variant,
        key=key,
        meaning=meaning,
        block_dim=block_dim,
        workspace_bytes=context.library_workspace_bytes,
        data=data | {"path": path},
        words=words,
        ub_bytes=context.ub_bytes,
    )
