"""Graph mode: a module with the operator in it, compiled by torch.compile."""

from ascend_sim.frontends.torch import install_shims

install_shims()

import torch  # noqa: E402
import torch_npu  # noqa: E402
import torchair  # noqa: E402
from cann_ops_transformer.ops import inplace_partial_rotary_mul  # noqa: E402

torch_npu.npu.set_device(0)
batch, seq, heads, dim = 2, 32, 8, 128
start, end = 0, 64


class PartialRope(torch.nn.Module):
    def forward(self, x: torch.Tensor, r1: torch.Tensor, r2: torch.Tensor) -> torch.Tensor:
        inplace_partial_rotary_mul(x, r1, r2, rotary_mode="interleave", partial_slice=[start, end])
        return x


x = torch.randn(batch, seq, heads, dim, device="npu", dtype=torch.float16)
r1 = torch.randn(batch, seq, 1, end - start, device="npu", dtype=torch.float16)
r2 = torch.randn(batch, seq, 1, end - start, device="npu", dtype=torch.float16)
expected = PartialRope().npu()(x.clone(), r1, r2)

model = torch.compile(PartialRope().npu(), backend=torchair.get_npu_backend(), dynamic=False, fullgraph=True)
output = model(x, r1, r2)

print(f"compiled and single-op mode agree: {torch.equal(output, expected)}")
print(f"x was changed in place: {torch.equal(x, expected)}")
