"""What every tiling of inplace_partial_rotary_mul on the 950 keeps: each line once, the UB budget, the core count."""

from __future__ import annotations

from typing import Any

import numpy as np
from helpers import arch35
from hypothesis import given, settings
from hypothesis import strategies as st

import ascend_sim
from ascend_sim.host.tiling import Tiling

DTYPES = [
    *(("float16", "float16"), ("bfloat16", "bfloat16"), ("float32", "float32")),
    *(("float16", "float32"), ("bfloat16", "float32")),
]


@st.composite
def calls(draw: st.DrawFn) -> dict[str, Any]:
    x = tuple(draw(st.one_of(st.integers(1, 4), st.integers(1, 24))) for _ in range(3))
    full = 2 * draw(st.integers(1, 512))
    length = 2 * draw(st.integers(1, full // 2))
    return {
        "x": (*x, full),
        "cos": tuple(draw(st.sampled_from([1, dim])) for dim in x),
        "part": (draw(st.integers(0, full - length)), length),
        "dtypes": draw(st.sampled_from(DTYPES)),
        "cores": draw(st.integers(1, 72)),
        "ub_bytes": draw(st.one_of(st.integers(4000, 60000), st.just(253952))),
    }


def tile(call: dict[str, Any]) -> Tiling:
    start, length = call["part"]
    x_dtype, cos_dtype = call["dtypes"]
    rope = ((*call["cos"], length), cos_dtype)
    return ascend_sim.tiling(
        "inplace_partial_rotary_mul",
        {"x": (call["x"], x_dtype), "cos": rope, "sin": rope},
        {"partial_slice": [start, start + length]},
        "ascend950",
        call["cores"],
        call["ub_bytes"],
    )


def visits(found: Tiling) -> arch35.Visits:
    """How often the kernel of the template touches each line."""
    data, template = found.data, found.path
    if template in ("A", "B"):
        return arch35.one_axis(found.block_dim, data["B"], data["blockFactorB"], data["ubFactorB"])
    if template == "AB":
        positions = data["S"] if data["CosB"] == 1 else data["B"] * data["S"]
        return arch35.positions_by_heads(found.block_dim, data, positions, data["N"])
    shape = (data["B"], data["S"], data["N"])
    return arch35.batches_by_positions(
        found.block_dim, data, shape, data["ubFactorB"], data["ubFactorS"], data["ubFactorN"]
    )


@settings(max_examples=150, deadline=None)
@given(calls())
def test_invariants(call: dict[str, Any]) -> None:
    found = arch35.if_it_fits(lambda: tile(call))
    if found is None:
        return
    lines = int(np.prod(call["x"][:3]))
    arch35.check_once(visits(found), lines)
    arch35.check_cut(found, lines, call["cores"], call["ub_bytes"])
    for share in found.shares:
        assert np.prod([loop.total for loop in share.loops]) == share.rows
    if found.path == "BAB":
        data = found.data
        assert (data["ubLoopNumN"] - 1) * data["ubFactorN"] + data["ubTailFactorN"] == data["N"]
    arch35.check_words(found)
