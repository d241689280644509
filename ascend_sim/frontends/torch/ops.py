"""The functions that `cann_ops_transformer.ops` and torch_npu offer; importing this registers the custom ops."""

from __future__ import annotations

from ascend_sim.frontends.torch.apply_rotary_pos_emb import apply_rotary_pos_emb, apply_rotary_pos_emb_grad
from ascend_sim.frontends.torch.inplace_partial_rotary_mul import (
    inplace_partial_rotary_mul,
    inplace_partial_rotary_mul_backward,
)
from ascend_sim.frontends.torch.npu_rotary_mul import npu_rotary_mul

__all__ = [
    "apply_rotary_pos_emb",
    "apply_rotary_pos_emb_grad",
    "inplace_partial_rotary_mul",
    "inplace_partial_rotary_mul_backward",
    "npu_rotary_mul",
]
