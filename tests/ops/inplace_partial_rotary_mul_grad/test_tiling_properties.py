"""What every tiling of inplace_partial_rotary_mul_grad keeps: each line once, the UB budget, the core count."""

from __future__ import annotations

from typing import Any

import numpy as np
from helpers import arch35
from hypothesis import given, settings
from hypothesis import strategies as st

import ascend_sim
from ascend_sim.host.tiling import Tiling

FLOATS = ("float16", "bfloat16", "float32")
KEYS = {"ABA": 201, "BA": 202, "BAB": 203, "AB": 204, "A": 205, "B": 206}


@st.composite
def calls(draw: st.DrawFn) -> dict[str, Any]:
    dy = tuple(draw(st.one_of(st.integers(1, 4), st.integers(1, 24))) for _ in range(3))
    full = draw(st.integers(2, 1024))
    length = 2 * draw(st.integers(1, full // 2))
    return {
        "dy": (*dy, full),
        "cos": tuple(draw(st.sampled_from([1, dim])) for dim in dy),
        "part": (draw(st.integers(0, full - length)), length),
        "dtypes": (draw(st.sampled_from(FLOATS)), draw(st.sampled_from(FLOATS))),
        "cores": draw(st.integers(1, 72)),
        "ub_bytes": draw(st.one_of(st.integers(4000, 60000), st.just(253952))),
    }


def tile(call: dict[str, Any]) -> Tiling:
    start, length = call["part"]
    dtype, cos_dtype = call["dtypes"]
    rope = ((*call["cos"], length), cos_dtype)
    return ascend_sim.tiling(
        "inplace_partial_rotary_mul_grad",
        {"dy": (call["dy"], dtype), "cos": rope, "sin": rope},
        {"partial_slice": [start, start + length]},
        "ascend950",
        call["cores"],
        call["ub_bytes"],
    )


def visits(found: Tiling, merged: bool) -> arch35.Visits:
    """How often the kernel of the template touches each line."""
    data, template = found.data, found.path
    if template in ("A", "B"):
        return arch35.one_axis(found.block_dim, data["b"], data["blockFactorB"], data["ubFactorB"])
    if template == "AB":  # n holds the heads of all batches where cos has none of its own
        positions = data["s"] if merged else data["b"] * data["s"]
        return arch35.positions_by_heads(found.block_dim, data, positions, data["n"])
    shape = (data["b"], data["s"], data["n"])
    return arch35.batches_by_positions(
        found.block_dim, data, shape, data["ubFactorB"], data["ubFactorS"], data["ubFactorN"]
    )


@settings(max_examples=150, deadline=None)
@given(calls())
def test_invariants(call: dict[str, Any]) -> None:
    found = arch35.if_it_fits(lambda: tile(call))
    if found is None:
        return
    lines = int(np.prod(call["dy"][:3]))
    arch35.check_once(visits(found, merged=call["cos"][1] == 1), lines)
    arch35.check_cut(found, lines, call["cores"], call["ub_bytes"])
    assert found.key == KEYS[found.path]
    assert found.block_dim == found.data["usedCoreNum"]
    for share in found.shares:
        assert np.prod([loop.total for loop in share.loops]) == share.rows
    assert len(found.words) == 19
    arch35.check_words(found)
