"""Every refusal of inplace_partial_rotary_mul_grad, with its full text, and their order."""

from __future__ import annotations

from typing import Any

import pytest

import ascend_sim
from ascend_sim.errors import TilingError

DY = ((2, 32, 8, 128), "float16")
ROPE = ((2, 32, 1, 64), "float32")


def sliced(*partial_slice: int) -> dict[str, Any]:
    return {"attrs": {"partial_slice": list(partial_slice)}}


def both(*rope: Any) -> dict[str, Any]:
    return {"cos": rope, "sin": rope}


def mode(number: int) -> dict[str, Any]:
    return {"attrs": {"rotary_mode": number, "partial_slice": [0, 64]}}


REFUSALS = {
    "dy missing": ({"dy": None}, "required input dy is missing; given are cos, sin"),
    "dy dtype": ({"dy": (DY[0], "int32")}, "dy is int32; allowed are float16, float32, bfloat16"),
    "cos dtype": (both(ROPE[0], "int8"), "cos is int8; allowed are float16, float32, bfloat16"),
    "sin dtype": (
        {"sin": (ROPE[0], "float16")},
        "cos is float32 and sin is float16; they must have the same dtype",
    ),
    **{
        f"mode {number}": (
            mode(number),
            f"rotary_mode is {number}; only 1 (interleave) is supported, 0, 2 and 3 are reserved",
        )
        for number in (-1, 0, 2, 3, 4)
    },
    "no entries": (sliced(), "partial_slice has 0 entries; it must have two, [start, end)"),
    "one entry": (sliced(64), "partial_slice has 1 entry; it must have two, [start, end)"),
    "length of cos": (
        sliced(0, 32),
        "partial_slice is [0, 32), 32 elements, and the last dim of cos is 64; the two must be equal",
    ),
    "end before start": (
        sliced(64, 0),
        "partial_slice is [64, 0), -64 elements, and the last dim of cos is 64; the two must be equal",
    ),
    "negative start": (sliced(-2, 62), "partial_slice is [-2, 62); start must not be negative"),
    "end beyond dy": (sliced(66, 130), "partial_slice is [66, 130); end must not exceed the last dim of dy, 128"),
    "long last dim": ({"dy": ((2, 32, 8, 1025), "float16")}, "the last dim of dy is 1025; it must not exceed 1024"),
    "odd slice": (
        sliced(0, 63) | both((2, 32, 1, 63), "float16"),
        "partial_slice is [0, 63), 63 elements; interleave rotates pairs, so the length must be even",
    ),
    "ranks": ({"dy": ((64, 8, 128), "float16")}, "dy, cos and sin have 3, 4 and 4 dims; all must have 4"),
    "cos and sin shapes": (
        {"sin": ((2, 32, 8, 64), "float32")},
        "cos is (2, 32, 1, 64) and sin is (2, 32, 8, 64); they must have the same shape",
    ),
    "no cores": ({"cores": 0}, "core count is 0, it must be positive"),
    "no unified buffer": ({"ub_bytes": 0}, "UB size is 0 B, it must be positive"),
    "shape of cos": (
        both((2, 16, 1, 64), "float16"),
        "dy is (2, 32, 8, 128), cos and sin are (2, 16, 1, 64); each dim of cos and sin but the last must be 1 or that "
        "of dy",
    ),
    "small unified buffer": (
        {"ub_bytes": 1535},  # 3 rows of 128 B for dy and its float32 cos, 4 times
        "rows of 64 elements are too long: a line and its cos need 1536 B of unified buffer, only 1535 B are there",
    ),
    "nothing to rotate, ranks": (
        sliced(5, 5) | {"dy": ((64, 8, 128), "float16")},
        "dy, cos and sin have 3, 4 and 4 dims; all must have 4",
    ),
    "nothing to rotate, shapes": (
        sliced(5, 5) | {"sin": ((2, 32, 8, 64), "float32")},
        "cos is (2, 32, 1, 64) and sin is (2, 32, 8, 64); they must have the same shape",
    ),
    "nothing to rotate, long cos": (
        sliced(5, 5) | both((2, 32, 1, 130), "float32"),
        "dy is (2, 32, 8, 128) and cos is (2, 32, 1, 130); the last dim of cos must not be larger",
    ),
}


def tile(dy: Any = DY, cos: Any = ROPE, sin: Any = ROPE, attrs: Any = None, **options: Any) -> Any:
    given = {name: value for name, value in (("dy", dy), ("cos", cos), ("sin", sin)) if value is not None}
    return ascend_sim.tiling(
        "inplace_partial_rotary_mul_grad", given, attrs or {"partial_slice": [0, 64]}, "ascend950", **options
    )


@pytest.mark.parametrize("name", REFUSALS)
def test_refused(name: str) -> None:
    changes, text = REFUSALS[name]
    with pytest.raises(TilingError) as refused:
        tile(**changes)
    assert str(refused.value) == f"InplacePartialRotaryMulGrad: {text}"


def test_the_unchanged_call_is_accepted() -> None:
    assert tile().key == 204
    assert tile(ub_bytes=1536).key == 204
    assert tile(dy=((2, 32, 8, 127), "float16")).key == 204  # only the slice has to be even


def test_modes_have_names() -> None:
    with pytest.raises(TilingError, match="rotary_mode is 3; only 1"):
        tile(attrs={"rotary_mode": "interleave-half", "partial_slice": [0, 64]})
    assert tile(attrs={"rotary_mode": "interleave", "partial_slice": [0, 64]}).key == 204
