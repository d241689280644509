"""The golden of the 950, against the forward golden's derivative in float64, and its order of sums."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from ascend_sim.oplib.rotary_position_embedding_grad.golden_arch35 import golden

Array = npt.NDArray[Any]
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32]
DIM = 8
SOURCES = {  # for each element of y: which elements of x meet cos and sin, and the sign of the sine's
    0: [(i, (i + 4) % 8, -1 if i < 4 else 1) for i in range(8)],
    1: [(i, i ^ 1, 1 if i % 2 else -1) for i in range(8)],
    2: [(i, i ^ 2, 1 if i & 2 else -1) for i in range(8)],
    3: [(0, 1, -1), (2, 3, -1), (4, 5, -1), (6, 7, -1), (1, 0, 1), (3, 2, 1), (5, 4, 1), (7, 6, 1)],
}
FORMS = [(2, 3, 4), (1, 1, 1), (1, 3, 1), (2, 1, 1), (2, 3, 1), (1, 1, 4), (2, 1, 4), (1, 3, 4)]


def values(dtype: type, *shapes: tuple[int, ...]) -> list[Array]:
    rng = np.random.default_rng(5)
    return [(rng.choice([-1, 1], s) * rng.uniform(0.1, 1, s)).astype(dtype) for s in shapes]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("mode", SOURCES)
@pytest.mark.parametrize("cos_shape", FORMS)
def test_against_float64(dtype: type, mode: int, cos_shape: tuple[int, ...]) -> None:
    full, one = (2, 3, 4, DIM), (*cos_shape, DIM)
    dy, x, cos, sin = values(dtype, full, full, one, one)
    out = golden({"dy": dy, "x": x, "cos": cos, "sin": sin}, {"mode": mode})
    assert list(out) == ["dx", "dcos", "dsin"]
    g, v, c, s = (a.astype(np.float64) for a in (dy, x, np.broadcast_to(cos, full), np.broadcast_to(sin, full)))
    sums = {name: (np.zeros(shape), np.zeros(shape)) for name, shape in (("dx", full), ("dcos", one), ("dsin", one))}

    def add(name: str, at: tuple[int, ...], value: float) -> None:
        total, scale = sums[name]
        place = tuple(i if n != 1 else 0 for i, n in zip(at, total.shape, strict=True))
        total[place] += value
        scale[place] += abs(value)

    for at in np.ndindex(full[:3]):
        for i, (own, other, sign) in enumerate(SOURCES[mode]):
            add("dx", (*at, own), g[at][i] * c[at][i])
            add("dx", (*at, other), sign * g[at][i] * s[at][i])
            add("dcos", (*at, i), g[at][i] * v[at][own])
            add("dsin", (*at, i), sign * g[at][i] * v[at][other])
    rounding = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24}[dy.dtype.name]
    for name, (total, scale) in sums.items():
        assert (out[name].dtype, out[name].shape) == (dy.dtype, total.shape)
        error = np.abs(out[name].astype(np.float64) - total)
        assert (error <= rounding * np.abs(total) + 30 * 2.0**-24 * scale + 2.0**-14).all()


def test_without_x() -> None:
    dy, cos, sin = values(np.float32, (2, 3, 4, DIM), (1, 3, 1, DIM), (1, 3, 1, DIM))
    whole = golden({"dy": dy, "x": dy, "cos": cos, "sin": sin}, {"mode": 3})
    less = golden({"dy": dy, "cos": cos, "sin": sin}, {"mode": 3})
    assert list(less) == ["dx"]
    assert less["dx"].tobytes() == whole["dx"].tobytes()


def test_sums_go_in_memory_order() -> None:
    """((BIG + 1) + -BIG) + 1, batches before heads."""
    big = 2.0**24
    dy = np.array([[[big, 1]], [[-big, 1]]], np.float32).reshape(2, 1, 2, 1).repeat(DIM, axis=-1)
    one = np.ones((1, 1, 1, DIM), np.float32)
    out = golden({"dy": dy, "x": np.ones_like(dy), "cos": one, "sin": one}, {"mode": 0})
    assert out["dcos"].ravel().tolist() == [1] * DIM


@pytest.mark.parametrize("dy", [(0, 3, 4, DIM), (2, 3, 0, DIM), (2, 3, 4, 0)])
def test_empty_dy(dy: tuple[int, ...]) -> None:
    cos = np.ones((1, 3, 1, dy[-1]), np.float16)
    nothing = np.zeros(dy, np.float16)
    out = golden({"dy": nothing, "x": nothing, "cos": cos, "sin": cos}, {"mode": 1})
    assert out["dx"].shape == dy
    for name in ("dcos", "dsin"):
        assert (out[name].shape, out[name].dtype) == (cos.shape, cos.dtype)
        assert not out[name].any()
