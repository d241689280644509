"""The A2/A3 tiling struct of rotary_position_embedding, and how an answer is put together from its fields.

It holds three parts, one after another: the rotate-matrix path's matmul tiling, the half mode's and the interleaved
mode's fields. A call fills one part and leaves the others 0.
"""

from __future__ import annotations

from collections.abc import Mapping

from ascend_sim.host.tiling import CoreShare, Tiling, TilingContext, UbBuffer

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


def answer(
    context: TilingContext,
    *,
    key: int,
    meaning: str,
    block_dim: int,
    fields: Mapping[str, int],
    path: str,
    shares: tuple[CoreShare, ...],
    buffers: tuple[UbBuffer, ...],
) -> Tiling:
    """A tiling whose fields are `fields`, 0 where they say nothing; words as the chosen CANN release lays them out."""
    old = context.cann == "8.3"
    half_names = [name for name in HALF if not (old and name in NOT_IN_8_3)]
    is_half = path.startswith("half")
    data: dict[str, int] = {name: fields.get(name, 0) for name in (half_names if is_half else INTERLEAVE)}
    half_words = list(data.values()) if is_half else [0] * len(half_names)
    interleave_words = [0] * len(INTERLEAVE) if is_half else list(data.values())
    return Tiling(
        op=context.op,
        soc=context.soc,
        variant=context.variant,
        key=key,
        meaning=meaning,
        block_dim=block_dim,
        workspace_bytes=context.library_workspace_bytes,
        data={**data, "path": path},
        words=tuple([0] * (0 if old else MATMUL_WORDS) + half_words + interleave_words),
        ub_bytes=context.ub_bytes,
        shares=shares,
        buffers=buffers,
    )
