"""Every refusal of inplace_partial_rotary_mul on A2/A3, with its full text, and their order."""

from __future__ import annotations

from typing import Any

import pytest

import ascend_sim
from ascend_sim.errors import TilingError

X = ((2, 32, 8, 128), "float16")
ROPE = ((2, 32, 1, 64), "float16")
SHAPES = "x is (2, 32, 8, 128), cos and sin are "


def sliced(*partial_slice: int) -> dict[str, Any]:
    return {"attrs": {"partial_slice": list(partial_slice)}}


def both(*rope: Any) -> dict[str, Any]:
    return {"cos": rope, "sin": rope}


REFUSALS = {
    "no cores": ({"cores": 0}, "core count is 0, it must be positive"),
    "no unified buffer": ({"ub_bytes": 0}, "UB size is 0 B, it must be positive"),
    "x missing": ({"x": None}, "required input x is missing; given are cos, sin"),
    "sin missing": ({"sin": None}, "required input sin is missing; given are x, cos"),
    "x dtype": ({"x": (X[0], "int32")}, "x is int32; allowed are float16, float32, bfloat16"),
    "cos and sin dtypes": (
        {"sin": (ROPE[0], "float32")},
        "cos is float16 and sin is float32; they must have the same dtype",
    ),
    "cos dtype": (both(ROPE[0], "int8"), "cos and sin are int8; allowed are float16, float32, bfloat16"),
    "dtype pair": (
        both(ROPE[0], "bfloat16"),
        "x is float16 with cos and sin bfloat16; allowed is one dtype for all, or 16-bit x with float32 cos and sin",
    ),
    "dtype pair, wide x": (
        {"x": (X[0], "float32")},
        "x is float32 with cos and sin float16; allowed is one dtype for all, or 16-bit x with float32 cos and sin",
    ),
    "rank of x": ({"x": ((64, 8, 128), "float16")}, "x, cos and sin have 3, 4 and 4 dims; all must have 4"),
    "rank of sin": ({"sin": ((64, 1, 64), "float16")}, "x, cos and sin have 4, 4 and 3 dims; all must have 4"),
    "cos and sin shapes": (
        {"sin": ((2, 32, 1, 32), "float16")},
        "cos is (2, 32, 1, 64) and sin is (2, 32, 1, 32); they must have the same shape",
    ),
    "rotary_mode 0": (
        {"attrs": {"rotary_mode": 0, "partial_slice": [0, 64]}},
        "rotary_mode is 0; only 1 (interleave) is supported",
    ),
    "rotary_mode half": (
        {"attrs": {"rotary_mode": "half"}},
        "attribute rotary_mode is 'half'; allowed is an integer or interleave (1)",
    ),
    "partial_slice text": (
        {"attrs": {"partial_slice": "0-64"}},
        "attribute partial_slice is '0-64'; allowed is a list of integers",
    ),
    "one entry": (sliced(64), "partial_slice has 1 entry; it must have two, [start, end), or none"),
    "three entries": (sliced(0, 64, 1), "partial_slice has 3 entries; it must have two, [start, end), or none"),
    "end before start": (sliced(64, 0), "partial_slice is [64, 0); end must not lie before start"),
    "long last dim": (
        {"x": ((2, 32, 8, 1026), "float16")},
        "the last dim of x is 1026; it must not exceed 1024",
    ),
    "odd last dim": (
        {"x": ((2, 32, 8, 127), "float16")},
        "the last dim of x is 127; interleave rotates pairs, so it must be even",
    ),
    "odd slice": (
        sliced(0, 63),
        "partial_slice is [0, 63), 63 elements; interleave rotates pairs, so the length must be even",
    ),
    "negative start": (sliced(-2, 62), "partial_slice is [-2, 62); start must not be negative"),
    "negative end": (sliced(-66, -2), "partial_slice is [-66, -2); start must not be negative"),
    "end beyond x": (sliced(66, 130), "partial_slice is [66, 130); end must not exceed the last dim of x, 128"),
    "length of cos": (
        sliced(0, 32),
        SHAPES + "(2, 32, 1, 64); the last dim of cos and sin must be the length of partial_slice, 32",
    ),
    "batch of cos": (
        both((1, 32, 1, 64), "float16"),
        SHAPES + "(1, 32, 1, 64); dim 0 must agree (no broadcast over it)",
    ),
    "heads of cos": (both((2, 32, 8, 64), "float16"), SHAPES + "(2, 32, 8, 64); dim 2 of cos and sin must be 1"),
    "positions of cos": (
        both((2, 16, 1, 64), "float16"),
        SHAPES + "(2, 16, 1, 64); dim 1 of cos and sin must be 1 or that of x",
    ),
    "empty x": (
        {"x": ((2, 0, 8, 128), "float16"), **both((2, 0, 1, 64), "float16")},
        "x is (2, 0, 8, 128), cos and sin are (2, 0, 1, 64); every dim of x must be positive",
    ),
    "small unified buffer": (
        {"ub_bytes": 1000},
        "one head needs 1408 B of unified buffer, only 1000 B are there: partial_slice is too long",
    ),
}


def tile(x: Any = X, cos: Any = ROPE, sin: Any = ROPE, attrs: Any = None, **options: Any) -> Any:
    given = {name: value for name, value in (("x", x), ("cos", cos), ("sin", sin)) if value is not None}
    return ascend_sim.tiling(
        "inplace_partial_rotary_mul", given, attrs or {"partial_slice": [0, 64]}, "ascend910b", **options
    )


@pytest.mark.parametrize("name", REFUSALS)
def test_refused(name: str) -> None:
    changes, text = REFUSALS[name]
    with pytest.raises(TilingError) as refused:
        tile(**changes)
    assert str(refused.value) == f"InplacePartialRotaryMul: {text}"


def test_the_unchanged_call_is_accepted() -> None:
    assert tile().key == 2000


def test_small_unified_buffer_in_mixed_precision() -> None:
    with pytest.raises(TilingError, match="one head needs 1280 B of unified buffer"):
        tile(**both(ROPE[0], "float32"), ub_bytes=1000)


@pytest.mark.parametrize(
    "changes",
    [
        {"x": ((2, 32, 8, 2047), "float16")},  # odd and too long
        {"cos": ((3, 1, 7, 1), "float16"), "sin": ((3, 1, 7, 1), "float16")},
    ],
)
def test_an_empty_slice_ends_the_checks(changes: dict[str, Any]) -> None:
    assert tile(**changes, **sliced(5, 5)).is_noop


def test_an_empty_slice_does_not_excuse_what_comes_first() -> None:
    with pytest.raises(TilingError, match="only 1 \\(interleave\\) is supported"):
        tile(attrs={"rotary_mode": 2, "partial_slice": [5, 5]})
