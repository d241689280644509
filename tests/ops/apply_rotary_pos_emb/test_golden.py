"""The goldens, against the formula written element by element, in the rounding of each chip."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from ascend_sim.oplib.apply_rotary_pos_emb import golden as a2
from ascend_sim.oplib.apply_rotary_pos_emb import golden_arch35 as arch35

Array = npt.NDArray[Any]
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32]
PARTNER = {  # (index of the other element, sign of its sine), for D elements
    "half": lambda i, d: (i + d // 2, -1) if i < d // 2 else (i - d // 2, 1),
    "interleave": lambda i, d: (i + 1, -1) if i % 2 == 0 else (i - 1, 1),
    "quarter": lambda i, d: (i + d // 4, -1) if i % (d // 2) < d // 4 else (i - d // 4, 1),
}


def exact(x: Array, cos: Array, sin: Array, mode: str) -> tuple[Array, Array]:
    """One row in float64 by the formula, and the sum of the products' sizes."""
    d = len(cos)
    x, cos, sin = (v.astype(np.float64) for v in (x, cos, sin))
    out, scale = np.empty(d), np.empty(d)
    for i in range(d):
        other, sign = PARTNER[mode](i, d)
        out[i] = x[i] * cos[i] + sign * x[other] * sin[i]
        scale[i] = abs(x[i] * cos[i]) + abs(x[other] * sin[i])
    return out, scale


def call(dtype: type, dim: int, real: int) -> dict[str, Array]:
    rng = np.random.default_rng(7)

    def values(*shape: int) -> Array:
        return (rng.choice([-1, 1], shape) * rng.uniform(0.1, 1, shape)).astype(dtype)

    return {"query": values(2, 3, 4, dim), "key": values(2, 3, 1, dim), "cos": values(2, 3, 1, real),
            "sin": values(2, 3, 1, real)}  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("mode", PARTNER)
@pytest.mark.parametrize("real", [16, 8])
def test_950(dtype: type, mode: str, real: int) -> None:
    inputs = call(dtype, 16, real)
    out = arch35.golden(inputs, {"rotary_mode": mode})
    rounding = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24}[inputs["cos"].dtype.name]
    check(inputs, out, real, mode, lambda value, scale: rounding * abs(value) + 4 * 2.0**-24 * scale + 2.0**-14)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("real", [16, 8])
def test_a2_and_a3(dtype: type, real: int) -> None:
    """float16 rounds every operation: three half units of the products' sizes, at most."""
    inputs = call(dtype, 16, real)
    out = a2.golden(inputs, {"rotary_mode": "half"})
    each = 2.0**-11 if dtype is np.float16 else 2.0**-24
    last = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24}[inputs["cos"].dtype.name]
    check(inputs, out, real, "half", lambda value, scale: 2 * each * scale + last * abs(value))


def check(inputs: dict[str, Array], out: dict[str, Array], real: int, mode: str, bound: Any) -> None:
    for name in ("query", "key"):
        before, after = inputs[name], out[name]
        for b, s, n in np.ndindex(before.shape[:3]):
            value, scale = exact(before[b, s, n, :real], inputs["cos"][b, s, 0], inputs["sin"][b, s, 0], mode)
            assert (np.abs(after[b, s, n, :real].astype(np.float64) - value) <= bound(value, scale)).all()
        assert after[..., real:].tobytes() == before[..., real:].tobytes()


def test_float16_rounds_each_operation_on_a2() -> None:
    x = np.array([1.001, 0.5], np.float16).reshape(1, 1, 1, 2)
    cos, sin = (np.full((1, 1, 1, 2), v, np.float16) for v in (0.3335, 0.7773))
    out = a2.golden({"query": x, "key": x, "cos": cos, "sin": sin}, {})["query"].ravel()
    h = np.float16
    assert out[0] == h(h(x.ravel()[0] * cos.ravel()[0]) - h(x.ravel()[1] * sin.ravel()[0]))
    assert out[1] == h(h(x.ravel()[1] * cos.ravel()[1]) + h(x.ravel()[0] * sin.ravel()[1]))


def test_bfloat16_halves_go_away_from_zero_on_a2_and_to_even_on_the_950() -> None:
    x = np.array([1.0, 0.0], ml_dtypes.bfloat16).reshape(1, 1, 1, 2)
    cos = np.array([1 + 2**-7, 0], ml_dtypes.bfloat16).reshape(1, 1, 1, 2)  # odd last bit
    up = a2.half_away(np.array([1 + 2**-8, -1 - 2**-8, 1 + 2**-8 - 2**-20], np.float32))
    assert up.astype(np.float32).tolist() == [1 + 2**-7, -1 - 2**-7, 1.0]
    assert np.isnan(a2.half_away(np.array([np.nan], np.float32)).astype(np.float32)).all()
    assert a2.half_away(np.array([np.inf, -np.inf, 3.4e38], np.float32)).astype(np.float32).tolist() == [
        np.inf, -np.inf, np.inf,
    ]  # fmt: skip
    tie = np.array([1 + 2**-7, 2**-8], ml_dtypes.bfloat16).reshape(1, 1, 1, 2)  # x0 * 1 - x1 * 1 = 1 + 2**-8
    ones = np.ones((1, 1, 1, 2), ml_dtypes.bfloat16)
    args = {"query": tie, "key": tie, "cos": ones, "sin": ones}
    assert float(a2.golden(args, {})["query"].ravel()[0]) == 1 + 2**-7
    assert float(arch35.golden(args, {"rotary_mode": "half"})["query"].ravel()[0]) == 1.0
    zero = np.zeros((1, 1, 1, 2), ml_dtypes.bfloat16)
    kept = a2.golden({"query": x, "key": x, "cos": cos, "sin": zero}, {})["query"]
    assert float(kept.ravel()[0]) == 1 + 2**-7


def test_cos_of_one_batch_is_shared_on_the_950() -> None:
    inputs = call(np.float32, 8, 8)
    shared = {"cos": inputs["cos"][:1], "sin": inputs["sin"][:1]}
    both = arch35.golden(inputs | shared, {"rotary_mode": "quarter"})["query"]
    repeated = {name: np.repeat(v, 2, axis=0) for name, v in shared.items()}
    assert both.tobytes() == arch35.golden(inputs | repeated, {"rotary_mode": "quarter"})["query"].tobytes()
