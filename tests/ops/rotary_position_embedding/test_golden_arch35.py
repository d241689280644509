"""The golden of the 950, against the formula in float64 with the modes written out element by element."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from ascend_sim.oplib.rotary_position_embedding.golden_arch35 import golden

Array = npt.NDArray[Any]
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32]
MODES = ["half", "interleave", "quarter", "interleave-half"]


def by_hand(x: Array, cos: Array, sin: Array, mode: str) -> tuple[Array, Array]:
    """One row in float64, and the sum of the products' sizes."""
    d = len(x)
    y, scale = np.empty(d), np.empty(d)
    for i in range(d):
        own, other, sign = {
            "half": (i, (i + d // 2) % d, -1 if i < d // 2 else 1),
            "interleave": (i, i ^ 1, -1 if i % 2 == 0 else 1),
            "quarter": (
                i,
                i + d // 4 if i % (d // 2) < d // 4 else i - d // 4,
                -1 if i % (d // 2) < d // 4 else 1,
            ),
            "interleave-half": (
                2 * i if i < d // 2 else 2 * i - d + 1,
                2 * i + 1 if i < d // 2 else 2 * i - d,
                -1 if i < d // 2 else 1,
            ),
        }[mode]
        y[i] = x[own] * cos[i] + sign * x[other] * sin[i]
        scale[i] = abs(x[own] * cos[i]) + abs(x[other] * sin[i])
    return y, scale


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("cos_shape", [(2, 3, 4), (1, 1, 1), (1, 3, 1), (2, 3, 1), (2, 1, 4), (1, 3, 4)])
def test_against_float64(dtype: type, mode: str, cos_shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)

    def values(*shape: int) -> Array:
        return (rng.choice([-1, 1], shape) * rng.uniform(0.1, 1, shape)).astype(dtype)

    x, cos, sin = values(2, 3, 4, 16), values(*cos_shape, 16), values(*cos_shape, 16)
    y = golden({"x": x, "cos": cos, "sin": sin}, {"mode": MODES.index(mode)})["y"]
    assert (y.dtype, y.shape) == (x.dtype, x.shape)
    rounding = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24}[x.dtype.name]
    wide, c, s = (v.astype(np.float64) for v in (x, np.broadcast_to(cos, x.shape), np.broadcast_to(sin, x.shape)))
    for at in np.ndindex(x.shape[:3]):
        value, scale = by_hand(wide[at], c[at], s[at], mode)
        error = np.abs(y[at].astype(np.float64) - value)
        assert (error <= rounding * np.abs(value) + 4 * 2.0**-24 * scale + 2.0**-14).all()


def test_small_integers_are_exact() -> None:
    x = np.arange(8, dtype=np.float32)
    cos, sin = np.full(8, 2, np.float32), np.full(8, 10, np.float32)
    call = {"x": x.reshape(1, 1, 8), "cos": cos.reshape(1, 1, 8), "sin": sin.reshape(1, 1, 8)}
    assert [golden(call, {"mode": mode})["y"].ravel().tolist() for mode in range(4)] == [
        [-40, -48, -56, -64, 8, 20, 32, 44],
        [-10, 2, -26, 26, -42, 50, -58, 74],
        [-20, -28, 4, 16, -52, -60, 52, 64],
        [-10, -26, -42, -58, 2, 26, 50, 74],
    ]


def test_overflow_and_subnormals() -> None:
    x = np.array([65504, 2.0**-15], np.float16).reshape(1, 1, 2)
    cos, sin = np.full((1, 1, 2), 2, np.float16), np.zeros((1, 1, 2), np.float16)
    assert golden({"x": x, "cos": cos, "sin": sin}, {"mode": 0})["y"].ravel().tolist() == [np.inf, 0]
