"""The A2/A3 kernels of rotary_position_embedding, chosen by the path that the host tiling took."""

from __future__ import annotations

from types import SimpleNamespace

from ascend_sim.host.operator import Call

from .kernel_half import rotary_half
from .kernel_half_small import rotary_half_small
from .kernel_interleave import interleave_split_bs, interleave_split_bsn, interleave_split_s

KERNELS = {
    "half": rotary_half,
    "half_full_load": rotary_half_small,
    "split_s": interleave_split_s,
    "split_bs": interleave_split_bs,
    "split_bsn": interleave_split_bsn,
}


def launch(call: Call) -> None:
    """y from x, cos and sin, on the current device."""
    x, cos, sin, y = (call.tensors[name] for name in ("x", "cos", "sin", "y"))
    kernel = KERNELS[call.tiling.path]
    kernel[call.tiling.block_dim](x, cos, sin, y, SimpleNamespace(**call.tiling.data))
