"""The gradient in graph mode: forward and gradient in one compiled module."""

import torch

import ascend_sim
from ascend_sim.frontends.torch import apply_rotary_pos_emb, apply_rotary_pos_emb_grad
from ascend_sim.frontends.torch.shims.torchair import get_npu_backend


class ThereAndBack(torch.nn.Module):
    def forward(
        self, query: torch.Tensor, key: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        turned_query, turned_key = apply_rotary_pos_emb(query, key, cos, sin)
        grad_query, grad_key, _, _ = apply_rotary_pos_emb_grad(turned_query, turned_key, cos, sin)
        return grad_query, grad_key


torch.manual_seed(0)
query, key = torch.randn(1, 64, 8, 128), torch.randn(1, 64, 2, 128)
angle = torch.rand(1, 64, 1, 64).repeat(1, 1, 1, 2)

with ascend_sim.session("ascend950") as session:
    model = torch.compile(ThereAndBack(), backend=get_npu_backend(), dynamic=False, fullgraph=True)
    query_back, key_back = model(query, key, angle.cos(), angle.sin())

# The gradient of a rotation turns back by the same angle.
print(f"largest deviation from query {(query_back - query).abs().max():.1e}")
print(f"largest deviation from key {(key_back - key).abs().max():.1e}")
print(session.summary())
