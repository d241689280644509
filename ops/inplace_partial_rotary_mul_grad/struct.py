"""The operator's two tiling structs."""

from __future__ import annotations

from ..shared.structs import Struct

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


def struct_of(template: str) -> Struct:
    return Struct((STRUCT_AB if template == "AB" else STRUCT,))
