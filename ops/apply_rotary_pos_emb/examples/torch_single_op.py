"""One call from PyTorch: query and key rotate in one kernel, into new tensors."""

from ascend_sim.frontends.torch import install_shims

install_shims()

import torch  # noqa: E402
import torch_npu  # noqa: E402
from cann_ops_transformer.ops import apply_rotary_pos_emb  # noqa: E402

torch_npu.npu.set_device(0)
batch, seq, heads, dim = 1, 64, 8, 128

query = torch.randn(batch, seq, heads, dim, device="npu", dtype=torch.float16)
key = torch.randn(batch, seq, heads, dim, device="npu", dtype=torch.float16)
cos = torch.randn(batch, seq, 1, dim, device="npu", dtype=torch.float16)
sin = torch.randn(batch, seq, 1, dim, device="npu", dtype=torch.float16)

query_out, key_out = apply_rotary_pos_emb(query, key, cos, sin, layout="BSND", rotary_mode="half")

half = torch.cat((-query[..., dim // 2 :], query[..., : dim // 2]), dim=-1)
print(f"query {tuple(query_out.shape)}, key {tuple(key_out.shape)}")
print(f"largest deviation from the formula: {(query_out - (query * cos + half * sin)).abs().max():.4f}")
