"""npu_rotary_mul in a training loop on A2: learn the angles that turn a to b."""

from ascend_sim.frontends.torch import install_shims

install_shims()

import torch  # noqa: E402
import torch_npu  # noqa: E402

import ascend_sim  # noqa: E402

torch.manual_seed(0)
true_angle = torch.rand(1, 16, 1, 32, device="npu").repeat(1, 1, 1, 2)
a = torch.randn(2, 16, 4, 64, device="npu")
b = torch_npu.npu_rotary_mul(a, true_angle.cos(), true_angle.sin())

angle = torch.zeros(1, 16, 1, 32, device="npu", requires_grad=True)
optimizer = torch.optim.SGD([angle], lr=20.0)
with ascend_sim.session("ascend910b") as session:
    for step in range(20):
        both = angle.repeat(1, 1, 1, 2)
        loss = ((torch_npu.npu_rotary_mul(a, both.cos(), both.sin()) - b) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0 or step == 19:
            print(f"step {step:2}: loss {loss.item():.6f}")
print(session.summary())
