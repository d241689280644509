"""PyPTO kernels take torch tensors directly, and write their results into them."""

from __future__ import annotations

import re

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'ascend-sim[torch]'")

from ascend_sim.errors import ArgumentError  # noqa: E402
from ascend_sim.frontends import pypto  # noqa: E402
from ascend_sim.host.device import Device  # noqa: E402

TYPES = {torch.float32: pypto.DT_FP32, torch.float16: pypto.DT_FP16, torch.bfloat16: pypto.DT_BF16}


def doubled(dtype: pypto.DataType):
    @pypto.frontend.jit
    def kernel(x: pypto.Tensor([pypto.DYNAMIC, 64], dtype), y: pypto.Tensor([pypto.DYNAMIC, 64], dtype)):
        pypto.set_vec_tile_shapes(8, 64)
        for i in pypto.loop((x.shape[0] + 7) // 8):
            y[8 * i : 8 * i + 8] = x[8 * i : 8 * i + 8] * 2.0

    return kernel


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_tensors_of_every_type(dtype: torch.dtype) -> None:
    x = torch.randn(21, 64).to(dtype)
    y = torch.empty_like(x)
    with Device(timing=False):
        doubled(TYPES[dtype])(x, y)
    assert torch.equal(y, 2 * x)


def test_results_go_into_strided_tensors() -> None:
    x = torch.randn(21, 64)
    y = torch.zeros(64, 21).t()
    with Device(timing=False):
        doubled(pypto.DT_FP32)(x, y)
    assert torch.equal(y, 2 * x)


def test_tensors_without_memory_are_refused() -> None:
    text = "kernel 'kernel': argument 'x' is a torch tensor on meta; only the CPU's are taken"
    with Device(timing=False), pytest.raises(ArgumentError, match=f"^{re.escape(text)}$"):
        doubled(pypto.DT_FP32)(torch.empty(8, 64, device="meta"), torch.empty(8, 64))
