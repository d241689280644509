"""Every refusal of pypto_rope, with its full text; what the front end refuses is told in its own words."""

from __future__ import annotations

import re
from typing import Any

import pytest

import ascend_sim
from ascend_sim.errors import TilingError

Info = tuple[tuple[int, ...], str]


def inputs(dtype: str = "float16", **shapes: tuple[int, ...]) -> dict[str, Info]:
    return {name: (shape, dtype) for name, shape in shapes.items()}


SKELETON = inputs(x=(4, 8, 64), cos=(4, 8, 64), sin=(4, 8, 64))
VISION = inputs(x=(31, 16, 128), cos=(31, 128), sin=(31, 128), k=(31, 2, 128))
MROPE = inputs(x=(1, 2, 31, 128), cos=(3, 1, 31, 128), sin=(3, 1, 31, 128))
RMS_NORM = inputs("bfloat16", x=(7, 16, 128), cos=(7, 128), sin=(7, 128), weight=(128,))
INTERLEAVE = inputs(x=(2, 8, 9, 64), cos=(2, 1, 9, 64), sin=(2, 1, 9, 64))
KERNELS = {
    "skeleton": SKELETON,
    "vision": VISION,
    "mrope": MROPE,
    "rms_norm": RMS_NORM,
    "interleave": INTERLEAVE,
}
# kernel, what is changed of its inputs (None: left out), attributes, text
REFUSALS: dict[str, tuple[str, dict[str, Info | None], dict[str, Any], str]] = {
    "kernel": (
        "skeleton",
        {},
        {"kernel": 5},
        "kernel is 5; allowed are 0 (skeleton), 1 (vision), 2 (mrope), 3 (rms_norm), 4 (interleave)",
    ),
    "dtype": (
        "skeleton",
        inputs("int32", **{name: shape for name, (shape, _) in SKELETON.items()}),
        {},
        "x is int32; allowed are float16, bfloat16, float32",
    ),
    "two dtypes": (
        "skeleton",
        inputs("float32", sin=(4, 8, 64)),
        {},
        "sin is float32 and x float16; all inputs have one dtype",
    ),
    "sin missing": ("skeleton", {"sin": None}, {}, "required input sin is missing; given are x, cos"),
    "k without vision": ("skeleton", inputs(k=(4, 8, 64)), {}, "kernel skeleton takes no input k"),
    "vision without k": ("vision", {"k": None}, {}, "kernel vision needs input k"),
    "norm without weight": ("rms_norm", {"weight": None}, {}, "kernel rms_norm needs input weight"),
    "weight without norm": ("mrope", inputs(weight=(128,)), {}, "kernel mrope takes no input weight"),
    "one dim": (
        "skeleton",
        inputs(x=(64,), cos=(64,), sin=(64,)),
        {},
        "x is (64,), it must be (rows, ..., D) of 2 to 4 dims",
    ),
    "empty": (
        "skeleton",
        inputs(x=(0, 8, 64), cos=(0, 8, 64), sin=(0, 8, 64)),
        {},
        "x is (0, 8, 64); every dim must be positive",
    ),
    "odd": ("skeleton", inputs(x=(4, 8, 63)), {}, "the last dim of x is 63; it must be even"),
    "skeleton's cos": (
        "skeleton",
        inputs(cos=(4, 1, 64)),
        {},
        "cos is (4, 1, 64), it must be (4, 8, 64): the shape of x",
    ),
    "skeleton's tile": (
        "skeleton",
        {},
        {"tile": [8, 64]},
        "[0xf00002] neg: the vector tile [8, 64] (set at skeleton.py:37) has 2 dims, but its output has 3; they must "
        "agree",
    ),
    "tile of 0": (
        "skeleton",
        {},
        {"tile": [1, 0, 64]},
        "[0xf00002] set_vec_tile_shapes(1, 0, 64): size 1 is 0; every dim must be above 0",
    ),
    "unroll": (
        "skeleton",
        {},
        {"unroll": [2, 0]},
        "[0xf00002] loop: unroll_list [2, 0] holds 0; factors are integers of at least 1",
    ),
    "vision's x": ("vision", inputs(x=(1, 31, 16, 128)), {}, "x is (1, 31, 16, 128), it must be (S, N, D)"),
    "vision's cos": (
        "vision",
        inputs(cos=(31, 16, 128)),
        {},
        "cos is (31, 16, 128), it must be (31, 128): (S, D), a row for every position",
    ),
    "vision's k": (
        "vision",
        inputs(k=(30, 2, 128)),
        {},
        "k is (30, 2, 128), it must be (31, 2, 128): (S, Nk, D), as x but for the heads",
    ),
    "sections": (
        "mrope",
        {},
        {"sections": [16, 24, 25]},
        "sections are [16, 24, 25]; they must be positive and add up to half a head, 64",
    ),
    "tables of sections": (
        "mrope",
        inputs(cos=(1, 31, 128)),
        {},
        "cos is (1, 31, 128), it must be (3, 1, 31, 128): a table (B, S, D) for each section",
    ),
    "norm's heads": (
        "rms_norm",
        inputs("bfloat16", x=(7, 16, 64)),
        {},
        "x is (7, 16, 64), it must be (7, 16, 128): heads of 128 elements",
    ),
    "norm's sin": (
        "rms_norm",
        inputs("bfloat16", sin=(7, 64)),
        {},
        "sin is (7, 64), it must be (7, 128): a row for every position",
    ),
    "norm's weight": (
        "rms_norm",
        inputs("bfloat16", weight=(64,)),
        {},
        "weight is (64,), it must be (128,): a weight for every element of a head",
    ),
    "norm's dtype": (
        "rms_norm",
        inputs(**{name: shape for name, (shape, _) in RMS_NORM.items()}),
        {},
        "x is float16; kernel rms_norm takes bfloat16",
    ),
    "interleave's cos": (
        "interleave",
        inputs(cos=(2, 8, 9, 64)),
        {},
        "cos is (2, 8, 9, 64), it must be (2, 1, 9, 64): (B, 1, S, D), or (B, 1, 1, D) for all positions alike",
    ),
    "interleave's tables": (
        "interleave",
        inputs(sin=(2, 1, 1, 64)),
        {},
        "sin is (2, 1, 1, 64), it must be (2, 1, 9, 64): (B, 1, S, D), or (B, 1, 1, D) for all positions alike",
    ),
    "interleave's tile": (
        "interleave",
        {},
        {"tile": [3, 8]},
        "tile is [3, 8]; kernel interleave takes (heads, positions), the heads a divisor of 8",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal(name: str) -> None:
    kernel, changed, attrs, text = REFUSALS[name]
    given = {key: info for key, info in (KERNELS[kernel] | changed).items() if info is not None}
    with pytest.raises(TilingError) as refused:
        ascend_sim.tiling("pypto_rope", given, {"kernel": kernel, **attrs}, soc="ascend910b")
    assert str(refused.value) == f"PyptoRope: {text}"


def test_a_tile_that_does_not_fit_names_the_one_that_would() -> None:
    shape = ((8, 512, 128), "float32")
    with pytest.raises(TilingError) as refused:
        ascend_sim.run("pypto_rope", shape, shape, shape, kernel="skeleton", values=False)
    text = (
        "PyptoRope: kernel 'rope': the vector tile [1, 512, 128] of r (stored at skeleton.py:42) needs 1048576 B of "
        "unified buffer, Ascend910B3 has 196352 B; the tile [1, 64, 128] would fit. Buffers, those alive at one time "
        "sharing nothing:\n"
        "  a_s [1, 512, 128] DT_FP32: 262144 B (view at skeleton.py:34)\n"
        "  cos_s [1, 512, 128] DT_FP32: 262144 B (view at skeleton.py:35)\n"
        "  sin_s [1, 512, 128] DT_FP32: 262144 B (view at skeleton.py:36)\n"
        "  rot [1, 512, 128] DT_FP32: 262144 B (concat at skeleton.py:40)\n"
        "  mul [1, 512, 128] DT_FP32: 262144 B (mul at skeleton.py:41)\n"
        "  mul_2 [1, 512, 128] DT_FP32: 262144 B (mul at skeleton.py:41)\n"
        "  r [1, 512, 128] DT_FP32: 262144 B (add at skeleton.py:41)\n"
        "  neg_a2 [1, 512, 64] DT_FP32: 131072 B (muls at skeleton.py:38)"
    )
    assert str(refused.value) == text
    result = ascend_sim.run("pypto_rope", shape, shape, shape, kernel="skeleton", tile=[1, 64, 128], values=False)
    assert result.duration_us > 0


def test_the_950_has_no_such_operator() -> None:
    with pytest.raises(ascend_sim.AscendSimError, match=re.escape("pypto_rope")) as refused:
        ascend_sim.run("pypto_rope", *SKELETON.values(), soc="ascend950", values=False)
    assert "ascend910b, ascend910_93" in str(refused.value)
