"""Host tiling of inplace_partial_rotary_mul on A2/A3: published cases and numbers worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ascend_sim
from ascend_sim.errors import TilingError
from ascend_sim.host.tiling import CoreShare, Loop, Tiling, UbBuffer

CASES = json.loads(Path(__file__).with_name("cases_ascend910b.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
@pytest.mark.parametrize("soc", ["ascend910b", "ascend910_93"])
def test_published_case(case: dict[str, Any], soc: str) -> None:
    inputs = {name: (tuple(shape), dtype) for name, (shape, dtype) in case["inputs"].items()}

    def tile() -> Any:
        return ascend_sim.tiling(
            "inplace_partial_rotary_mul", inputs, case["attrs"], soc, case["cores"], case["ub_bytes"]
        )

    if case["result"] == "fail":
        with pytest.raises(TilingError):
            tile()
        return
    found = tile()
    assert found.key == case["key"]
    assert found.workspace_bytes == case.get("workspace_bytes", 16 << 20)
    for name, value in case["derived"].items():
        assert {"block_dim": found.block_dim, **found.data}[name] == value


def tile(
    x: tuple[int, ...],
    start: int,
    end: int,
    dtype: str = "float16",
    cos_dtype: str = "",
    cos1: int = 1,
    soc: str = "Ascend910B3",
    **kwargs: Any,
) -> Tiling:
    cos = ((x[0], cos1, 1, end - start), cos_dtype or dtype)
    return ascend_sim.tiling(
        "inplace_partial_rotary_mul",
        {"x": (x, dtype), "cos": cos, "sin": cos},
        {"partial_slice": [start, end]},
        soc,
        **kwargs,
    )


def fields(tiling: Tiling) -> dict[str, int | str]:
    """The fields that are not 0."""
    return {name: value for name, value in tiling.data.items() if value != 0}


def test_the_documents_example() -> None:
    found = tile((2, 32, 8, 128), 0, 64, cos1=32)
    assert (found.key, found.block_dim, found.workspace_bytes) == (2000, 40, 16777216)
    assert found.meaning == "general path, float16: positions over cores, whole positions per UB step"
    assert fields(found) == {
        "usedCoreNum": 40,
        "headDim": 64,
        "allHeadDim": 128,
        "batchSize": 1,
        "seqLen": 64,  # B * S
        "numHeads": 8,
        "frontCoreNum": 24,  # 64 % 40
        "tailCoreNum": 16,
        "coreCalcNum": 2,
        "coreCalcTail": 1,
        "ubCalcNum": 2,
        "ubCalcLoop": 1,
        "ubCalcTailNum": 1,
        "ubCalcTailLoop": 1,
        "path": "split_s",
    }
    assert found.shares == (
        CoreShare("front", 24, 2, "rows", (Loop("rows", 2, 1, 2),)),
        CoreShare("tail", 16, 1, "rows", (Loop("rows", 1, 1, 1),)),
    )
    row = 8 * 64
    assert found.buffers == (
        UbBuffer("inQueX", 2 * row * 2),
        UbBuffer("inQueCos", 2 * row * 2),
        UbBuffer("outQueY", 2 * row * 2),
        UbBuffer("tmpFp32Buf1", 2 * row * 4),
        UbBuffer("tmpFp32Buf2", 2 * row * 4),
        UbBuffer("tmpFp32Buf3", 2 * row * 4),
        UbBuffer("gatherOffsetBuf", row * 4),
    )
    assert found.ub_used_bytes == 20480
    assert found.ub_bytes == 196352


def test_words_follow_the_struct() -> None:
    found = tile((2, 32, 8, 128), 0, 64, cos1=32)
    assert found.words == (
        *[0] * 31,  # the 950's half: B ... sliceLength
        *[40, 0, 64, 128, 0, 0, 0, 0, 0, 0, 0],  # usedCoreNum ... blockFactor
        *[1, 64, 8, 24, 16, 2, 1],  # batchSize ... coreCalcTail
        *[2, 1, 0, 1, 1, 0],  # ubCalcNum ... ubCalcTailTail
        *[0, 0, 0, 0, 0, 0],  # ubCalcBNum ... ubCalcNTail
    )
    assert list(found.data)[:-1] == [name for name in found.data if name != "path"]
    assert tuple(value for name, value in found.data.items() if name != "path") == found.words


def test_mixed_dtypes_split_s() -> None:
    """16 heads of 64: a row needs 16 * 1024 B, the table 4096 B, so 11 rows fit 196352 B."""
    found = tile((4, 1024, 16, 128), 64, 128, "bfloat16", "float32", cos1=1024, soc="Ascend910B4")
    assert (found.key, found.block_dim) == (2030, 40)
    data = found.data
    assert [data[f] for f in ("start", "frontCoreNum", "tailCoreNum")] == [64, 16, 24]
    assert [data[f] for f in ("coreCalcNum", "ubCalcNum", "ubCalcLoop", "ubCalcTail")] == [103, 11, 10, 4]
    assert [data[f] for f in ("coreCalcTail", "ubCalcTailNum", "ubCalcTailLoop", "ubCalcTailTail")] == [102, 11, 10, 3]
    assert [buffer.name for buffer in found.buffers] == [
        *("inQueX", "inQueCos", "outQueY", "tmpFp32Buf1", "tmpFp32Buf3", "gatherOffsetBuf"),
    ]
    assert found.ub_used_bytes == 11 * 16384 + 4096


def test_fast_path_broadcast() -> None:
    """8 heads of 64: (196352 / 4 - 512) // (4 * 512 + 4 * 64) = 21 rows a step; 205 rows a core, 197 on the last."""
    found = tile((8192, 1, 8, 64), 0, 64)
    assert (found.key, found.block_dim, found.path) == (1, 40, "fast_broadcast")
    assert fields(found) == {
        "usedCoreNum": 40,
        "numHead": 8,
        "headDim": 64,
        "allHeadDim": 64,
        "coreTUbLoopTime": 10,
        "coreBUbLoopTime": 10,
        "coreTUbLoopTail": 8,
        "coreBUbLoopTail": 16,
        "ubFactor": 21,
        "blockFactor": 205,
        "path": "fast_broadcast",
    }
    assert found.shares == (
        CoreShare("front", 39, 205, "rows", (Loop("rows", 21, 10, 16),)),
        CoreShare("tail", 1, 197, "rows", (Loop("rows", 21, 10, 8),)),
    )
    assert found.ub_used_bytes == 21 * (512 * 4 * 4 + 64 * 4 * 4) + 512 * 4
    assert found.warnings == ()


def test_fast_path_uses_fewer_cores_when_rows_do_not_spread() -> None:
    found = tile((100, 1, 8, 128), 0, 64)
    assert found.block_dim == 34  # 3 rows per core
    data = found.data
    assert [data[f] for f in ("blockFactor", "ubFactor", "coreBUbLoopTail", "coreTUbLoopTail")] == [3, 3, 3, 1]


def test_fast_path_elementwise() -> None:
    found = tile((6, 1, 1, 32), 0, 16, "float32")
    assert (found.key, found.block_dim, found.path) == (2, 6, "fast_elementwise")
    assert found.shares == (CoreShare("front", 6, 1, "rows", (Loop("rows", 1, 1, 1),)),)


@pytest.mark.parametrize(
    ("why", "arguments"),
    [
        ("two dims of heads", {"x": (8, 2, 4, 64), "start": 0, "end": 64}),
        ("row of 65 or more", {"x": (8, 1, 4, 128), "start": 0, "end": 80}),
        ("unaligned row", {"x": (8, 1, 4, 64), "start": 0, "end": 60}),
        ("mixed dtypes", {"x": (8, 1, 4, 64), "start": 0, "end": 64, "cos_dtype": "float32"}),
        ("no room for one row", {"x": (64, 1, 614, 16), "start": 0, "end": 16}),
    ],
)
def test_what_keeps_a_call_off_the_fast_path(why: str, arguments: dict[str, Any]) -> None:
    assert tile(**arguments).key >= 2000, why
    assert tile((8, 1, 4, 64), 0, 64).key == 1


@pytest.mark.parametrize(
    ("dtype", "cos_dtype", "key", "chunk", "loops", "last"),
    [
        ("float16", "float16", 2200, 69, 3, 62),  # 22 B for each of 128 elements
        ("bfloat16", "bfloat16", 2210, 69, 3, 62),
        ("float32", "float32", 2220, 95, 3, 10),  # 16 B
        ("bfloat16", "float32", 2230, 76, 3, 48),  # 20 B
        ("float16", "float32", 2240, 76, 3, 48),
    ],
)
def test_split_bsn(dtype: str, cos_dtype: str, key: int, chunk: int, loops: int, last: int) -> None:
    """200 heads of 128 do not fit the unified buffer, whatever the dtype."""
    found = tile((1, 4, 200, 128), 0, 128, dtype, cos_dtype, cos1=4)
    assert (found.key, found.block_dim, found.path) == (key, 4, "split_bsn")
    assert [found.data[f] for f in ("ubCalcNNum", "ubCalcNLoop", "ubCalcNTail")] == [chunk, loops, last]
    assert found.data["ubCalcNum"] == 0
    assert found.shares == (
        CoreShare("front", 4, 1, "rows", (Loop("rows", 1, 1, 1), Loop("heads", chunk, loops, last))),
    )


def test_split_bsn_when_the_gather_table_alone_overflows() -> None:
    found = tile((1, 4, 400, 128), 0, 128, cos1=4)
    assert (found.key, found.data["ubCalcNLoop"], found.data["ubCalcNTail"]) == (2200, 6, 55)


@pytest.mark.parametrize(
    ("dtype", "key", "padded", "item_bytes"),
    [("float16", 2001, 32, 18), ("bfloat16", 2011, 32, 18), ("float32", 2021, 24, 12)],
)
def test_padded_rows(dtype: str, key: int, padded: int, item_bytes: int) -> None:
    """Rows of 20 take whole UB blocks; 15 positions on 4 cores are at most 4 rows at once, of 2 heads each."""
    found = tile((3, 5, 2, 64), 2, 22, dtype, cos1=5, cores=4)
    assert found.key == key
    assert found.ub_used_bytes == 2 * padded * (4 * item_bytes + 4)


def test_padded_split_bsn() -> None:
    found = tile((1, 2, 600, 64), 0, 34, "float16", "float32", cos1=2)
    assert (found.key, found.data["ubCalcNNum"]) == (2241, 196352 // (48 * 20))
    assert found.meaning == (
        "general path, float16 with float32 cos: positions over cores, chunks of heads per UB step, "
        "rows padded from 34 to 48 elements"
    )


def test_seq_spreads_evenly() -> None:
    """A multiple of the core count: all cores are front cores, the tail fields describe no core."""
    found = tile((80, 1, 2, 256), 0, 128, cores=40)
    data = found.data
    assert [data[f] for f in ("frontCoreNum", "tailCoreNum", "coreCalcNum", "coreCalcTail")] == [40, 0, 2, 2]
    assert [data[f] for f in ("ubCalcTailNum", "ubCalcTailLoop", "ubCalcTailTail")] == [2, 1, 0]
    assert found.shares == (CoreShare("front", 40, 2, "rows", (Loop("rows", 2, 1, 2),)),)


def test_noop() -> None:
    found = tile((2, 32, 8, 128), 6, 6, cos1=32)
    assert (found.key, found.block_dim, found.workspace_bytes, found.path) == (1, 1, 16777216, "noop")
    assert fields(found) == {"allHeadDim": 128, "start": 6, "path": "noop"}
    assert found.is_noop
    assert found.meaning == "the slice is empty: nothing to rotate"


def test_default_slice_is_a_noop() -> None:
    call = {"x": ((2, 32, 8, 128), "float16"), "r1": ((1, 1, 1, 1), "float16"), "r2": ((1, 1, 1, 1), "float16")}
    assert ascend_sim.tiling("inplace_partial_rotary_mul", call).is_noop


def test_empty_slice_list_means_the_whole_axis() -> None:
    rope = ((2, 32, 1, 128), "float16")
    call = {"x": ((2, 32, 8, 128), "float16"), "cos": rope, "sin": rope}
    found = ascend_sim.tiling("InplacePartialRotaryMul", call, {"partial_slice": [], "rotary_mode": "interleave"})
    assert (found.data["start"], found.data["headDim"], found.key) == (0, 128, 2000)


@pytest.mark.parametrize(("heads", "done"), [(256, 0), (300, 44), (511, 255)])
def test_more_heads_than_the_repeat_field_holds(heads: int, done: int) -> None:
    found = tile((64, heads, 1, 16), 0, 16)
    assert found.key == 1
    assert found.warnings == (
        f"{heads} heads overflow the 8-bit repeat of the fast path's Mul, which wraps to {done}: heads {done} to "
        f"{heads - 1} are left unwritten by it and their results are undefined, as on the chip",
    )
    assert tile((64, 255, 1, 16), 0, 16).warnings == ()
