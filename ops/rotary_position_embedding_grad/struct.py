"""The A2/A3 tiling struct of rotary_position_embedding_grad: the half mode's part, then the interleaved mode's."""

from __future__ import annotations

from collections.abc import Mapping

from ascend_sim.host.tiling import CoreShare, Tiling, TilingContext, UbBuffer

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
    """A tiling whose fields are `fields`, 0 where they say nothing."""
    is_half = path.startswith("half")
    data: dict[str, int] = {name: fields.get(name, 0) for name in (HALF if is_half else INTERLEAVE)}
    half_words = list(data.values()) if is_half else [0] * len(HALF)
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
        words=tuple(half_words + interleave_words),
        ub_bytes=context.ub_bytes,
        shares=shares,
        buffers=buffers,
    )
