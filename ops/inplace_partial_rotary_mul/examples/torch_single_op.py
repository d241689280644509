"""One call from PyTorch: half of every head rotates, the other half keeps its bits."""

from ascend_sim.frontends.torch import install_shims

install_shims()  # torch_npu and cann_ops_transformer below are the simulator's; tensors live on the CPU

import torch  # noqa: E402
import torch_npu  # noqa: E402
from cann_ops_transformer.ops import inplace_partial_rotary_mul  # noqa: E402

torch_npu.npu.set_device(0)
batch, seq, heads, dim = 2, 32, 8, 128
start, end = 0, 64

x = torch.randn(batch, seq, heads, dim, device="npu", dtype=torch.float16)
r1 = torch.randn(batch, seq, 1, end - start, device="npu", dtype=torch.float16)
r2 = torch.randn(batch, seq, 1, end - start, device="npu", dtype=torch.float16)
before = x.clone()

inplace_partial_rotary_mul(x, r1, r2, rotary_mode="interleave", partial_slice=[start, end])

first = before[0, 0, 0, 0] * r1[0, 0, 0, 0] - before[0, 0, 0, 1] * r2[0, 0, 0, 0]
print(f"first element: {x[0, 0, 0, 0]:.3f}, by hand {first:.3f}")
print(f"outside the slice unchanged: {torch.equal(x[..., end:], before[..., end:])}")
