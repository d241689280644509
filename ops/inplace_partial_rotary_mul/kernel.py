"""The A2/A3 kernels of inplace_partial_rotary_mul, chosen by the path that the host tiling took."""

from __future__ import annotations

from types import SimpleNamespace

from ascend_sim.host.operator import Call

from .kernel_fast import rotary_fast
from .kernel_split_bsn import rotary_split_bsn
from .kernel_split_s import rotary_split_s


def launch(call: Call) -> None:
    """Rotate `call.tensors["x"]` in place on the current device; the kernels see x, cos, sin as flat memory."""
    x, cos, sin = (call.tensors[name] for name in ("x", "cos", "sin"))
    blocks, path = call.tiling.block_dim, call.tiling.path
    fields = SimpleNamespace(**call.tiling.data)
    if path == "split_s":
        rotary_split_s[blocks](x, cos, sin, fields)
    elif path == "split_bsn":
        rotary_split_bsn[blocks](x, cos, sin, fields)
    else:  # the no-op runs the fast kernel too, which returns at once
        rotary_fast[blocks](x, cos, sin, fields, path == "fast_elementwise")
