"""The A2/A3 kernels of rotary_position_embedding_grad, chosen by the path that the host tiling took."""

from __future__ import annotations

from types import SimpleNamespace

from ascend_sim.host.operator import Call

from .kernel_half import half_grad, half_grad_with_x
from .kernel_interleave import interleave_grad, interleave_grad_with_x


def launch(call: Call) -> None:
    """dx, and dcos and dsin where x is given, on the current device."""
    blocks, path, fields = call.tiling.block_dim, call.tiling.path, SimpleNamespace(**call.tiling.data)
    dy, cos, sin, dx = (call.tensors[name] for name in ("dy", "cos", "sin", "dx"))
    if "x" not in call.tensors:
        if path == "half":
            half_grad[blocks](dy, cos, sin, dx, fields)
        else:
            interleave_grad[blocks](dy, cos, sin, dx, fields, path == "large")
        return
    x, dcos, dsin = (call.tensors[name] for name in ("x", "dcos", "dsin"))
    if path == "half":
        half_grad_with_x[blocks](dy, cos, sin, x, dx, dcos, dsin, fields)
    else:
        interleave_grad_with_x[blocks](dy, cos, sin, x, dx, dcos, dsin, fields, path == "large")
