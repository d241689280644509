"""What every tiling of apply_rotary_pos_emb_grad keeps: each head once, the UB budget, the core count, the key."""

from __future__ import annotations

from typing import Any

from helpers import arch35
from hypothesis import given, settings
from hypothesis import strategies as st

import ascend_sim
from ascend_sim.host.tiling import Tiling

few = st.one_of(st.integers(1, 4), st.integers(1, 30))


@st.composite
def calls(draw: st.DrawFn) -> dict[str, Any]:
    layout = draw(st.sampled_from([1, 2, 4]))
    b, s, q, k = (draw(few) for _ in range(4))
    dim, cos_b, values = 2 * draw(st.integers(1, 512)), draw(st.sampled_from([1, b])), draw(st.booleans())
    order = {1: "bsnd", 2: "sbnd", 4: "snd"}[layout]

    def shape(n: int, batches: int) -> tuple[int, ...]:
        return tuple({"b": batches, "s": s, "n": n, "d": dim}[axis] for axis in order)

    query, key, rope = shape(q, b), shape(k, b), shape(1, cos_b)
    inputs = {"grad_query_embed": query, "grad_key_embed": key, "cos": rope, "sin": rope}
    return {
        "inputs": inputs | ({"query": query, "key": key} if values else {}),
        "layout": layout,
        "heads": (1 if layout == 4 else b) * s * max(q, k),
        "dtype": draw(st.sampled_from(["float16", "bfloat16", "float32"])),
        "cores": draw(st.integers(1, 72)),
        "ub_bytes": draw(st.one_of(st.integers(8000, 90000), st.just(253952))),
    }


def visits(found: Tiling) -> arch35.Visits:
    """How often each pair of heads is touched."""
    struct = "ropeGradABParams" if found.path == "AB" else "ropeGradParams"
    data = {name.removeprefix(f"{struct}."): value for name, value in found.data.items()}
    if found.path == "A":
        assert (data["nQ"], data["nK"], data["s"]) == (1, 1, 1)
        return arch35.one_axis(found.block_dim, data["b"], data["blockFactorB"], data["ubFactorS"])
    heads = max(data["nQ"], data["nK"])
    if found.path == "AB":
        merged = data["nQ"] != found.data["ropeGradParams.nQ"]
        positions = data["s"] if merged or data["b"] == 1 else data["b"] * data["s"]
        return arch35.positions_by_heads(found.block_dim, data, positions, heads)
    shape = (data["b"], data["s"], heads)
    assert (data["ubLoopNumN"] - 1) * data["ubFactorN"] + data["ubTailFactorN"] == heads
    return arch35.batches_by_positions(found.block_dim, data, shape, 1, data["ubFactorS"], data["ubFactorN"])


@settings(max_examples=200, deadline=None)
@given(calls())
def test_invariants(call: dict[str, Any]) -> None:
    typed = {name: (shape, call["dtype"]) for name, shape in call["inputs"].items()}
    attrs = {"layout": call["layout"]}
    found = arch35.if_it_fits(
        lambda: ascend_sim.tiling(
            "apply_rotary_pos_emb_grad", typed, attrs, "ascend950", call["cores"], call["ub_bytes"]
        )
    )
    if found is None:
        return
    arch35.check_once(visits(found), call["heads"])
    assert 1 <= found.block_dim <= call["cores"]
    assert found.block_dim == sum(share.cores for share in found.shares)
    assert sum(share.cores * share.rows for share in found.shares) == call["heads"]
    if not found.not_runnable.startswith("its buffers take"):
        assert 0 < found.ub_used_bytes <= call["ub_bytes"]
    assert found.key >> 34 == found.data["dCosFlag"] == ("query" in call["inputs"])
    assert (found.key >> 26 & 0xFF) + 203 == found.data["template"]
    assert found.key & ((1 << 26) - 1) == found.data["reduceKey"]
    assert len(found.words) == 101
    fields = [value for name, value in found.data.items() if "." in name]
    assert found.words[66:100] == tuple(fields)


@settings(max_examples=100, deadline=None)
@given(calls())
def test_the_whole_unified_buffer_is_always_enough(call: dict[str, Any]) -> None:
    typed = {name: (shape, call["dtype"]) for name, shape in call["inputs"].items()}
    found = ascend_sim.tiling("apply_rotary_pos_emb_grad", typed, {"layout": call["layout"]})
    assert found.ub_used_bytes <= 253952
