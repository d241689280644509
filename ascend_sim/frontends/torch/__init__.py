"""PyTorch front end: the operators as custom ops under `torch.ops.cann_ops_transformer`, run by the simulator.

    from ascend_sim.frontends.torch import inplace_partial_rotary_mul

Tensors live on the CPU. Calls go through the aclnn layer to the device that is current: that of the innermost
`ascend_sim.session(...)` or `ascend_sim.device(...)`, else an ascend910b. `install_shims()` makes the documents' own
imports (`cann_ops_transformer.ops`, `torch_npu`, `torchair`) and `device="npu"` work.
"""

from __future__ import annotations

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        "ascend_sim.frontends.torch needs PyTorch, which is not installed: pip install 'ascend-sim[torch]'"
    ) from error

from ascend_sim.frontends.torch.calls import AclnnError
from ascend_sim.frontends.torch.ops import (
    apply_rotary_pos_emb,
    apply_rotary_pos_emb_grad,
    inplace_partial_rotary_mul,
    inplace_partial_rotary_mul_backward,
    npu_rotary_mul,
)
from ascend_sim.frontends.torch.shims import install_shims, uninstall_shims

__all__ = [
    "AclnnError",
    "apply_rotary_pos_emb",
    "apply_rotary_pos_emb_grad",
    "inplace_partial_rotary_mul",
    "inplace_partial_rotary_mul_backward",
    "install_shims",
    "npu_rotary_mul",
    "uninstall_shims",
]
