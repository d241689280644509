"""The 950's golden: the common formula wherever no value is subnormal, and zeros in place of subnormals."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from ascend_sim.oplib.inplace_partial_rotary_mul import golden as common
from ascend_sim.oplib.inplace_partial_rotary_mul.golden_arch35 import golden

DTYPES = [
    *((np.float16, np.float16), (ml_dtypes.bfloat16, ml_dtypes.bfloat16), (np.float32, np.float32)),
    *((np.float16, np.float32), (ml_dtypes.bfloat16, np.float32)),
]


@pytest.mark.parametrize(("dtype", "cos_dtype"), DTYPES)
@pytest.mark.parametrize("cos_shape", [(2, 3, 5), (1, 1, 1), (2, 3, 1), (2, 1, 1), (1, 3, 1), (2, 1, 5), (1, 3, 5)])
def test_agrees_with_the_formula_in_float64(dtype: type, cos_dtype: type, cos_shape: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((2, 3, 5, 24)).astype(dtype)
    cos, sin = (rng.uniform(0.25, 1, (*cos_shape, 18)).astype(cos_dtype) for _ in range(2))
    out = golden({"x": x, "cos": cos, "sin": sin}, {"partial_slice": (4, 22)})["x"]
    exact, scale = common.exact(x, cos, sin, 4, 22)
    rounding = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24}[x.dtype.name]
    assert (np.abs(out.astype(np.float64) - exact) <= 3 * 2.0**-24 * scale + rounding * np.abs(exact)).all()
    assert out[..., :4].tobytes() == x[..., :4].tobytes()
    assert out[..., 22:].tobytes() == x[..., 22:].tobytes()


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
def test_subnormal_operands_and_results_are_zeros(dtype: type) -> None:
    tiny = float(ml_dtypes.finfo(dtype).smallest_subnormal)
    normal = float(ml_dtypes.finfo(dtype).smallest_normal)
    x = np.array([3 * tiny, -3 * tiny, normal, -normal], dtype).reshape(1, 1, 1, 4)
    half, zero = np.full((1, 1, 1, 4), 0.5, dtype), np.zeros((1, 1, 1, 4), dtype)
    out = golden({"x": x, "cos": half, "sin": zero}, {"partial_slice": (0, 4)})["x"]
    assert (out == 0).all()
    kept = golden({"x": x, "cos": half, "sin": zero}, {"partial_slice": (2, 2)})["x"]
    assert kept.tobytes() == x.tobytes()
    whole = golden({"x": x, "cos": zero + dtype(1), "sin": zero}, {"partial_slice": (0, 4)})["x"]
    assert whole.ravel().tolist() == [0, 0, normal, -normal]


def test_an_empty_cos_rotates_nothing() -> None:
    x, nothing = np.ones((1, 1, 1, 4), np.float32), np.ones((1, 1, 1, 0), np.float32)
    out = golden({"x": x, "cos": nothing, "sin": nothing}, {"partial_slice": (0, 2)})["x"]
    assert out.tobytes() == x.tobytes()
