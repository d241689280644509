"""The tilings that the A2/A3 kernels of rotary_position_embedding_grad take: those of the call's mode."""

from __future__ import annotations

from ascend_sim.host.space import Space
from ascend_sim.host.tiling import Tiling, TilingContext

from ..shared.spaces import one_of
from . import space_half, space_interleave
from .tiling import INTERLEAVE


def _of_call(context: TilingContext) -> Space:
    return space_interleave.SPACE if context.attrs["mode"] == INTERLEAVE else space_half.SPACE


def _of_tiling(tiling: Tiling) -> Space:
    return space_half.SPACE if tiling.path == "half" else space_interleave.SPACE


SPACE = one_of(_of_call, _of_tiling)
