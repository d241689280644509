"""Host tiling of rotary_position_embedding on A2 and A3: which of its tilings takes a call."""

from __future__ import annotations

from ascend_sim.host.tensors import shape_text
from ascend_sim.host.tiling import Tiling, TilingContext

from ..shared.checks_arch35 import check_platform
from .checks import check_common_stage, check_cos, check_dtypes, check_half_dim, check_ranks
from .tiling_half import DTYPE_DIGIT, tiling_half
from .tiling_interleave import tiling_interleave

INTERLEAVE = 1
KEY_ROTATE_MATRIX = 3010
CUBE_TILE = 128
CUBE_SLOTS = 8  # float32 tiles in the workspace of each cube core


def tiling(context: TilingContext) -> Tiling:
    """The tilings in their order of priority; on A2/A3 modes 2 and 3 run as half."""
    check_platform(context)
    check_ranks(context, "x")
    check_common_stage(context, "x")
    if "rotate" in context.inputs:
        return _rotate_matrix(context)
    return tiling_interleave(context) if context.attrs["mode"] == INTERLEAVE else tiling_half(context)


def _rotate_matrix(context: TilingContext) -> Tiling:
    """x times the D x D matrix `rotate` on the cube cores, then cos and sin on the vector cores."""
    context.require(context.cann != "8.3", "input rotate came after CANN 8.3; leave it out, or ask for cann='master'")
    x, rotate = context.inputs["x"], context.shape("rotate")
    dim = x.shape[-1]
    context.require(x.rank == 4, f"x has {x.rank} dims; with rotate it must have 4")
    context.require(
        rotate == (dim, dim), f"rotate is {shape_text(rotate)}; it must be square, as long as the last dim of x, {dim}"
    )
    check_half_dim(context, dim)
    check_cos(context, "x")
    check_dtypes(context, ("x", "cos", "sin", "rotate"))
    cos = context.shape("cos")
    if context.attrs["mode"] == INTERLEAVE:
        context.require(
            sum(d != 1 for d in cos[:3]) <= 1,
            f"cos is {shape_text(cos)}; interleaved mode takes (S, 1, 1, D), (1, S, 1, D) or (1, 1, S, D)",
        )
    slot_bytes = CUBE_TILE * CUBE_TILE * 4
    return Tiling(
        op=context.op,
        soc=context.soc,
        variant=context.variant,
        key=KEY_ROTATE_MATRIX + DTYPE_DIGIT[x.dtype],
        meaning=f"rotate matrix, {x.dtype}: x * rotate on the cube cores, the rest on the vector cores",
        block_dim=context.cube_cores,
        workspace_bytes=context.library_workspace_bytes + context.cube_cores * CUBE_SLOTS * slot_bytes,
        data={"path": "rotate_matrix"},
        words=(),  # the matmul library's, not modelled
        ub_bytes=context.ub_bytes,
        not_runnable="the rotate matrix needs the cube core, which is not simulated; leave input rotate out",
    )
