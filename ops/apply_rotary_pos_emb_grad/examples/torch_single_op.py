"""The gradient called by itself: four results with query and key, two without them."""

from ascend_sim.frontends.torch import install_shims

install_shims()

import torch  # noqa: E402
import torch_npu  # noqa: E402
from cann_ops_transformer.ops import apply_rotary_pos_emb_grad  # noqa: E402

import ascend_sim  # noqa: E402

torch_npu.npu.set_device(0)
batch, seq, heads, dim = 1, 64, 8, 128

grad_query_embed = torch.randn(batch, seq, heads, dim, device="npu", dtype=torch.float16)
grad_key_embed = torch.randn(batch, seq, heads, dim, device="npu", dtype=torch.float16)
cos = torch.randn(batch, seq, 1, dim, device="npu", dtype=torch.float16)
sin = torch.randn(batch, seq, 1, dim, device="npu", dtype=torch.float16)
query = torch.randn(batch, seq, heads, dim, device="npu", dtype=torch.float16)
key = torch.randn(batch, seq, heads, dim, device="npu", dtype=torch.float16)

with ascend_sim.session("ascend950") as session:
    grads = apply_rotary_pos_emb_grad(
        grad_query_embed, grad_key_embed, cos, sin, query=query, key=key, rotary_mode="half", layout=1
    )
    without = apply_rotary_pos_emb_grad(grad_query_embed, grad_key_embed, cos, sin)

for name, grad in zip(("grad_query", "grad_key", "grad_cos", "grad_sin"), grads, strict=True):
    print(f"{name} shape: {tuple(grad.shape)}")
print(f"without query and key: grad_cos {without[2]}, grad_sin {without[3]}")
print(session.key_averages().table())
