"""Checks that the 950's rotary operators have in common."""

from __future__ import annotations

from ascend_sim.host.tensors import shape_text
from ascend_sim.host.tiling import TilingContext

from .rope_layout import RopeDims, tnd_layout


def check_platform(context: TilingContext) -> None:
    """The host code takes both for granted and would divide by them."""
    context.require(context.cores > 0, f"core count is {context.cores}, it must be positive")
    context.require(context.ub_bytes > 0, f"UB size is {context.ub_bytes} B, it must be positive")


def layout_of(context: TilingContext, x_name: str) -> RopeDims:
    """How cos is broadcast to `x_name`; refused where no template takes the pair."""
    x, cos = context.shape(x_name), context.shape("cos")
    dims = tnd_layout(x, cos)
    if dims is None:
        context.refuse(
            f"{x_name} is {shape_text(x)}, cos and sin are {shape_text(cos)}; each dim of cos and sin but the last "
            f"must be 1 or that of {x_name}"
        )
    return dims
