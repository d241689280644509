"""Every refusal of inplace_partial_rotary_mul on the 950, with its full text, and their order."""

from __future__ import annotations

from typing import Any

import pytest

import ascend_sim
from ascend_sim.errors import TilingError

X = ((2, 32, 8, 128), "float16")
ROPE = ((2, 32, 1, 64), "float16")


def sliced(*partial_slice: int) -> dict[str, Any]:
    return {"attrs": {"partial_slice": list(partial_slice)}}


def both(*rope: Any) -> dict[str, Any]:
    return {"cos": rope, "sin": rope}


REFUSALS = {
    "no cores": ({"cores": 0}, "core count is 0, it must be positive"),
    "no unified buffer": ({"ub_bytes": 0}, "UB size is 0 B, it must be positive"),
    "sin missing": ({"sin": None}, "required input sin is missing; given are x, cos"),
    "rotary_mode 0": (
        {"attrs": {"rotary_mode": 0, "partial_slice": [0, 64]}},
        "rotary_mode is 0; only 1 (interleave) is supported",
    ),
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
    "rank of x": ({"x": ((64, 8, 128), "float16")}, "x, cos and sin have 3, 4 and 4 dims; all must have 4"),
    "cos and sin shapes": (
        {"sin": ((2, 32, 1, 32), "float16")},
        "cos is (2, 32, 1, 64) and sin is (2, 32, 1, 32); they must have the same shape",
    ),
    "one entry": (sliced(64), "partial_slice has 1 entry; it must have two, [start, end), or none"),
    "negative start": (sliced(-1, 64), "partial_slice is [-1, 64); start must not be negative"),
    "negative end": (sliced(0, -2), "partial_slice is [0, -2); end must not be negative"),
    "end before start": (sliced(64, 0), "partial_slice is [64, 0); end must not lie before start"),
    "end beyond x": (sliced(66, 130), "partial_slice is [66, 130); end must not exceed the last dim of x, 128"),
    "length of cos": (
        sliced(0, 32),
        "partial_slice is [0, 32), 32 elements, and the last dim of cos and sin is 64; the two must be equal",
    ),
    "odd slice": (
        sliced(0, 63) | both((2, 32, 1, 63), "float16"),
        "partial_slice is [0, 63), 63 elements; interleave rotates pairs, so the length must be even",
    ),
    "long last dim": ({"x": ((2, 32, 8, 1026), "float16")}, "the last dim of x is 1026; it must not exceed 1024"),
    "odd last dim": (
        {"x": ((2, 32, 8, 127), "float16")},
        "the last dim of x is 127; interleave rotates pairs, so it must be even",
    ),
    "empty x": ({"x": ((2, 0, 8, 128), "float16")}, "x is (2, 0, 8, 128); every dim must be positive"),
    "empty cos": (both((2, 0, 1, 64), "float16"), "cos is (2, 0, 1, 64); every dim must be positive"),
    "shape of cos": (
        both((2, 16, 1, 64), "float16"),
        "x is (2, 32, 8, 128), cos and sin are (2, 16, 1, 64); each dim of cos and sin but the last must be 1 or that "
        "of x",
    ),
}

TEXT = "rows of 64 elements are too long: this template needs {} B of unified buffer, only {} B are there"
SMALL = {  # rows of 128 B (256 B for float32 cos)
    "A": (both((2, 32, 8, 64), "float16"), 1024),
    "A, float32 cos": (both((2, 32, 8, 64), "float32"), 1536),
    "B": (both((1, 1, 1, 64), "float16"), 1024),
    "B, float32 cos": (both((1, 1, 1, 64), "float32"), 1024),
    "AB": ({}, 1024),
    "AB, float32 cos": (both((2, 32, 1, 64), "float32"), 1536),
    "ABA": (both((2, 1, 8, 64), "float16"), 1024),
    "BA, float32 cos": (both((1, 1, 8, 64), "float32"), 3072),
    "BAB": (both((1, 32, 1, 64), "float16"), 4096),
}


def tile(x: Any = X, cos: Any = ROPE, sin: Any = ROPE, attrs: Any = None, **options: Any) -> Any:
    given = {name: value for name, value in (("x", x), ("cos", cos), ("sin", sin)) if value is not None}
    return ascend_sim.tiling(
        "inplace_partial_rotary_mul", given, attrs or {"partial_slice": [0, 64]}, "ascend950", **options
    )


@pytest.mark.parametrize("name", REFUSALS)
def test_refused(name: str) -> None:
    changes, text = REFUSALS[name]
    with pytest.raises(TilingError) as refused:
        tile(**changes)
    assert str(refused.value) == f"InplacePartialRotaryMul: {text}"


def test_the_unchanged_call_is_accepted() -> None:
    assert tile().key == 20030


@pytest.mark.parametrize("template", SMALL)
def test_rows_that_do_not_fit(template: str) -> None:
    changes, needed = SMALL[template]
    assert tile(**changes, ub_bytes=needed).path == template.partition(",")[0]
    with pytest.raises(TilingError) as refused:
        tile(**changes, ub_bytes=needed - 1)
    assert str(refused.value) == f"InplacePartialRotaryMul: {TEXT.format(needed, needed - 1)}"


@pytest.mark.parametrize(
    "changes",
    [
        sliced(5, 5) | {"x": ((2, 32, 8, 2047), "float16")},  # odd and too long
        sliced(5, 5) | both((3, 1, 7, 1), "float16"),
        sliced(0, 63) | both((1, 1, 1, 0), "float16"),  # odd, and not the length of cos
    ],
)
def test_nothing_to_rotate_ends_the_checks(changes: dict[str, Any]) -> None:
    assert tile(**changes).is_noop


def test_nothing_to_rotate_does_not_excuse_what_comes_first() -> None:
    with pytest.raises(TilingError, match="only 1 \\(interleave\\) is supported"):
        tile(attrs={"rotary_mode": 2, "partial_slice": [5, 5]})
    with pytest.raises(TilingError, match="end must not exceed"):
        tile(**sliced(130, 130))
