"""The operator's two tiling structs on the 950."""

from __future__ import annotations

from ..shared.structs import Struct

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


def struct_of(template: str) -> Struct:
    return Struct((STRUCT_AB if template == "AB" else STRUCT,))
