"""Every refusal of apply_rotary_pos_emb on A2/A3, with its full text, in the order of the checks."""

from __future__ import annotations

from typing import Any

import pytest

import ascend_sim
from ascend_sim.errors import TilingError

Q, K, ROPE = ((2, 32, 8, 128), "float16"), ((2, 32, 2, 128), "float16"), ((2, 32, 1, 128), "float16")


def both(*shape: int, dtype: str = "float16") -> dict[str, Any]:
    return {"cos": (shape, dtype), "sin": (shape, dtype)}


def texts(query: str, key: str, cos: str) -> str:
    return f"query is {query}, key is {key}, cos is {cos}; "


USUAL = texts("(2, 32, 8, 128)", "(2, 32, 2, 128)", "(2, 32, 1, 128)")
REFUSALS = {
    "sin missing": ({"sin": None}, "required input sin is missing; given are query, key, cos"),
    "no cores": ({"cores": 0}, "core count is 0, it must be positive"),
    "no unified buffer": ({"ub_bytes": 0}, "UB size is 0 B, it must be positive"),
    "rank of query": ({"query": ((8, 128), "float16")}, "query has 2 dims; it must have 4, or 3 (TND)"),
    "rank of key": ({"key": ((32, 2, 128), "float16")}, "query has 4 dims and key 3; they must have as many"),
    "rank of cos": (both(32, 1, 128), "query has 4 dims and cos 3; they must have as many"),
    "cos and sin": (
        {"sin": ((2, 32, 1, 64), "float16")},
        "cos is (2, 32, 1, 128) and sin is (2, 32, 1, 64); they must have the same shape",
    ),
    "empty": ({"key": ((2, 32, 0, 128), "float16")}, "key is (2, 32, 0, 128); empty tensors are not supported"),
    "layout": ({"attrs": {"layout": 3}}, "layout is 3; on A2 and A3 allowed are 1 (BSND) and 4 (TND)"),
    "layout and rank": ({"attrs": {"layout": 4}}, "layout is 4 (TND) and query has 4 dims; it must have 3"),
    "batches": (
        both(1, 32, 1, 128),
        texts("(2, 32, 8, 128)", "(2, 32, 2, 128)", "(1, 32, 1, 128)")
        + "their batches must agree (no broadcast over them)",
    ),
    "positions": (
        {"key": ((2, 16, 2, 128), "float16")},
        texts("(2, 32, 8, 128)", "(2, 16, 2, 128)", "(2, 32, 1, 128)") + "their positions must agree",
    ),
    "last dim of cos": (
        both(2, 32, 1, 96),
        texts("(2, 32, 8, 128)", "(2, 32, 2, 128)", "(2, 32, 1, 96)") + "the last dim of cos must be 64 or 128",
    ),
    "shorter query": (
        {"query": ((2, 32, 8, 64), "float16")},
        texts("(2, 32, 8, 64)", "(2, 32, 2, 128)", "(2, 32, 1, 128)")
        + "the last dim of query must not be smaller than that of cos",
    ),
    "last dim of query": (
        {"query": ((2, 32, 8, 256), "float16")},
        texts("(2, 32, 8, 256)", "(2, 32, 2, 128)", "(2, 32, 1, 128)") + "the last dim of query must be 64 or 128",
    ),
    "heads of cos": (
        both(2, 32, 8, 128),
        texts("(2, 32, 8, 128)", "(2, 32, 2, 128)", "(2, 32, 8, 128)") + "cos must have one head",
    ),
    "dtype": ({"query": (Q[0], "int32")}, "query is int32; allowed are float16, float32, bfloat16"),
    "dtypes": (
        {"cos": (ROPE[0], "float32")},
        "query is float16 and cos is float32; all must have one dtype",
    ),
    "heads": (
        {"query": ((2, 32, 254, 128), "float16")},
        "query has 254 heads and key 2; together they must not exceed 255, which is what an instruction can repeat",
    ),
    "room": (
        {"ub_bytes": 13823},  # 5 times 10 heads of 256 B, 4 times cos
        "10 heads of 128 elements are too many: one position needs 13824 B of unified buffer, only 13823 B are there",
    ),
}


def tile(query: Any = Q, key: Any = K, cos: Any = ROPE, sin: Any = ROPE, attrs: Any = None, **options: Any) -> Any:
    given = {"query": query, "key": key, "cos": cos, "sin": sin}
    given = {name: value for name, value in given.items() if value is not None}
    return ascend_sim.tiling("apply_rotary_pos_emb", given, attrs or {"layout": 1}, "ascend910b", **options)


@pytest.mark.parametrize("name", REFUSALS)
def test_refused(name: str) -> None:
    changes, text = REFUSALS[name]
    with pytest.raises(TilingError) as refused:
        tile(**changes)
    assert str(refused.value) == f"ApplyRotaryPosEmb: {text}"


def test_the_unchanged_call_is_accepted() -> None:
    assert tile().key == 4
    assert tile(ub_bytes=13824).key == 4
    assert tile(query=((2, 32, 253, 64), "float16"), key=((2, 32, 2, 64), "float16"), **both(2, 32, 1, 64)).key == 4
