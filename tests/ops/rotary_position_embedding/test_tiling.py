"""Host tiling of rotary_position_embedding on A2/A3: published cases, worked cases, invariants."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ascend_sim
from ascend_sim.errors import TilingError
from ascend_sim.host.tiling import CoreShare, Loop, Tiling

CASES = json.loads(Path(__file__).with_name("cases_ascend910b.json").read_text())
HALF_WORD = 46  # index of the half mode's first word


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_published_case(case: dict[str, Any]) -> None:
    def tile() -> Tiling:
        inputs = {name: (tuple(shape), dtype) for name, (shape, dtype) in case["inputs"].items()}
        found: Tiling = ascend_sim.tiling(
            "rotary_position_embedding", inputs, case["attrs"], "ascend910b", case["cores"], case["ub_bytes"]
        )
        return found

    if case["result"] == "fail":
        with pytest.raises(TilingError):
            tile()
        return
    found = tile()
    assert (found.key, found.workspace_bytes) == (case["key"], case["workspace_bytes"])
    if "words" in case:
        assert list(found.words) == case["words"]
    else:
        assert found.block_dim == case["cores"]  # the cube core count
        assert found.not_runnable.startswith("the rotate matrix needs the cube core")


def tile(x: tuple[int, ...], cos: tuple[int, ...], dtype: str = "bfloat16", mode: Any = 0, **options: Any) -> Tiling:
    found: Tiling = ascend_sim.tiling(
        "rotary_position_embedding",
        {"x": (x, dtype), "cos": (cos, dtype), "sin": (cos, dtype)},
        {"mode": mode},
        options.pop("soc", "Ascend910B4"),
        **options,
    )
    return found


@pytest.mark.parametrize("heads", [8, 16])
@pytest.mark.parametrize(("dtype", "key"), [("bfloat16", 1033), ("float16", 1032)])
def test_the_measured_shapes(heads: int, dtype: str, key: int) -> None:
    found = tile((4096, 1, heads, 128), (4096, 1, 1, 128), dtype, mode="half")
    assert (found.key, found.block_dim, found.path) == (key, 40, "half")
    data = found.data
    assert [data[f] for f in ("storeSLines", "storeDataLength", "storePadDataLength")] == [31, 3968, 3968]
    assert [data[f] for f in ("formerCoreNum", "formerSLines", "formerUbLoop", "formerUbLast")] == [16, 103, 3, 10]
    assert [data[f] for f in ("tailCoreNum", "tailSLines", "tailUbLoop", "tailUbLast")] == [24, 102, 3, 9]
    assert [data[f] for f in ("formerXDataLength", "formerRDataLength")] == [13184 * heads, 13184]
    assert [data[f] for f in ("tailXDataLength", "tailRDataLength")] == [13056 * heads, 13056]
    assert [data[f] for f in ("formerXCoreOffset", "formerRCoreOffset")] == [210944 * heads, 210944]
    assert found.shares == (
        CoreShare("former", 16, 103, "lines", (Loop("lines", 31, 4, 10), Loop("heads", 1, heads, 1))),
        CoreShare("tail", 24, 102, "lines", (Loop("lines", 31, 4, 9), Loop("heads", 1, heads, 1))),
    )
    assert found.ub_used_bytes == 126976


def test_the_measured_shape_in_float32() -> None:
    found = tile((4096, 1, 16, 128), (4096, 1, 1, 128), "float32")
    assert (found.key, found.data["storeSLines"]) == (1031, 47)
    assert [found.data[f] for f in ("formerUbLast", "tailUbLast")] == [9, 8]


def test_48_cores() -> None:
    found = tile((4096, 1, 16, 128), (4096, 1, 1, 128), soc="Ascend910B1")
    assert [found.data[f] for f in ("formerCoreNum", "formerSLines", "formerUbLast")] == [16, 86, 24]
    assert [found.data[f] for f in ("tailCoreNum", "tailSLines", "tailUbLast")] == [32, 85, 23]


@pytest.mark.parametrize(("heads", "largest"), [(16, 160), (8, 320)])
def test_small_shapes_up_to_half_the_cores(heads: int, largest: int) -> None:
    fits, does_not = (tile((s, 1, heads, 128), (s, 1, 1, 128)) for s in (largest, largest + 1))
    assert (fits.key, fits.block_dim, fits.path) == (1133, 20, "half_full_load")
    assert does_not.key == 1033
    assert tile((largest, 1, heads, 128), (largest, 1, 1, 128), cann="8.3").key == 1033


def test_small_shape_spreads_over_four_cores_at_least() -> None:
    found = tile((7, 1, 2, 64), (7, 1, 1, 64))
    assert [found.data[f] for f in ("formerCoreNum", "formerUbLoop", "formerUbLast")] == [4, 1, 4]
    assert found.shares == (
        CoreShare("former", 3, 1, "lines", (Loop("lines", 1, 1, 1),)),
        CoreShare("last", 1, 4, "lines", (Loop("lines", 4, 1, 4),)),
    )


def test_one_line_of_cos_in_a_small_shape() -> None:
    found = tile((2, 3, 4, 128), (1, 1, 1, 128))
    assert (found.key, found.data["isThreeOneDim"], found.data["tailUbLoop"]) == (1153, 1, 1)
    assert {b.name: b.nbytes for b in found.buffers}["cosFp32"] == 4 * 128 * 4  # spread to the 4 lines of a group


def test_words_of_cann_8_3() -> None:
    """No matmul words, and 8 fields fewer."""
    new = tile((4096, 1, 16, 128), (4096, 1, 1, 128))
    old = tile((4096, 1, 16, 128), (4096, 1, 1, 128), cann="8.3")
    assert (len(new.words), len(old.words)) == (105, 51)
    assert old.words[:5] == (3, 4096 * 16 * 128, 1, 16, 128)
    assert new.words[HALF_WORD : HALF_WORD + 8] == (3, 4096, 1, 16, 4096, 1, 1, 0)
    assert {f: v for f, v in new.data.items() if f in old.data} == dict(old.data)


@pytest.mark.parametrize(
    ("x", "cos", "mode", "first", "second", "lines"),
    [
        ((2, 3, 4), (2, 3, 4), 4, 1, 1, 24),
        ((1, 64, 512), (1, 1, 1), 5, 1, 1, 64 * 512),
        ((2, 3, 400), (1, 1, 400), 1, 2, 3, 400),
        ((2, 400, 4), (1, 400, 1), 2, 2, 4, 400),
        ((400, 3, 4), (400, 1, 1), 3, 3, 4, 400),
        ((2, 1, 400), (1, 1, 400), 2, 2, 1, 400),
        ((400, 3, 1), (400, 1, 1), 3, 3, 1, 400),
        ((20, 30, 4), (20, 30, 1), 3, 1, 4, 600),
        ((20, 3, 40), (20, 1, 40), 6, 20, 3, 40),
    ],
)
def test_layouts(x: tuple[int, ...], cos: tuple[int, ...], mode: int, first: int, second: int, lines: int) -> None:
    found = tile((*x, 128), (*cos, 128), cann="8.3")
    data = found.data
    assert [data[f] for f in ("tilingMode", "broadcastFirstDim", "broadcastSecondDim", "totalSLines")] == [
        *(mode, first, second, lines),
    ]
    assert found.key == 1003 + 10 * mode


def test_tnd_counts_as_batch_of_one() -> None:
    found = tile((4096, 16, 128), (4096, 1, 128))
    assert [found.data[f] for f in ("tilingMode", "axisLenX1", "axisLenX2", "axisLenX3")] == [3, 1, 4096, 16]


def test_unaligned_halves_are_padded() -> None:
    found = tile((4096, 1, 2, 72), (4096, 1, 1, 72))
    assert [found.data[f] for f in ("isAligned", "halfDPadLength", "dPadLength")] == [0, 48, 96]
    assert found.data["storeSLines"] == (196352 - 2048) // 24 // 192


@pytest.mark.parametrize(("heads", "rows", "last", "tail"), [(16, 5, 3, 2), (8, 10, 3, 2)])
def test_interleave(heads: int, rows: int, last: int, tail: int) -> None:
    found = tile((4096, 1, heads, 128), (4096, 1, 1, 128), mode="interleave")
    assert (found.key, found.block_dim, found.path) == (2010, 40, "split_s")
    data = found.data
    assert [data[f] for f in ("frontCoreNum", "tailCoreNum", "coreCalcNum", "coreCalcTail")] == [16, 24, 103, 102]
    assert [data[f] for f in ("ubCalcNum", "ubCalcTail", "ubCalcTailNum", "ubCalcTailTail")] == [rows, last, rows, tail]


def test_interleave_splits_batches() -> None:
    """4 batches of 32 heads do not fit with the table, three do: (196352 - 16384) // (4096 * 18) = 2."""
    found = tile((4, 10, 32, 128), (1, 10, 1, 128), mode=1)
    assert (found.key, found.path) == (2110, "split_bs")
    assert [found.data[f] for f in ("ubCalcBNum", "ubCalcBLoop", "ubCalcBTail", "ubCalcNum")] == [2, 2, 0, 0]


def test_interleave_splits_heads() -> None:
    found = tile((4, 10, 200, 128), (1, 10, 1, 128), mode=1)
    assert (found.key, found.path) == (2210, "split_bsn")
    assert [found.data[f] for f in ("ubCalcNNum", "ubCalcNLoop", "ubCalcNTail")] == [69, 3, 62]
    assert found.shares[0].loops == (Loop("batches", 1, 4, 1), Loop("rows", 1, 1, 1), Loop("heads", 69, 3, 62))


@pytest.mark.parametrize("mode", ["quarter", "interleave-half", 2])
def test_other_modes_run_as_half(mode: Any) -> None:
    assert tile((4096, 1, 16, 128), (4096, 1, 1, 128), mode=mode).key == 1033


X, COS = (64, 1, 16, 128), (64, 1, 1, 128)
REFUSALS = {
    "no cores": ({"cores": 0}, "core count is 0, it must be positive"),
    "mode": (
        {"mode": 4},
        "mode is 4; allowed are 0 (half), 1 (interleave), 2 (quarter), 3 (interleave-half)",
    ),
    "rank": ({"x": (64, 16)}, "x, cos and sin have 2, 4 and 4 dims; all must have 4, or all 3 (TND)"),
    "rank of cos": (
        {"cos": (64, 1, 128)},
        "x, cos and sin have 4, 3 and 3 dims; all must have 4, or all 3 (TND)",
    ),
    "empty": ({"x": (64, 0, 16, 128)}, "x is (64, 0, 16, 128); every dim must be positive"),
    "layout": (
        {"cos": (64, 1, 2, 128)},
        "x is (64, 1, 16, 128) and cos (64, 1, 2, 128); each dim of cos but the last must be 1 or that of x, in one "
        "of the layouts BSND, SBND, BNSD or TND",
    ),
    "long": ({"x": (64, 1, 16, 898), "cos": (64, 1, 1, 898)}, "the last dim is 898; half mode takes at most 896"),
    "odd": (
        {"x": (64, 1, 16, 65), "cos": (64, 1, 1, 65)},
        "the last dim is 65; it must be even, its halves rotate with each other",
    ),
    "rows of cos": ({"cos": (64, 1, 1, 64)}, "the last dim of x is 128 and that of cos 64; they must be equal"),
    "dtype": ({"dtype": "int32"}, "x is int32; allowed are float32, float16, bfloat16"),
    "BNSD aligned": (
        {"x": (3, 30, 11, 128), "cos": (1, 1, 11, 128)},
        "B * N is 90 with S 11; BNSD takes at most 8 * S = 88",
    ),
    "BNSD unaligned": (
        {"x": (2, 3, 400, 72), "cos": (1, 1, 400, 72), "cores": 40},
        "B * N is 6 with S 400 on 40 cores; BNSD with unaligned halves of fewer than 40 elements takes at most "
        "ceil(S / cores) / 2 = 5",
    ),
    "small unified buffer": (
        {"ub_bytes": 4000, "cann": "8.3"},
        "the last dim, 128, is too large for 3744 B of unified buffer",
    ),
    "interleaved layout": (
        {"x": (4, 8, 16, 128), "cos": (4, 8, 1, 128), "mode": 1},
        "x is (4, 8, 16, 128) and cos (4, 8, 1, 128); interleaved mode takes cos (S, 1, 1, D), (1, S, 1, D), "
        "(1, 1, S, D) or (T, 1, D)",
    ),
    "interleaved, small unified buffer": (
        {"ub_bytes": 2000, "mode": 1},
        "one head needs 2816 B of unified buffer, only 1744 B are there: the last dim, 128, is too large",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refused(name: str) -> None:
    changes, text = REFUSALS[name]
    with pytest.raises(TilingError) as refused:
        tile(**{"x": X, "cos": COS, **changes})
    assert str(refused.value) == f"RotaryPositionEmbedding: {text}"


def test_refused_for_want_of_a_dim_of_one() -> None:
    with pytest.raises(TilingError, match="one of its leading dims must be 1"):
        tile((200, 30, 40, 128), (1, 1, 1, 128))


def test_rotate_is_newer_than_8_3() -> None:
    rope = ((1, 1, 32, 128), "float16")
    call = {"x": ((1, 24, 32, 128), "float16"), "cos": rope, "sin": rope, "rotate": ((128, 128), "float16")}
    with pytest.raises(TilingError, match=r"input rotate came after CANN 8\.3"):
        ascend_sim.tiling("rotary_position_embedding", call, cann="8.3")
    assert ascend_sim.tiling("rotary_position_embedding", call).block_dim == 20


@settings(max_examples=300, deadline=None)
@given(
    x=st.tuples(*[st.one_of(st.integers(1, 3), st.integers(1, 200))] * 3),
    keep=st.tuples(*[st.booleans()] * 3),
    half=st.integers(1, 100),
    dtype=st.sampled_from(["float16", "bfloat16", "float32"]),
    mode=st.sampled_from([0, 1]),
    cores=st.integers(1, 64),
)
def test_invariants(x: tuple[int, ...], keep: tuple[bool, ...], half: int, dtype: str, mode: int, cores: int) -> None:
    cos = tuple(dim if kept else 1 for dim, kept in zip(x, keep, strict=True))
    try:
        found = tile((*x, 2 * half), (*cos, 2 * half), dtype, mode, cores=cores)
    except TilingError:
        return
    assert 1 <= found.block_dim == sum(share.cores for share in found.shares) <= cores
    assert found.ub_used_bytes <= found.ub_bytes == 196352
    for share in found.shares:
        assert share.rows == next(loop.total for loop in share.loops if loop.unit in ("lines", "rows"))
    rows = sum(share.cores * share.rows for share in found.shares)
    lines = x[0] * x[1] * x[2]
    if found.path == "half_full_load":
        assert rows * x[2] == lines
    else:
        passes = 1
        for loop in found.shares[0].loops[1:]:
            passes *= loop.total
        if found.path.startswith("split"):
            passes = found.data["batchSize"] * found.data["numHeads"]
        assert rows * passes == lines
