"""The tiles that the lowering of the PyPTO kernels takes: legal, writing everything once, and right."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from ascend_sim.errors import InputError
from ascend_sim.host.registry import operator_named
from ascend_sim.host.tensors import TensorInfo
from ascend_sim.soc import load
from tests.ops.helpers.spaces import check_legal, check_right, context_of

OP = operator_named("pypto_rope")
CHIP = load("Ascend910B3")
SPACE = OP.space_on(CHIP.name)
HALF, BF16 = "float16", "bfloat16"
Inputs = dict[str, TensorInfo]


def infos(dtype: str = HALF, **shapes: tuple[int, ...]) -> Inputs:
    return {name: TensorInfo(shape, dtype) for name, shape in shapes.items()}


def skeleton(*x: int) -> tuple[Inputs, dict[str, Any]]:
    return infos(x=x, cos=x, sin=x), {"kernel": "skeleton"}


def vision(positions: int, heads: int, heads_k: int) -> tuple[Inputs, dict[str, Any]]:
    rows = (positions, 128)
    given = infos(x=(positions, heads, 128), k=(positions, heads_k, 128), cos=rows, sin=rows)
    return given, {"kernel": "vision"}


CALLS = {
    "skeleton": skeleton(4, 6, 64),
    "vision": vision(9, 4, 2),
    "mrope": (infos(x=(1, 4, 9, 128), cos=(3, 1, 9, 128), sin=(3, 1, 9, 128)), {"kernel": "mrope"}),
    "rms_norm": (
        infos(BF16, x=(11, 2, 128), cos=(11, 128), sin=(11, 128), weight=(128,)),
        {"kernel": "rms_norm"},
    ),
    "interleave": (infos(x=(1, 4, 9, 64), cos=(1, 1, 9, 64), sin=(1, 1, 9, 64)), {"kernel": "interleave"}),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_tile_is_legal_and_right(name: str) -> None:
    inputs, attrs = CALLS[name]
    found = check_legal(OP, context_of(OP, inputs, attrs, CHIP, 4), 12)
    assert len(found) >= 10
    assert len({tiling.data["vec_tile"] for tiling in found}) >= 4
    assert {tiling.data.get("unroll") for tiling in found} == (
        {None} if name in ("vision", "mrope") else {"1", "2", "4"}
    )
    check_right(OP, inputs, attrs, CHIP, found)


def test_the_calls_own_tile_is_the_first() -> None:
    inputs, attrs = skeleton(4, 6, 64)
    context = context_of(OP, inputs, {**attrs, "tile": (1, 3, 64), "unroll": (2,)}, CHIP)
    own, *others = SPACE.candidates(context, 6)
    assert SPACE.choices(own) == {"kernel": "skeleton", "tile": "1,3,64", "unroll": "2", "tasks": 4, "buffers": "2 + 2"}
    assert ("1,6,64", "1") in {(tiling.data["vec_tile"], tiling.data["unroll"]) for tiling in others}


def test_heads_of_k_follow_those_of_q() -> None:
    context = context_of(OP, *CALLS["vision"], CHIP)
    assert SPACE.axes(context) == {"positions": 9, "heads": 6, "elements": 128}
    own = next(iter(SPACE.candidates(context, 1)))
    assert {steps.start for piece in SPACE.coverage(own, context) for steps in piece.axes[1:2]} == {0, 4}


def faults(name: str, **fields: int | str) -> list[str]:
    context = context_of(OP, *CALLS[name], CHIP, 4)
    return SPACE.faults(SPACE.rebuild(context, fields), context)


def test_what_the_lowering_refuses_is_a_fault() -> None:
    inputs, attrs = skeleton(2, 64, 512)
    context = context_of(OP, inputs, {**attrs, "tile": (1, 8, 512)}, CHIP)
    tiling = SPACE.rebuild(context, {"vec_tile": "1,64,512"})
    (problem,) = SPACE.faults(tiling, context)
    assert re.fullmatch(
        r"PyptoRope: kernel 'rope': the vector tile \[1, 64, 512\] of r \(stored at skeleton\.py:\d+\) needs 262144 B "
        r"of unified buffer, Ascend910B3 has 196352 B; the tile \[1, 32, 512\] would fit",
        problem,
    )


@pytest.mark.parametrize(
    ("name", "fields", "text"),
    [
        ("vision", {"vec_tile": "4,4"}, "tile is [4, 4]; kernel vision takes (positions, heads, elements), each at "),
        ("rms_norm", {"vec_tile": "0"}, "tile is [0]; kernel rms_norm takes (positions), each at least 1"),
        ("interleave", {"vec_tile": "3,8"}, "tile is [3, 8]; kernel interleave takes (heads, positions), the heads a "),
        (
            "skeleton",
            {"vec_tile": "1,6,64", "block_dim": 3},
            "the block dim is 3; the lowering deals 4 tasks out to 4 cores",
        ),
    ],
)
def test_faults(name: str, fields: dict[str, int | str], text: str) -> None:
    assert any(text in fault for fault in faults(name, **fields))


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "the tiling data has no field vec_tile"),
        ({"vec_tile": "big"}, "field vec_tile of the tiling data is 'big'; a list of numbers such as 1,64,128"),
        ({"path": "mrope"}, "the tiling is for kernel mrope, the call runs skeleton"),
    ],
)
def test_bad_input(fields: dict[str, int | str], text: str) -> None:
    with pytest.raises(InputError, match=f"^{text}$"):
        faults("skeleton", **fields)


def test_raw_words_make_no_sense() -> None:
    context = context_of(OP, *CALLS["skeleton"], CHIP)
    with pytest.raises(InputError) as refused:
        SPACE.fields([1, 2, 3], context)
    assert str(refused.value) == (
        "PyptoRope: a kernel in PyPTO has no tiling struct, so 3 raw words say nothing of it; give JSON with its tile, "
        '{"vec_tile": "1,64,128"}, and with "unroll" where it has a loop'
    )


@pytest.mark.parametrize("name", ["skeleton", "mrope", "interleave"])
def test_anything_random_is_a_fault_or_right(name: str) -> None:
    rng, passed = random.Random(2), {}
    context = context_of(OP, *CALLS[name], CHIP, 4)
    rank = len(str(next(iter(SPACE.candidates(context, 1))).data["vec_tile"]).split(","))
    for _ in range(16):
        tile = [
            rng.choice([-1, 0, 1, 2, 3, 4, 8, 16, 17, 64, 128, 100_000]) for _ in range(rng.choice([rank] * 4 + [2]))
        ]
        fields = {"vec_tile": ",".join(map(str, tile)), "unroll": rng.choice(["1", "2", "3", "0", "4,2"])}
        tiling = SPACE.rebuild(context, fields)
        if not SPACE.faults(tiling, context):
            passed[tuple(tiling.data.values())] = tiling
    assert passed
    check_right(OP, *CALLS[name], CHIP, list(passed.values())[:4])
