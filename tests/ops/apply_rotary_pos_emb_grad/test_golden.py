"""The golden, against the formulas in float64, and its order of sums, which is part of its meaning."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from ascend_sim.oplib.apply_rotary_pos_emb_grad.golden import golden

Array = npt.NDArray[Any]
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32]
FORMS = {  # layout, query, heads of key, cos
    "BSND 1S1D": (1, (2, 3, 4, 8), 2, (1, 3, 1, 8)),
    "BSND BS1D": (1, (2, 3, 2, 8), 4, (2, 3, 1, 8)),
    "BSND all alike": (1, (2, 3, 1, 8), 1, (2, 3, 1, 8)),
    "SBND S11D": (2, (3, 2, 4, 8), 1, (3, 1, 1, 8)),
    "SBND SB1D": (2, (3, 2, 4, 8), 4, (3, 2, 1, 8)),
    "SBND all alike": (2, (3, 2, 4, 8), 4, (3, 2, 4, 8)),
    "SBND all alike, one batch": (2, (3, 1, 4, 8), 4, (3, 1, 4, 8)),
    "TND T1D": (4, (3, 4, 8), 2, (3, 1, 8)),
}


def call(form: str, dtype: type = np.float32) -> tuple[dict[str, Array], dict[str, Any]]:
    layout, query, k_heads, cos = FORMS[form]
    key = (*query[:-2], k_heads, query[-1])
    rng = np.random.default_rng(11)
    shapes = {"grad_query_embed": query, "grad_key_embed": key, "cos": cos, "sin": cos, "query": query, "key": key}
    values = {
        name: (rng.choice([-1, 1], shape) * rng.uniform(0.1, 1, shape)).astype(dtype) for name, shape in shapes.items()
    }
    return values, {"layout": layout, "rotary_mode": "half"}


def rotate_half(x: Array) -> Array:
    half = x.shape[-1] // 2
    return np.concatenate((-x[..., half:], x[..., :half]), -1)


def exact(values: dict[str, Array]) -> dict[str, tuple[Array, Array]]:
    """Every result in float64, and the sum of the sizes of what was added."""
    wide = {name: v.astype(np.float64) for name, v in values.items()}
    cos, sin, found = wide["cos"], wide["sin"], {}
    sums: dict[str, list[tuple[Array, Array]]] = {"grad_cos": [], "grad_sin": []}
    for name in ("query", "key"):
        g, x = wide[f"grad_{name}_embed"], wide[name]
        along, across = g * cos, -rotate_half(g * sin)  # the transpose of rot is its negative
        found[f"grad_{name}"] = (along + across, np.abs(along) + np.abs(across))
        for out, terms in (("grad_cos", g * x), ("grad_sin", g * rotate_half(x))):
            axes = tuple(axis for axis, (n, one) in enumerate(zip(g.shape, cos.shape, strict=True)) if n != one)
            sums[out].append((terms.sum(axes, keepdims=True), np.abs(terms).sum(axes, keepdims=True)))
    return found | {out: (sum(v for v, _ in parts), sum(size for _, size in parts)) for out, parts in sums.items()}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_against_float64(form: str, dtype: type) -> None:
    values, attrs = call(form, dtype)
    out = golden(values, attrs)
    assert list(out) == ["grad_query", "grad_key", "grad_cos", "grad_sin"]
    rounding = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24}[values["cos"].dtype.name]
    flushed = 2.0**-14 if dtype is np.float16 else 0
    for name, (value, scale) in exact(values).items():
        assert out[name].dtype == values["cos"].dtype
        assert out[name].shape == value.shape
        error = np.abs(out[name].astype(np.float64) - value)
        assert (error <= rounding * np.abs(value) + 20 * 2.0**-24 * scale + flushed).all()


@pytest.mark.parametrize("form", FORMS)
def test_without_query_and_key(form: str) -> None:
    values, attrs = call(form)
    whole = golden(values, attrs)
    less = golden({name: v for name, v in values.items() if name not in ("query", "key")}, attrs)
    assert list(less) == ["grad_query", "grad_key"]
    assert all(less[name].tobytes() == whole[name].tobytes() for name in less)


BIG = np.float32(2**24)  # adding 1 to it changes nothing


def sum_of_cos(layout: int, g_query: Any, g_key: Any, cos_shape: tuple[int, ...]) -> float:
    """grad_cos where every term is the gradient itself (forward inputs are 1)."""
    query, key = (np.repeat(np.array(g, np.float32)[..., None], 2, axis=-1) for g in (g_query, g_key))
    ones = np.ones((*cos_shape, 2), np.float32)
    values = {"grad_query_embed": query, "grad_key_embed": key, "cos": ones, "sin": ones}
    values |= {"query": np.ones_like(query), "key": np.ones_like(key)}
    return float(golden(values, {"layout": layout})["grad_cos"].ravel()[0])


def test_heads_of_one_number_come_first() -> None:
    """(BIG + -BIG) + (1 + 1), not ((BIG + 1) + -BIG) + 1."""
    assert sum_of_cos(4, [[BIG, 1]], [[-BIG, 1]], (1, 1)) == 2


def test_sums_go_in_memory_order() -> None:
    """((BIG + 1) + -BIG) + 1 over batches and heads of one position."""
    g_query = [[[BIG, 1]], [[-BIG, 1]]]
    assert sum_of_cos(1, g_query, [[[0, 0]], [[0, 0]]], (1, 1, 1)) == 1


def test_batches_side_by_side_are_numbered_together() -> None:
    """In (S, B, N) with one row of cos per S, key's second head, of batch 1, meets query's second, of batch 0."""
    g_query, g_key = [[[BIG, BIG], [1, 1]]], [[[-BIG], [-BIG]]]
    assert sum_of_cos(2, g_query, g_key, (1, 1, 1)) == 2
    other = [[[BIG, BIG]], [[1, 1]]], [[[-BIG]], [[-BIG]]]  # (B, S, N): key's only head meets query's first
    assert sum_of_cos(1, *other, (1, 1, 1)) == (BIG - BIG) + BIG + (1 - BIG) + 1
