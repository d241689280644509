"""Every refusal of apply_rotary_pos_emb on the 950, with its full text, in the order of the checks."""

from __future__ import annotations

from typing import Any

import pytest

import ascend_sim
from ascend_sim.errors import TilingError

Q, K, ROPE = ((2, 32, 8, 128), "float16"), ((2, 32, 2, 128), "float16"), ((2, 32, 1, 128), "float16")


def both(*shape: int, dtype: str = "float16") -> dict[str, Any]:
    return {"cos": (shape, dtype), "sin": (shape, dtype)}


def texts(query: str, key: str, cos: str, layout: str = "BSND") -> str:
    return f"query is {query}, key {key}, cos {cos} in layout {layout}; "


REFUSALS = {
    "layout": ({"attrs": {"layout": 5}}, "layout is 5; allowed are 1 (BSND), 2 (SBND), 3 (BNSD), 4 (TND)"),
    "mode": (
        {"attrs": {"rotary_mode": "interleave-half"}},
        "rotary_mode is 'interleave-half'; allowed are half, interleave, quarter",
    ),
    "dtype": ({"query": (Q[0], "int32")}, "query is int32; allowed are float16, float32, bfloat16"),
    "dtypes": ({"sin": (ROPE[0], "float32")}, "query is float16 and sin is float32; all must have one dtype"),
    "rank": ({"key": ((2, 128), "float16")}, "key has 2 dims; it must have 4, or 3 (TND)"),
    "cos and sin": (
        {"sin": ((2, 32, 1, 64), "float16")},
        "cos is (2, 32, 1, 128) and sin is (2, 32, 1, 64); they must have the same shape",
    ),
    "heads of cos": (
        both(2, 32, 8, 128),
        texts("(2, 32, 8, 128)", "(2, 32, 2, 128)", "(2, 32, 8, 128)") + "cos must have one head",
    ),
    "positions": (
        {"key": ((2, 16, 2, 128), "float16")},
        texts("(2, 32, 8, 128)", "(2, 16, 2, 128)", "(2, 32, 1, 128)") + "their positions must agree",
    ),
    "long cos": (
        both(2, 32, 1, 130),
        texts("(2, 32, 8, 128)", "(2, 32, 2, 128)", "(2, 32, 1, 130)")
        + "the last dims of cos and key must not be larger than that of query",
    ),
    "batches of key": (
        {"key": ((1, 32, 2, 128), "float16")},
        texts("(2, 32, 8, 128)", "(1, 32, 2, 128)", "(2, 32, 1, 128)") + "the batches of query and key must agree",
    ),
    "batches of cos": (
        both(3, 32, 1, 128),
        texts("(2, 32, 8, 128)", "(2, 32, 2, 128)", "(3, 32, 1, 128)") + "cos must have one batch or those of query",
    ),
    "batches of cos in SBND": (
        both(2, 16, 1, 128) | {"attrs": {"layout": 2}},
        texts("(2, 32, 8, 128)", "(2, 32, 2, 128)", "(2, 16, 1, 128)", "SBND")
        + "cos must have one batch or those of query",
    ),
    "long rows": (
        {"query": ((2, 32, 8, 1026), "float16")},
        "the last dim of query is 1026; it must not exceed 1024",
    ),
    "odd rows": (
        {"query": ((2, 32, 8, 129), "float16"), "attrs": {"rotary_mode": "interleave"}},
        "the last dim of query is 129; in mode interleave it must be a multiple of 2",
    ),
    "quarter": (
        {"query": ((2, 32, 8, 130), "float16"), "attrs": {"rotary_mode": "quarter"}},
        "the last dim of query is 130; in mode quarter it must be a multiple of 4",
    ),
    "empty": ({"key": ((2, 32, 0, 128), "float16")}, "key is (2, 32, 0, 128); every dim must be positive"),
    "no cores": ({"cores": 0}, "core count is 0, it must be positive"),
    "no unified buffer": ({"ub_bytes": 0}, "UB size is 0 B, it must be positive"),
    "three dims as BSND": (
        {"query": ((4, 8, 16), "float16"), "key": ((4, 8, 16), "float16"), **both(4, 8, 1)},
        "cos has rows of 0 elements; the host code divides by their length",
    ),
}
TEXT = "rows of 128 elements are too long: this template needs {} B of unified buffer, only {} B are there"
SMALL = {  # rows of 256 B
    "AB": ({}, 2048),
    "BAB": (both(1, 32, 1, 128), 2048),
    "ABA": (
        {"query": ((2, 8, 32, 128), "float16"), "key": ((2, 2, 32, 128), "float16"), "attrs": {"layout": 3}}
        | both(2, 1, 32, 128),
        2048,
    ),
}


def tile(query: Any = Q, key: Any = K, cos: Any = ROPE, sin: Any = ROPE, attrs: Any = None, **options: Any) -> Any:
    given = {"query": query, "key": key, "cos": cos, "sin": sin}
    return ascend_sim.tiling("apply_rotary_pos_emb", given, attrs or {}, "ascend950", **options)


@pytest.mark.parametrize("name", REFUSALS)
def test_refused(name: str) -> None:
    changes, text = REFUSALS[name]
    with pytest.raises(TilingError) as refused:
        tile(**changes)
    assert str(refused.value) == f"ApplyRotaryPosEmb: {text}"


def test_the_unchanged_call_is_accepted() -> None:
    assert tile().key == 20030


@pytest.mark.parametrize("template", SMALL)
def test_rows_that_do_not_fit(template: str) -> None:
    changes, needed = SMALL[template]
    assert tile(**changes, ub_bytes=needed).path == template
    with pytest.raises(TilingError) as refused:
        tile(**changes, ub_bytes=needed - 1)
    assert str(refused.value) == f"ApplyRotaryPosEmb: {TEXT.format(needed, needed - 1)}"
