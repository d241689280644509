"""The operator's tiling structs, and how an answer is put together from their fields."""

from __future__ import annotations

from collections.abc import Mapping

from ascend_sim.host.tiling import CoreShare, Tiling, TilingContext, UbBuffer

# Field order of ops-transformer, apply_rotary_pos_emb_tiling.h, 2026-08; all int64 but the 950's last one, a bool.
STRUCT = (
    *("useCoreNum", "lastDim", "halfNum", "preCBatchB", "preCBatchL", "lastCBatchL"),
    *("comBatchBB", "comBatchBBL", "comBatchBLL", "comBatchLLL", "qPart1Ub", "q2q1Part1Ub", "cosPart1Ub", "sin1UbSize"),
    *("preCLTimes", "lastCLTimes", "preCBBTimes", "preCBLTimes", "preCLLTimes"),
    *("qCoreOffset", "kCoreOffset", "cosCoreOffset", "qcdNum", "kcdNum", "coscdNum", "qkcNum", "mulNum", "qcdHalfNum"),
    *("dstRepSBr", "blockLenQ", "srcStrideK", "blockLenq2q1", "mask", "qcNum", "kcNum", "qDim3", "kDim3", "blockMoveQ"),
)
STRUCT_ARCH35 = (
    *("B", "CosB", "S", "D", "QN", "KN", "blockNumB", "blockFactorB", "blockNumS", "blockFactorS"),
    *("ubLoopNumS", "ubFactorS", "ubTailFactorS", "ubLoopNumB", "ubFactorB", "ubTailFactorB"),
    *("ubLoopNumQN", "ubFactorQN", "ubTailFactorQN", "ubLoopNumKN", "ubFactorKN", "ubTailFactorKN"),
    *("rotaryMode", "realDim", "isPartialRope"),
)
STRUCT_ARCH35_AB = (
    *("B", "CosB", "S", "D", "QN", "KN", "dAlign", "dSplitCoef", "blockNumBS", "blockFactorBS", "blockTailBS"),
    *("ubFactorBS", "ubLoopN", "ubFactorN", "ubTailN", "rotaryMode", "realDim", "isPartialRope"),
)


def answer(
    context: TilingContext,
    *,
    key: int,
    meaning: str,
    block_dim: int,
    struct: tuple[str, ...],
    fields: Mapping[str, int],
    path: str,
    shares: tuple[CoreShare, ...],
    buffers: tuple[UbBuffer, ...],
    not_runnable: str,
    warnings: tuple[str, ...] = (),
) -> Tiling:
    """A tiling whose fields are `fields`, 0 where they say nothing."""
    data = {name: fields.get(name, 0) for name in struct}
    return Tiling(
        op=context.op,
        soc=context.soc,
        variant=context.variant,
        key=key,
        meaning=meaning,
        block_dim=block_dim,
        workspace_bytes=context.library_workspace_bytes,
        data={**data, "path": path},
        words=tuple(data.values()),
        ub_bytes=context.ub_bytes,
        shares=shares,
        buffers=buffers,
        warnings=warnings,
        not_runnable=not_runnable,
    )
