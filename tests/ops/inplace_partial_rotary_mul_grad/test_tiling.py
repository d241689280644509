"""Host tiling of inplace_partial_rotary_mul_grad: published cases and numbers worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from helpers import published

import ascend_sim
from ascend_sim.errors import UnsupportedError
from ascend_sim.host.tiling import CoreShare, Loop, Tiling, UbBuffer

OP = "inplace_partial_rotary_mul_grad"


@pytest.mark.parametrize("case", published.cases(__file__, "cases_ascend950.json"), ids=lambda case: case["name"])
def test_published_case(case: dict[str, Any]) -> None:
    published.check(OP, case, "ascend950")


@pytest.mark.parametrize("case", published.cases(__file__, "shapes.json"), ids=lambda case: case["name"])
def test_published_shapes(case: dict[str, Any]) -> None:
    published.check_shapes(OP, case)


def tile(
    dy: tuple[int, ...],
    cos: tuple[int, int, int],
    start: int = 0,
    end: int = 64,
    dtype: str = "float16",
    cos_dtype: str = "",
    **kwargs: Any,
) -> Tiling:
    rope = ((*cos, end - start), cos_dtype or dtype)
    attrs = {"partial_slice": [start, end]}
    return ascend_sim.tiling(OP, {"dy": (dy, dtype), "cos": rope, "sin": rope}, attrs, **kwargs)


def fields(tiling: Tiling) -> dict[str, int | str]:
    """The fields that are not 0."""
    return {name: value for name, value in tiling.data.items() if value != 0}


SLICE = {"rotaryMode": 1, "sliceStart": 64, "sliceEnd": 128, "sliceLength": 64, "dSplitCoef": 1}


def test_template_a() -> None:
    """2048 lines on 64 cores; 63488 // 128 = 496 rows, a line and its cos take 2: all 32 lines of a core at once."""
    found = tile((2, 64, 16, 128), (2, 64, 16), 64, 128)
    assert (found.soc, found.key, found.block_dim, found.ub_bytes) == ("ascend950", 205, 64, 253952)
    assert found.meaning == "template A, float16: cos the shape of dy"
    assert fields(found) == {
        **SLICE,
        "b": 2048,
        "s": 1,
        "d": 128,
        "n": 1,
        "usedCoreNum": 64,
        "path": "A",
        "blockNumB": 64,
        "blockFactorB": 32,
        "ubFactorB": 32,
    }
    assert found.shares == (CoreShare("front", 64, 32, "lines", (Loop("lines", 32, 1, 32),)),)
    assert found.buffers == (
        UbBuffer("inQueDy", 4096, 2),
        UbBuffer("inQueCos", 4096, 2),
        UbBuffer("inQueSin", 4096, 2),
        UbBuffer("outQueDx", 4096, 2),
    )


@pytest.mark.parametrize(
    ("dtype", "cos_dtype", "lines"),
    [
        ("float32", "float32", 7),  # 63488 // 4096 = 15 rows, 2 for each line
        ("float32", "bfloat16", 7),  # a shorter cos row counts as a whole one
        ("float16", "float32", 10),  # 31 rows, 3 for each line
        ("bfloat16", "float16", 15),
    ],
)
def test_rows_of_cos_count_in_rows_of_dy(dtype: str, cos_dtype: str, lines: int) -> None:
    found = tile((1, 40, 100, 1024), (1, 40, 100), 0, 1024, dtype, cos_dtype)
    assert found.data["ubFactorB"] == lines
    with_cos = f" with {cos_dtype} cos" if cos_dtype != dtype else ""
    assert found.meaning == f"template A, {dtype}{with_cos}: cos the shape of dy"


def test_template_b() -> None:
    """(253952 - 2 * 4096) // (4 * 2048) = 30 lines a step, beside one cos row in a single buffer."""
    found = tile((8, 64, 16, 1024), (1, 1, 1), 0, 1024, "bfloat16", "float32")
    assert (found.key, found.block_dim, found.path) == (206, 64, "B")
    assert (found.data["b"], found.data["blockFactorB"], found.data["ubFactorB"]) == (8192, 128, 30)
    assert found.buffers[1:3] == (UbBuffer("inQueCos", 4096, 1), UbBuffer("inQueSin", 4096, 1))


def test_template_ab_has_a_struct_of_its_own() -> None:
    """4096 positions of 16 heads: 64 per core; 496 rows: 16 heads and cos, 29 positions a step."""
    found = tile((4, 1024, 16, 128), (4, 1024, 1), 64, 128)
    assert (found.key, found.block_dim, found.path) == (204, 64, "AB")
    assert fields(found) == {
        **SLICE,
        "b": 1024,
        "s": 4,
        "d": 128,
        "n": 16,
        "dAlign": 64,
        "usedCoreNum": 64,
        "path": "AB",
        "blockNumBS": 64,
        "blockFactorBS": 64,
        "blockTailBS": 64,
        "blockNumN": 1,
        "blockFactorN": 16,
        "blockTailN": 16,
        "ubFactorBS": 29,
        "ubFactorN": 16,
    }
    assert found.words == (1024, 4, 128, 16, 64, 1, 64, 64, 64, 1, 16, 16, 29, 16, 64, 1, 64, 128, 64)
    assert [(b.nbytes, b.count) for b in found.buffers] == [(59392, 2), (3712, 2), (3712, 2), (59392, 2)]


def test_template_ab_merges_batches_into_heads() -> None:
    found = tile((20, 3, 5, 128), (20, 1, 1), 64, 128)
    assert (found.key, found.block_dim) == (204, 60)
    assert [found.data[f] for f in ("b", "s", "n", "blockNumBS", "blockNumN", "blockFactorN")] == [3, 20, 15, 20, 3, 5]


def test_template_aba_fills_heads_first() -> None:
    """496 rows: 8 heads and cos 55 times, of which a core has 2 batches; 496 // (2 * 9) = 27 of 50 positions."""
    found = tile((128, 8, 50, 128), (128, 1, 50), 64, 128)
    assert (found.key, found.block_dim, found.path) == (201, 64, "ABA")
    assert fields(found) == {
        **SLICE,
        "b": 128,
        "s": 50,
        "d": 128,
        "n": 8,
        "usedCoreNum": 64,
        "path": "ABA",
        "blockNumB": 64,
        "blockFactorB": 2,
        "blockNumS": 1,
        "blockFactorS": 50,
        "ubFactorS": 27,
        "ubFactorN": 8,
        "ubFactorB": 2,
    }
    assert [b.nbytes for b in found.buffers] == [27 * 2 * 8 * 128, 27 * 2 * 128, 27 * 2 * 128, 27 * 2 * 8 * 128]


def test_template_ba_shares_cos_over_batches() -> None:
    """496 rows: 3 heads and cos 124 times, of which a core has 40 batches; 496 // (40 * 3 + 1) = 4 positions."""
    found = tile((160, 3, 20, 128), (1, 1, 20), 64, 128, cores=4)
    assert (found.key, found.path) == (202, "BA")
    assert [found.data[f] for f in ("ubFactorS", "ubFactorN", "ubFactorB")] == [4, 3, 40]
    assert [b.nbytes for b in found.buffers] == [4 * 3 * 40 * 128, 4 * 128, 4 * 128, 4 * 3 * 40 * 128]


def test_a_cos_for_all_batches_makes_one_head_of_them() -> None:
    found = tile((3, 5, 7, 128), (1, 5, 7), 64, 128)
    assert (found.key, [found.data[f] for f in ("b", "s", "n")]) == (202, [3, 35, 1])


def test_template_bab() -> None:
    """496 rows, all of them used here: 8 heads and cos 55 times, of which a core has 32 positions."""
    found = tile((2, 1024, 8, 128), (1, 1024, 1), 64, 128)
    assert (found.key, found.block_dim, found.path) == (203, 64, "BAB")
    assert fields(found) == {
        **SLICE,
        "b": 2,
        "s": 1024,
        "d": 128,
        "n": 8,
        "usedCoreNum": 64,
        "path": "BAB",
        "blockNumB": 2,
        "blockFactorB": 1,
        "blockNumS": 32,
        "blockFactorS": 32,
        "ubFactorS": 32,
        "ubFactorB": 1,
        "ubLoopNumN": 1,
        "ubFactorN": 8,
        "ubTailFactorN": 8,
    }
    assert found.words == (2, 1024, 128, 8, 2, 1, 32, 32, 32, 1, 1, 8, 8, 64, 1, 64, 128, 64, 1)


def test_template_bab_evens_out_the_heads() -> None:
    """15 rows of 1024 floats, one for cos: 33 heads in 3 steps of 11."""
    found = tile((1, 3, 33, 1024), (1, 3, 1), 0, 1024, "float32")
    assert [found.data[f] for f in ("ubFactorS", "ubLoopNumN", "ubFactorN", "ubTailFactorN")] == [1, 3, 11, 11]


EMPTY = {
    "slice": ((2, 4, 8, 128), (1, 4, 1, 64), (32, 32)),
    "slice without bounds": ((2, 4, 8, 128), (1, 4, 1, 64), (900, 900)),
    "dy": ((2, 0, 8, 128), (2, 0, 1, 64), (0, 64)),
    "last dim of dy": ((2, 4, 8, 0), (2, 4, 1, 0), (0, 64)),
    "cos": ((2, 4, 8, 128), (0, 4, 1, 64), (0, 64)),
    "last dim of cos": ((2, 4, 8, 128), (1, 4, 1, 0), (0, 63)),
}


@pytest.mark.parametrize("what", EMPTY)
def test_noop(what: str) -> None:
    dy, rope, part = EMPTY[what]
    inputs = {"dy": (dy, "float16"), "cos": (rope, "float32"), "sin": (rope, "float32")}
    found = ascend_sim.tiling(OP, inputs, {"partial_slice": part})
    assert (found.key, found.block_dim, found.workspace_bytes, found.is_noop) == (403, 1, 16777216, True)
    start, end = part
    slice_fields = {"sliceStart": start, "sliceEnd": end, "sliceLength": end - start}
    wanted = {"usedCoreNum": 1, "rotaryMode": 1, "path": "noop"} | {k: v for k, v in slice_fields.items() if v}
    assert fields(found) == wanted


def test_only_the_950_has_it() -> None:
    with pytest.raises(UnsupportedError) as refused:
        tile((2, 4, 8, 128), (1, 4, 1), soc="ascend910b")
    assert str(refused.value) == (
        f"{OP} is not supported by the operator library on ascend910b; it exists on ascend950"
    )
