"""The golden itself, against the formula written element by element."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from ascend_sim.oplib.inplace_partial_rotary_mul.golden import exact, golden, rotary, rotate_pairs, slice_bounds


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
def test_every_element_follows_the_formula(dtype: type) -> None:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((2, 3, 2, 10)).astype(dtype)
    cos, sin = (rng.standard_normal((2, 3, 1, 6)).astype(dtype) for _ in range(2))
    out = rotary(x, cos, sin, 2, 8)
    f = np.float32
    for b, s, n, k in np.ndindex(2, 3, 2, 3):
        even, odd = f(x[b, s, n, 2 + 2 * k]), f(x[b, s, n, 3 + 2 * k])
        c0, c1 = f(cos[b, s, 0, 2 * k]), f(cos[b, s, 0, 2 * k + 1])
        s0, s1 = f(sin[b, s, 0, 2 * k]), f(sin[b, s, 0, 2 * k + 1])
        assert out[b, s, n, 2 + 2 * k] == (f(even * c0) - f(odd * s0)).astype(dtype)
        assert out[b, s, n, 3 + 2 * k] == (f(odd * c1) + f(even * s1)).astype(dtype)
    assert out[..., :2].tobytes() == x[..., :2].tobytes()
    assert out[..., 8:].tobytes() == x[..., 8:].tobytes()


def test_pairs_are_woven_not_concatenated() -> None:
    assert rotate_pairs(np.arange(6)).tolist() == [-1, 0, -3, 2, -5, 4]


def test_slice_attribute() -> None:
    assert slice_bounds([], 128) == (0, 128)
    assert slice_bounds((2, 66), 128) == (2, 66)


def test_golden_leaves_its_inputs_alone_and_an_empty_slice_changes_nothing() -> None:
    x = np.ones((1, 1, 1, 4), np.float32)
    angles = np.full((1, 1, 1, 4), 0.5, np.float32)
    out = golden({"x": x, "cos": angles, "sin": angles}, {"partial_slice": [0, 4]})["x"]
    assert (x == 1).all()
    assert out.ravel().tolist() == [0.0, 1.0, 0.0, 1.0]
    nothing = np.ones((1, 1, 1, 0), np.float32)
    same = golden({"x": x, "cos": nothing, "sin": nothing}, {"partial_slice": [0, 0]})["x"]
    assert same.tobytes() == x.tobytes()


def test_half_overflow_is_infinite() -> None:
    x = np.full((1, 1, 1, 2), 60000, np.float16)
    two, zero = np.full((1, 1, 1, 2), 2, np.float16), np.zeros((1, 1, 1, 2), np.float16)
    assert np.isinf(rotary(x, two, zero, 0, 2)).all()


def test_exact_bounds_float32_arithmetic() -> None:
    rng = np.random.default_rng(2)
    x, cos, sin = (rng.standard_normal((1, 8, n, 64)).astype(np.float32) for n in (4, 1, 1))
    out, scale = exact(x, cos, sin, 0, 64)
    assert (np.abs(rotary(x, cos, sin, 0, 64) - out) <= 2 * 2.0**-24 * scale).all()
