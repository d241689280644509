"""Training on the 950: all four inputs get their gradients from apply_rotary_pos_emb_grad."""

import torch

import ascend_sim
from ascend_sim.frontends.torch import apply_rotary_pos_emb

batch, seq, heads, dim = 1, 64, 8, 128
torch.manual_seed(0)

query, key = (torch.randn(batch, seq, heads, dim, dtype=torch.float16, requires_grad=True) for _ in range(2))
cos, sin = (torch.randn(batch, seq, 1, dim, dtype=torch.float16, requires_grad=True) for _ in range(2))

with ascend_sim.session("ascend950") as session:
    query_out, key_out = apply_rotary_pos_emb(query, key, cos, sin, layout="BSND", rotary_mode="half")
    loss = query_out.sum() + key_out.sum()
    loss.backward()

for name, tensor in (("query", query), ("key", key), ("cos", cos), ("sin", sin)):
    print(f"{name}.grad {tuple(tensor.grad.shape)}")
# The gradient of cos is the sum of all heads of query and key.
heads_sum = query.float().sum(2, keepdim=True) + key.float().sum(2, keepdim=True)
print(f"largest deviation of cos.grad: {(cos.grad.float() - heads_sum).abs().max():.4f}")
print(session.summary())
