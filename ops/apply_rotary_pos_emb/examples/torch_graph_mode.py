"""Graph mode: a module with the operator in it, compiled by torch.compile."""

from ascend_sim.frontends.torch import install_shims

install_shims()

import torch  # noqa: E402
import torch_npu  # noqa: E402
import torchair  # noqa: E402
from cann_ops_transformer.ops import apply_rotary_pos_emb  # noqa: E402

torch_npu.npu.set_device(0)
batch, seq, heads, dim = 1, 64, 8, 128


class Rope(torch.nn.Module):
    def forward(
        self, query: torch.Tensor, key: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return apply_rotary_pos_emb(query, key, cos, sin, layout="BSND", rotary_mode="half")


query = torch.randn(batch, seq, heads, dim, device="npu", dtype=torch.float16)
key = torch.randn(batch, seq, heads, dim, device="npu", dtype=torch.float16)
cos = torch.randn(batch, seq, 1, dim, device="npu", dtype=torch.float16)
sin = torch.randn(batch, seq, 1, dim, device="npu", dtype=torch.float16)
expected = Rope().npu()(query, key, cos, sin)

model = torch.compile(Rope().npu(), backend=torchair.get_npu_backend(), dynamic=False, fullgraph=True)
query_out, key_out = model(query, key, cos, sin)
print(f"compiled and single-op mode agree: {torch.equal(query_out, expected[0]) and torch.equal(key_out, expected[1])}")
