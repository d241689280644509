"""Training: the gradient of x comes from the operator's gradient, which the 950 alone has; r1 and r2 are constants."""

import torch

import ascend_sim
from ascend_sim.frontends.torch import inplace_partial_rotary_mul

batch, seq, heads, dim = 2, 32, 8, 128
start, end = 0, 64
torch.manual_seed(0)

x = torch.randn(batch, seq, heads, dim, dtype=torch.float16, requires_grad=True)
angle = torch.rand(batch, seq, 1, (end - start) // 2).repeat_interleave(2, dim=-1)
r1, r2 = angle.cos().half(), angle.sin().half()

with ascend_sim.session("ascend950") as session:
    y = x * 1.0  # a leaf that requires a gradient must not be changed in place
    y.retain_grad()
    inplace_partial_rotary_mul(y, r1, r2, rotary_mode="interleave", partial_slice=[start, end])
    loss = (y**2).sum()
    loss.backward()

# A rotation keeps lengths, so the loss is the sum of x**2 and its gradient is 2x.
print(f"y.grad {tuple(y.grad.shape)}, x.grad {tuple(x.grad.shape)}, r1.grad {r1.grad}")
print(f"largest deviation from 2x: {(x.grad - 2 * x).abs().max():.3f}")
print(session.summary())
