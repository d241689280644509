"""Every refusal of apply_rotary_pos_emb_grad, with its full text, in the order of the checks."""

from __future__ import annotations

from typing import Any

import pytest

import ascend_sim
from ascend_sim.errors import TilingError

Q, K, ROPE = (2, 32, 8, 128), (2, 32, 2, 128), (2, 32, 1, 128)
USUAL = {"grad_query_embed": Q, "grad_key_embed": K, "cos": ROPE, "sin": ROPE}
VALUES = {"query": Q, "key": K}


def both(*shape: int) -> dict[str, Any]:
    return {"cos": shape, "sin": shape}


def layout(number: int) -> dict[str, Any]:
    return {"attrs": {"layout": number}}


def texts(cos: str, name: str = "BSND", query: str = "(2, 32, 8, 128)") -> str:
    return f"grad_query_embed is {query}, cos is {cos} in layout {name}; "


REFUSALS = {
    "mode": ({"attrs": {"rotary_mode": "interleave"}}, "rotary_mode is 'interleave'; only half is supported"),
    "layout": (layout(3), "layout is 3; allowed are 1 (BSND), 2 (SBND), 4 (TND)"),
    "query alone": ({"query": Q}, "of query and key only query is given; both are needed for grad_cos and grad_sin"),
    "cos missing": ({"cos": None}, "required input cos is missing; given are grad_query_embed, grad_key_embed, sin"),
    "dtype": (
        {"grad_query_embed": (Q, "int32")},
        "grad_query_embed is int32; allowed are float16, float32, bfloat16",
    ),
    "dtypes": (
        VALUES | {"key": (K, "float32")},
        "grad_query_embed is float16 and key is float32; all must have one dtype",
    ),
    "rank": ({"grad_key_embed": (2, 128)}, "grad_key_embed has 2 dims; it must have 4, or 3 (TND)"),
    "cos and sin": (
        {"sin": (2, 32, 1, 64)},
        "cos is (2, 32, 1, 128) and sin is (2, 32, 1, 64); they must have the same shape",
    ),
    "query": (
        VALUES | {"query": K},
        "query is (2, 32, 2, 128) and grad_query_embed is (2, 32, 8, 128); they must have the same shape",
    ),
    "key": (
        VALUES | {"key": Q},
        "key is (2, 32, 8, 128) and grad_key_embed is (2, 32, 2, 128); they must have the same shape",
    ),
    "ranks": (
        both(32, 1, 128),
        "grad_query_embed is (2, 32, 8, 128) and cos is (32, 1, 128); they must have as many dims",
    ),
    "last dims": (
        both(2, 32, 1, 64),
        "grad_query_embed is (2, 32, 8, 128) and cos is (2, 32, 1, 64); their last dims must be equal",
    ),
    "long rows": (
        {"grad_query_embed": (2, 32, 8, 1026), **both(2, 32, 1, 1026)},
        "the last dim of grad_query_embed is 1026; it must not exceed 1024",
    ),
    "odd rows": (
        {"grad_query_embed": (2, 32, 8, 127), **both(2, 32, 1, 127)},
        "the last dim of grad_query_embed is 127; it must be even, its halves rotate with each other",
    ),
    "rank of key": (
        {"grad_key_embed": (32, 2, 128)},
        "grad_query_embed is (2, 32, 8, 128) and grad_key_embed is (32, 2, 128); they must have as many dims",
    ),
    "positions of key": (
        {"grad_key_embed": (2, 16, 2, 128)},
        "grad_query_embed is (2, 32, 8, 128) and grad_key_embed is (2, 16, 2, 128); all dims but that of the heads "
        "must be equal",
    ),
    "empty": (
        {"grad_key_embed": (2, 32, 0, 128)},
        "grad_key_embed is (2, 32, 0, 128); every dim must be positive",
    ),
    "no cores": ({"cores": 0}, "core count is 0, it must be positive"),
    "four dims as TND": (
        layout(4),
        "layout is 4 (TND) and grad_query_embed has 4 dims; TND goes with 3 dims, BSND and SBND with 4",
    ),
    "three dims as SBND": (
        {"grad_query_embed": Q[1:], "grad_key_embed": K[1:], **both(*ROPE[1:]), **layout(2)},
        "layout is 2 (SBND) and grad_query_embed has 3 dims; TND goes with 3 dims, BSND and SBND with 4",
    ),
    "heads of cos": (both(2, 32, 8, 128), texts("(2, 32, 8, 128)") + "cos must have one head"),
    "heads of cos in SBND": (
        both(2, 32, 8, 128) | layout(2),
        texts("(2, 32, 8, 128)", "SBND") + "cos must have one head",
    ),
    "positions of cos": (
        both(2, 16, 1, 128),
        texts("(2, 16, 1, 128)") + "cos must have the positions of grad_query_embed",
    ),
    "batches of cos": (
        both(3, 32, 1, 128),
        texts("(3, 32, 1, 128)") + "cos must have one batch or those of grad_query_embed",
    ),
    "batches of cos in SBND": (
        both(2, 16, 1, 128) | layout(2),
        texts("(2, 16, 1, 128)", "SBND") + "cos must have one batch or those of grad_query_embed",
    ),
    "positions of cos in SBND": (
        both(1, 32, 1, 128) | layout(2),
        texts("(1, 32, 1, 128)", "SBND") + "cos must have the positions of grad_query_embed",
    ),
    "tokens of cos": (
        {"grad_query_embed": Q[1:], "grad_key_embed": K[1:], **both(16, 1, 128), **layout(4)},
        texts("(16, 1, 128)", "TND", "(32, 8, 128)") + "cos must have the positions of grad_query_embed",
    ),
}
TEXT = "rows of 128 elements are too long: this template needs {} B of unified buffer, only {} B are there"
SMALL = {  # rows of 256 B
    "AB": ({}, 16 * 256),
    "AB, grad_cos": (VALUES, 40 * 256),
    "BAB": (both(1, 32, 1, 128), 8 * 256),
    "BAB, grad_cos": (both(1, 32, 1, 128) | VALUES, 20 * 256),
    "A": ({"grad_query_embed": ROPE, "grad_key_embed": ROPE}, 12 * 256),
    "A, grad_cos": (
        {"grad_query_embed": ROPE, "grad_key_embed": ROPE, "query": ROPE, "key": ROPE},
        12 * 128 * 6 + 5 * 512,
    ),
}


def tile(attrs: Any = None, cores: int | None = None, ub_bytes: int | None = None, **changes: Any) -> Any:
    given = {name: value for name, value in (USUAL | changes).items() if value is not None}
    typed = {name: value if isinstance(value[0], tuple) else (value, "float16") for name, value in given.items()}
    return ascend_sim.tiling("apply_rotary_pos_emb_grad", typed, attrs or {}, "ascend950", cores, ub_bytes)


@pytest.mark.parametrize("name", REFUSALS)
def test_refused(name: str) -> None:
    changes, text = REFUSALS[name]
    with pytest.raises(TilingError) as refused:
        tile(**changes)
    assert str(refused.value) == f"ApplyRotaryPosEmbGrad: {text}"


def test_the_unchanged_call_is_accepted() -> None:
    assert tile().data["template"] == 204
    assert tile(**VALUES).data["dCosFlag"] == 1


@pytest.mark.parametrize("template", SMALL)
def test_rows_that_do_not_fit(template: str) -> None:
    changes, needed = SMALL[template]
    assert tile(**changes, ub_bytes=needed).path == template.partition(",")[0]
    with pytest.raises(TilingError) as refused:
        tile(**changes, ub_bytes=needed - 1)
    assert str(refused.value) == f"ApplyRotaryPosEmbGrad: {TEXT.format(needed, needed - 1)}"
