"""The operator's two tiling structs, and how an answer is put together from their fields."""

from __future__ import annotations

from collections.abc import Mapping

from ascend_sim.host.tiling import CoreShare, Tiling, TilingContext, UbBuffer

# Field order of ops-transformer, inplace_partial_rotary_mul_grad_regbase_tiling.h, 2026-08; all int64.
SLICE = ("sliceStart", "sliceEnd", "sliceLength")
STRUCT = (
    *("b", "s", "d", "n", "blockNumB", "blockFactorB", "blockNumS", "blockFactorS", "ubFactorS", "ubFactorB"),
    *("ubLoopNumN", "ubFactorN", "ubTailFactorN", "usedCoreNum", "rotaryMode", *SLICE, "dSplitCoef"),
)
STRUCT_AB = (
    *("b", "s", "d", "n", "dAlign", "dSplitCoef", "blockNumBS", "blockFactorBS", "blockTailBS"),
    *("blockNumN", "blockFactorN", "blockTailN", "ubFactorBS", "ubFactorN", "usedCoreNum", "rotaryMode", *SLICE),
)


def answer(
    context: TilingContext,
    *,
    key: int,
    meaning: str,
    fields: Mapping[str, int],
    path: str,
    shares: tuple[CoreShare, ...] = (),
    buffers: tuple[UbBuffer, ...] = (),
) -> Tiling:
    """A tiling whose fields are `fields`, 0 where they say nothing, on `usedCoreNum` cores."""
    data = {name: fields.get(name, 0) for name in (STRUCT_AB if path == "AB" else STRUCT)}
    return Tiling(
        op=context.op,
        soc=context.soc,
        variant=context.variant,
        key=key,
        meaning=meaning,
        block_dim=data["usedCoreNum"],
        workspace_bytes=context.library_workspace_bytes,
        data={**data, "path": path},
        words=tuple(data.values()),
        ub_bytes=context.ub_bytes,
        shares=shares,
        buffers=buffers,
    )
