"""Host tiling of rotary_position_embedding_grad on A2 and A3: checks of both modes, then the mode's tiling."""

from __future__ import annotations

from ascend_sim.host.tensors import shape_text
from ascend_sim.host.tiling import Tiling, TilingContext

from ..rotary_position_embedding.checks import check_common_stage, check_dtypes, check_ranks
from ..shared.checks_arch35 import check_platform
from .tiling_half import tiling_half
from .tiling_interleave import tiling_interleave

HALF, INTERLEAVE = 0, 1


def tiling(context: TilingContext) -> Tiling:
    check_platform(context)
    check_ranks(context, "dy")
    check_common_stage(context, "dy")
    mode = context.attrs["mode"]
    context.require(mode in (HALF, INTERLEAVE), f"mode is {mode}; on A2 and A3 allowed are 0 (half) and 1 (interleave)")
    inputs = ("dy", "cos", "sin", "x") if "x" in context.inputs else ("dy", "cos", "sin")
    check_dtypes(context, inputs)
    if "x" in context.inputs:
        x, dy = context.shape("x"), context.shape("dy")
        context.require(x == dy, f"x is {shape_text(x)} and dy {shape_text(dy)}; they must have the same shape")
    return tiling_interleave(context) if mode == INTERLEAVE else tiling_half(context)
