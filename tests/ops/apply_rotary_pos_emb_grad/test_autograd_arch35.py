"""The kernels against torch autograd of the plain formula in float64, in every template and dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.runs_arch35 import FLOATS

from .calls_arch35 import LAYOUTS, inputs_of, run

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'ascend-sim[torch]'")

ROUNDING = {"fp16": 2.0**-11, "bf16": 2.0**-8, "fp32": 2.0**-24}
FLOAT32 = 2.0**-24
SUBNORMAL = {"fp16": 2.0**-14, "bf16": 0.0, "fp32": 0.0}  # what counts as zero


def rope(x: Any, cos: Any, sin: Any) -> Any:
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat((-second, first), -1) * sin


def exact(inputs: dict[str, Any], magnitudes: bool) -> dict[str, Any]:
    """Gradients in float64; with `magnitudes` those of a formula of positive numbers: the size of all that is added."""
    wide = {name: torch.tensor(array.astype(np.float64)) for name, array in inputs.items()}
    if magnitudes:
        wide = {name: tensor.abs() for name, tensor in wide.items()}
    leaves = [wide[name].requires_grad_() for name in ("query", "key", "cos", "sin")]
    query, key, cos, sin = leaves
    first, second = (torch.cat((x.chunk(2, -1)[1], x.chunk(2, -1)[0]), -1) for x in (query, key))
    outputs = (
        (query * cos + first * sin, key * cos + second * sin)
        if magnitudes
        else (rope(query, cos, sin), rope(key, cos, sin))
    )
    grads = torch.autograd.grad(outputs, leaves, [wide["grad_query_embed"].detach(), wide["grad_key_embed"].detach()])
    return dict(zip(("grad_query", "grad_key", "grad_cos", "grad_sin"), (grad.numpy() for grad in grads), strict=True))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_against_autograd_in_float64(layout: str, dtype: str) -> None:
    """Off by the result's own rounding, and by one of float32 for each number that was added."""
    inputs = inputs_of(LAYOUTS[layout], FLOATS[dtype], 70)
    _, _, outputs = run(LAYOUTS[layout], inputs, cores=2, ub_bytes=65_536)
    wanted, sizes = exact(inputs, magnitudes=False), exact(inputs, magnitudes=True)
    assert list(outputs) == list(wanted)
    for name, found in outputs.items():
        error = np.abs(found.astype(np.float64) - wanted[name])
        bound = ROUNDING[dtype] * np.abs(wanted[name]) + 20 * FLOAT32 * sizes[name] + SUBNORMAL[dtype]
        assert (error <= bound).all(), name
