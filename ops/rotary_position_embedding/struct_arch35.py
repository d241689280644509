"""The operator's two tiling structs on the 950, and how an answer is put together from their fields."""

from __future__ import annotations

from collections.abc import Mapping

from ascend_sim.host.tiling import CoreShare, Tiling, TilingContext, UbBuffer

# Field order of ops-transformer, rotary_position_embedding_tiling.h, 2026-08; all int64.
STRUCT = (
    *("B", "CosB", "S", "D", "N", "blockNumB", "blockFactorB", "blockNumS", "blockFactorS"),
    *("ubLoopNumS", "ubFactorS", "ubTailFactorS", "ubLoopNumB", "ubFactorB", "ubTailFactorB"),
    *("ubLoopNumN", "ubFactorN", "ubTailFactorN", "rotaryMode"),
)
STRUCT_AB = (
    *("B", "CosB", "S", "D", "N", "dAlign", "dSplitCoef", "blockNumBS", "blockFactorBS", "blockTailBS"),
    *("blockNumN", "blockFactorN", "blockTailN", "ubFactorBS", "ubFactorN", "rotaryMode"),
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
    data = {name: fields.get(name, 0) for name in (STRUCT_AB if path == "AB" else STRUCT)}
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
    )
