"""The golden: every mode is the transpose of its forward formula, which is written here element by element."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from ascend_sim.oplib.inplace_partial_rotary_mul_grad.golden import golden, gradient
from ascend_sim.oplib.shared.rope_arch35 import rotate_back
from helpers.formulas import forward

Array = npt.NDArray[Any]
MODES = {"half": 0, "interleave": 1, "quarter": 2, "interleave-half": 3}
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32]
FORMS = {
    "BSND": (2, 3, 5), "111D": (1, 1, 1), "1SND": (1, 3, 5), "B1ND": (2, 1, 5), "BS1D": (2, 3, 1), "11ND": (1, 1, 5),
    "B11D": (2, 1, 1), "1S1D": (1, 3, 1),
}  # fmt: skip


def jacobian(cos: Array, sin: Array, mode: int) -> Array:
    """The forward formula's matrix, in float64: columns are the results of unit rows."""
    unit = np.eye(cos.shape[-1])
    return forward(unit, cos, sin, mode, lambda parts: np.concatenate(parts, -1), lambda parts: np.stack(parts, -1)).T


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_the_gradient_is_the_transpose_of_the_forward_formula(mode: int) -> None:
    rng = np.random.default_rng(mode)
    for length in (4, 8, 64):
        cos, sin, g = (rng.standard_normal(length) for _ in range(3))
        found = rotate_back(*(v.astype(np.float32) for v in (g, cos, sin)), mode)
        exact = jacobian(cos, sin, mode).T @ g
        scale = np.abs(jacobian(cos, sin, mode)).T @ np.abs(g)
        assert (np.abs(found - exact) <= 4 * 2.0**-24 * scale).all()


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("cos_dtype", FLOATS)
@pytest.mark.parametrize("form", FORMS)
def test_against_float64_for_every_mode_form_and_dtype_pair(mode: int, dtype: type, cos_dtype: type, form: str) -> None:
    rng = np.random.default_rng(5)
    dy = rng.choice([-1, 1], (2, 3, 5, 19)) * rng.uniform(0.1, 1, (2, 3, 5, 19))  # no subnormals
    dy = dy.astype(dtype)
    cos, sin = (rng.uniform(0.1, 1, (*FORMS[form], 12)).astype(cos_dtype) for _ in range(2))
    out = gradient(dy, cos, sin, (4, 16), mode)
    g, c, s = (np.broadcast_to(v.astype(np.float64), (2, 3, 5, 12)) for v in (dy[..., 4:16], cos, sin))
    rounding = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24}[dy.dtype.name]
    flushed = 2.0**-14 if dtype is np.float16 else 0  # its subnormal results are zeros
    for place in np.ndindex(2, 3, 5):
        matrix = jacobian(c[place], s[place], mode).T
        exact, scale = matrix @ g[place], np.abs(matrix) @ np.abs(g[place])
        got = out[place][4:16].astype(np.float64)
        assert (np.abs(got - exact) <= rounding * np.abs(exact) + 4 * 2.0**-24 * scale + flushed).all()
    assert out[..., :4].tobytes() == dy[..., :4].tobytes()
    assert out[..., 16:].tobytes() == dy[..., 16:].tobytes()


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_against_torch_autograd(mode: int) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(mode)
    x, cos, sin, g = (rng.standard_normal((2, 3, 16)) for _ in range(4))
    leaf = torch.tensor(x, requires_grad=True)
    c, s = torch.tensor(cos), torch.tensor(sin)
    out = forward(leaf, c, s, mode, lambda parts: torch.cat(parts, -1), lambda parts: torch.stack(parts, -1))
    out.backward(torch.tensor(g))
    found = rotate_back(*(v.astype(np.float32) for v in (g, cos, sin)), mode)
    assert np.allclose(found, leaf.grad.numpy(), rtol=0, atol=1e-6)


def test_pairs_of_interleave() -> None:
    """dx[2k] = cos[2k] g[2k] + sin[2k+1] g[2k+1]; dx[2k+1] = cos[2k+1] g[2k+1] - sin[2k] g[2k]."""
    g, cos, sin = (np.array(v, np.float32) for v in ([1, 10], [2, 3], [5, 7]))
    assert rotate_back(g, cos, sin, 1).tolist() == [1 * 2 + 10 * 7, 10 * 3 - 1 * 5]


def test_golden_leaves_its_inputs_alone_and_empty_tensors_change_nothing() -> None:
    dy = np.ones((1, 2, 1, 4), np.float32)
    rope = np.full((1, 2, 1, 4), 0.5, np.float32)
    call = {"dy": dy, "cos": rope, "sin": rope}
    out = golden(call, {"partial_slice": (0, 4), "rotary_mode": 1})["dy"]
    assert (dy == 1).all()
    assert out.reshape(-1, 2).tolist() == [[1.0, 0.0]] * 4
    assert golden(call, {"partial_slice": (2, 2), "rotary_mode": 1})["dy"].tobytes() == dy.tobytes()
    nothing = np.ones((1, 0, 1, 4), np.float32)
    same = golden(call | {"cos": nothing, "sin": nothing}, {"partial_slice": (0, 4), "rotary_mode": 1})["dy"]
    assert same.tobytes() == dy.tobytes()
    empty = np.ones((0, 2, 1, 4), np.float32)
    assert golden(call | {"dy": empty}, {"partial_slice": (0, 4), "rotary_mode": 1})["dy"].shape == (0, 2, 1, 4)


def test_products_that_would_be_subnormal_are_zeros() -> None:
    g = np.full((1, 1, 1, 2), 2.0**-100, np.float32)
    rope = np.full((1, 1, 1, 2), 2.0**-30, np.float32)
    assert (gradient(g, rope, rope, (0, 2), 1) == 0).all()
