"""Host tiling of rotary_position_embedding_grad on A2/A3: published cases, worked cases, refusals, invariants."""

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


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_published_case(case: dict[str, Any]) -> None:
    inputs = {name: (tuple(shape), dtype) for name, (shape, dtype) in case["inputs"].items()}
    found = ascend_sim.tiling(
        "rotary_position_embedding_grad", inputs, case["attrs"], "ascend910b", case["cores"], case["ub_bytes"]
    )
    assert (found.key, found.workspace_bytes) == (case["key"], case["workspace_bytes"])
    assert list(found.words) == case["words"]


def tile(
    dy: tuple[int, ...],
    cos: tuple[int, ...],
    dtype: str = "bfloat16",
    mode: Any = 0,
    x: tuple[int, ...] | None = None,
    **options: Any,
) -> Tiling:
    inputs = {"dy": (dy, dtype), "cos": (cos, dtype), "sin": (cos, dtype)}
    found: Tiling = ascend_sim.tiling(
        "rotary_position_embedding_grad",
        inputs | ({"x": (x, dtype)} if x else {}),
        {"mode": mode},
        options.pop("soc", "Ascend910B4"),
        **options,
    )
    return found


@pytest.mark.parametrize(("heads", "stride", "stride_pad"), [(16, 120, 3968), (8, 56, 1920)])
def test_the_measured_shapes(heads: int, stride: int, stride_pad: int) -> None:
    found = tile((4096, 1, heads, 128), (4096, 1, 1, 128))
    assert (found.key, found.block_dim, found.path) == (1022, 40, "half")
    data = found.data
    assert [data[f] for f in ("alignUbSize", "calcUbSize", "coreData", "coreLast")] == [4864, 4864, 13184, 10112]
    assert [data[f] for f in ("copyLoop", "copyTail", "lastCopyLoop", "lastCopyTail")] == [2, 3456, 2, 384]
    assert [data[f] for f in ("firstReduce", "secondReduce", "ubLoopGap")] == [1, heads, 1]
    assert [data[f] for f in ("blockLenInner", "strideInner", "blockLenPadInner", "stridePadInner")] == [
        *(8, stride, 128, stride_pad),
    ]
    assert found.ub_used_bytes == 175104
    assert found.shares == (
        CoreShare("front", 39, 103, "lines", (Loop("lines", 38, 3, 27), Loop("dy tiles per cos tile", 1, heads, 1))),
        CoreShare("last", 1, 79, "lines", (Loop("lines", 38, 3, 3), Loop("dy tiles per cos tile", 1, heads, 1))),
    )


@pytest.mark.parametrize(
    ("dtype", "with_x", "key", "align"),
    [("bfloat16", True, 22, 3456), ("float32", False, 1021, 6272), ("float16", False, 1020, 4864)],
)
def test_tile_sizes(dtype: str, with_x: bool, key: int, align: int) -> None:
    dy = (4096, 1, 16, 128)
    found = tile(dy, (4096, 1, 1, 128), dtype, x=dy if with_x else None)
    assert (found.key, found.data["alignUbSize"]) == (key, align)


@pytest.mark.parametrize(
    ("dy", "cos", "layout", "dims"),
    [
        ((4, 8, 2), (4, 8, 2), 0, (4, 8, 2, 4, 2)),
        ((4, 8, 2), (1, 8, 1), 0, (4, 8, 2, 1, 1)),
        ((4, 8, 2), (4, 8, 1), 0, (4, 8, 2, 4, 1)),
        ((4, 8, 2), (1, 1, 2), 10, (4, 2, 8, 1, 1)),
        ((4, 8, 6), (4, 1, 6), 10, (4, 6, 8, 4, 1)),
        ((4, 8, 2), (4, 1, 1), 20, (8, 4, 2, 1, 1)),
        ((9, 8, 2), (9, 8, 1), 20, (8, 9, 2, 8, 1)),
    ],
)
def test_layouts(dy: tuple[int, ...], cos: tuple[int, ...], layout: int, dims: tuple[int, ...]) -> None:
    data = tile((*dy, 64), (*cos, 64)).data
    assert data["layout"] == layout
    assert tuple(data[f] for f in ("dimB", "dimS", "dimN", "cosDimB", "cosDimN")) == dims


def test_batches_of_cos_are_walked_inside() -> None:
    """BNSD with cos (B, 1, S, D): cores share the S lines."""
    found = tile((4, 8, 600, 64), (4, 1, 600, 64))
    assert found.data["coreData"] == 15 * 64
    assert found.shares[0].loops == (
        Loop("lines", 15, 1, 15),
        Loop("batches of cos", 1, 4, 1),
        Loop("dy tiles per cos tile", 1, 8, 1),
    )


def test_padded_rows() -> None:
    """Halves of 18 take 32 elements of 16 bits, so 64 elements, one vector repeat, hold one line."""
    found = tile((512, 2, 4, 36), (512, 1, 1, 36), "float16")
    data = found.data
    assert found.key == 1120
    assert [data[f] for f in ("halfDimDAlignNum", "alignUbSize", "calcUbSize")] == [32, 4864, 4864 // 64 * 36]


@pytest.mark.parametrize(("heads", "front", "tail"), [(16, (1, 103, 0), (1, 102, 0)), (8, (2, 52, 1), (2, 51, 0))])
def test_interleave(heads: int, front: tuple[int, ...], tail: tuple[int, ...]) -> None:
    found = tile((4096, 1, heads, 128), (4096, 1, 1, 128), mode=1)
    data = found.data
    assert (found.key, found.block_dim, found.path) == (20010, 40, "small")
    assert tuple(data[f] for f in ("seqFrontCalcNum", "seqFrontCalcLoop", "seqFrontCalcTail")) == front
    assert tuple(data[f] for f in ("seqTailCalcNum", "seqTailCalcLoop", "seqTailCalcTail")) == tail


@pytest.mark.parametrize(
    ("dy", "cos", "prefix", "length", "loops", "tail"),
    [
        ((2, 50, 40, 128), (1, 50, 1, 128), "numHeads", 20, 2, 0),  # BSND: 196320 // (128 * 76) = 20
        ((50, 2, 40, 128), (50, 1, 1, 128), "batchNumHeads", 20, 4, 0),
        ((2, 40, 50, 128), (1, 1, 50, 128), "batchNumHeads", 21, 4, 17),  # BNSD: 72 B per element
        ((3, 50, 10, 128), (1, 50, 1, 128), "numHeads", 20, 1, 10),  # one batch fits, three do not
    ],
)
def test_interleave_large(
    dy: tuple[int, ...], cos: tuple[int, ...], prefix: str, length: int, loops: int, tail: int
) -> None:
    found = tile(dy, cos, mode=1)
    assert (found.key, found.path) == (20110, "large")
    assert [found.data[f"{prefix}{part}"] for part in ("Length", "Loop", "Tail")] == [length, loops, tail]
    assert found.data["seqFrontCalcNum"] == 0


DY, COS = (64, 1, 16, 128), (64, 1, 1, 128)
REFUSALS = {
    "mode 2": ({"mode": "quarter"}, "mode is 2; on A2 and A3 allowed are 0 (half) and 1 (interleave)"),
    "mode 4": ({"mode": 4}, "mode is 4; allowed are 0 (half), 1 (interleave), 2 (quarter), 3 (interleave-half)"),
    "mode 4 in 8.3": ({"mode": 4, "cann": "8.3"}, "mode is 4; on A2 and A3 allowed are 0 (half) and 1 (interleave)"),
    "x shape": (
        {"x": (64, 1, 8, 128)},
        "x is (64, 1, 8, 128) and dy (64, 1, 16, 128); they must have the same shape",
    ),
    "long": ({"dy": (64, 1, 16, 898), "cos": (64, 1, 1, 898)}, "the last dim is 898; half mode takes at most 896"),
    "layout": (
        {"dy": (2, 3, 4, 128), "cos": (1, 1, 1, 128)},
        "dy is (2, 3, 4, 128) and cos (1, 1, 1, 128); half mode takes cos 1S1D, BS1D, 11SD, B1SD, S11D, SB1D or the "
        "shape of dy",
    ),
    "small unified buffer": (
        {"ub_bytes": 24000},
        "the last dim, 128, is too large for 23744 B of unified buffer: 128 elements are worked on at once, 90 fit",
    ),
    "interleaved layout": (
        {"dy": (4, 8, 16, 128), "cos": (4, 8, 1, 128), "mode": 1},
        "dy is (4, 8, 16, 128) and cos (4, 8, 1, 128); interleaved mode takes cos (1, S, 1, D), (1, 1, S, D), "
        "(S, 1, 1, D) or (T, 1, D)",
    ),
    "interleaved, many heads": (
        {"dy": (64, 10, 100, 16), "cos": (64, 1, 1, 16), "mode": 1},
        "B * N is 1000; interleaved mode takes fewer than 1000",
    ),
    "interleaved, small unified buffer": (
        {"ub_bytes": 8000, "mode": 1},
        "one row needs 9728 B of unified buffer, 7712 B are there: the last dim, 128, is too large",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refused(name: str) -> None:
    changes, text = REFUSALS[name]
    with pytest.raises(TilingError) as refused:
        tile(**{"dy": DY, "cos": COS, **changes})
    assert str(refused.value) == f"RotaryPositionEmbeddingGrad: {text}"


def test_infer_shapes() -> None:
    inputs = {"dy": ((64, 2, 64), "float32"), "cos": ((64, 1, 64), "float32"), "sin": ((64, 1, 64), "float32")}
    assert ascend_sim.infer_shapes("rotary_position_embedding_grad", inputs) == [(64, 2, 64)]
    inputs["x"] = inputs["dy"]
    assert ascend_sim.infer_shapes("rotary_position_embedding_grad", inputs) == [(64, 2, 64), (64, 1, 64), (64, 1, 64)]


@settings(max_examples=300, deadline=None)
@given(
    x=st.tuples(*[st.one_of(st.integers(1, 3), st.integers(1, 200))] * 3),
    keep=st.tuples(*[st.booleans()] * 3),
    half=st.integers(1, 100),
    dtype=st.sampled_from(["float16", "bfloat16", "float32"]),
    mode=st.sampled_from([0, 1]),
    cores=st.integers(1, 64),
    with_x=st.booleans(),
)
def test_invariants(
    x: tuple[int, ...], keep: tuple[bool, ...], half: int, dtype: str, mode: int, cores: int, with_x: bool
) -> None:
    dy = (*x, 2 * half)
    cos = (*(dim if kept else 1 for dim, kept in zip(x, keep, strict=True)), 2 * half)
    try:
        found = tile(dy, cos, dtype, mode, dy if with_x else None, cores=cores)
    except TilingError:
        return
    assert 1 <= found.block_dim == sum(share.cores for share in found.shares) <= cores
    assert found.ub_used_bytes <= found.ub_bytes == 196352
    rows = 0
    for share in found.shares:
        passes = 1
        for loop in share.loops[1:]:
            passes *= loop.total
        assert share.loops[0].total == share.rows
        rows += share.cores * share.rows * (found.data["batchSize"] * found.data["numHeads"] if mode else passes)
    assert rows == x[0] * x[1] * x[2]
