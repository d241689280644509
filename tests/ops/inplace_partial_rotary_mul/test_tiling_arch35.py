"""Host tiling of inplace_partial_rotary_mul on the 950: published cases and numbers worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from helpers import published

import ascend_sim
from ascend_sim.host.tiling import CoreShare, Loop, Tiling, UbBuffer

OP = "inplace_partial_rotary_mul"
CASES = published.cases(__file__, "cases_ascend950.json")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_published_case(case: dict[str, Any]) -> None:
    published.check(OP, case, "ascend950")


def tile(
    x: tuple[int, ...],
    cos: tuple[int, int, int],
    start: int = 0,
    end: int = 64,
    dtype: str = "float16",
    cos_dtype: str = "",
    **kwargs: Any,
) -> Tiling:
    rope = ((*cos, end - start), cos_dtype or dtype)
    attrs = {"partial_slice": [start, end]}
    return ascend_sim.tiling(OP, {"x": (x, dtype), "cos": rope, "sin": rope}, attrs, "Ascend950PR_9589", **kwargs)


def fields(tiling: Tiling) -> dict[str, int | str]:
    """The fields that are not 0."""
    return {name: value for name, value in tiling.data.items() if value != 0}


SLICE = {"rotaryMode": 1, "sliceStart": 64, "sliceEnd": 128, "sliceLength": 64}


def test_template_a() -> None:
    """2048 lines on 64 cores; a line needs 8 rows of 128 B, 248 fit 253952 B: all 32 lines of a core at once."""
    found = tile((2, 64, 16, 128), (2, 64, 16), 64, 128)
    assert (found.key, found.block_dim, found.path, found.ub_bytes) == (20040, 64, "A", 253952)
    assert found.workspace_bytes == 16777216
    assert found.meaning == "template A, float16: cos the shape of x"
    assert fields(found) == {
        **SLICE,
        "B": 2048,
        "CosB": 2048,
        "S": 1,
        "D": 128,
        "N": 1,
        "blockNumB": 64,
        "blockFactorB": 32,
        "ubFactorB": 32,
        "path": "A",
    }
    assert found.shares == (CoreShare("front", 64, 32, "lines", (Loop("lines", 32, 1, 32),)),)
    assert found.buffers == (
        UbBuffer("inQueX", 4096, 2),
        UbBuffer("inQueCos", 4096, 2),
        UbBuffer("inQueSin", 4096, 2),
        UbBuffer("outQueY", 4096, 2),
    )


def test_template_a_in_several_steps_with_a_tail_core() -> None:
    """4100 lines: 65 per core, 63 full cores and 5 on the last; 8 rows of 4096 B: 7 lines a step."""
    found = tile((1, 41, 100, 1024), (1, 41, 100), 0, 1024, "float32")
    assert (found.block_dim, found.data["blockFactorB"], found.data["ubFactorB"]) == (64, 65, 7)
    assert found.shares == (
        CoreShare("front", 63, 65, "lines", (Loop("lines", 7, 10, 2),)),
        CoreShare("tail", 1, 5, "lines", (Loop("lines", 7, 1, 5),)),
    )


@pytest.mark.parametrize(
    ("dtype", "cos_dtype", "key"),
    [
        ("float16", "float16", 20041),  # 253952 // (2 * 2048) = 62; (62 - 1) // 2 = 30
        ("bfloat16", "float32", 20141),  # (253952 - 2 * 4096) // (4 * 2048) = 30
        ("float16", "float32", 20241),
    ],
)
def test_template_b(dtype: str, cos_dtype: str, key: int) -> None:
    found = tile((8, 64, 16, 1024), (1, 1, 1), 0, 1024, dtype, cos_dtype)
    assert (found.key, found.block_dim, found.path) == (key, 64, "B")
    assert found.data["ubFactorB"] == 30
    assert (found.data["B"], found.data["CosB"], found.data["blockFactorB"]) == (8192, 1, 128)
    row = 2048 if cos_dtype == dtype else 4096
    assert found.buffers[1:3] == (UbBuffer("inQueCos", row, 1), UbBuffer("inQueSin", row, 1))


def test_template_ab_with_a_cos_row_per_batch_and_position() -> None:
    """4096 positions of 16 heads: 64 per core; 63488 // 128 = 496 rows: 16 heads + 1 of cos, 29 positions a step."""
    found = tile((4, 1024, 16, 128), (4, 1024, 1), 64, 128)
    assert (found.key, found.block_dim, found.path) == (20030, 64, "AB")
    assert fields(found) == {
        **SLICE,
        "B": 1024,
        "CosB": 1024,
        "S": 4,
        "D": 128,
        "N": 16,
        "dAlign": 64,
        "dSplitCoef": 1,
        "blockNumBS": 64,
        "blockFactorBS": 64,
        "blockTailBS": 64,
        "blockNumN": 1,
        "blockFactorN": 16,
        "blockTailN": 16,
        "ubFactorBS": 29,
        "ubFactorN": 16,
        "path": "AB",
    }
    assert found.shares == (
        CoreShare("front", 64, 1024, "lines", (Loop("positions", 29, 3, 6), Loop("heads", 16, 1, 16))),
    )
    assert [(b.nbytes, b.count) for b in found.buffers] == [(59392, 2), (3712, 2), (3712, 2), (59392, 2)]


def test_template_ab_gives_spare_cores_to_heads() -> None:
    """20 positions (at most half of 64 cores) share cos over 3 batches: 3 cores along the 15 heads of each."""
    found = tile((20, 3, 5, 128), (20, 1, 1), 64, 128)
    data = found.data
    assert (found.key, found.block_dim) == (20030, 60)
    assert [data[f] for f in ("B", "CosB", "S", "N")] == [3, 1, 20, 15]
    assert [data[f] for f in ("blockNumBS", "blockFactorBS", "blockTailBS")] == [20, 1, 1]
    assert [data[f] for f in ("blockNumN", "blockFactorN", "blockTailN")] == [3, 5, 5]
    assert [data[f] for f in ("ubFactorBS", "ubFactorN")] == [1, 5]


def test_template_ab_leaves_room_for_float32_cos() -> None:
    """63488 // 96 = 661 rows of x (48 halves); a row of 48 floats takes 192 B, two of them."""
    found = tile((3, 1, 700, 64), (3, 1, 1), 0, 48, "float16", "float32", cores=1)
    assert (found.key, found.data["ubFactorN"], found.data["ubFactorBS"]) == (20230, 659, 1)
    assert found.ub_used_bytes <= 253952


def test_template_aba_fills_positions_first() -> None:
    """128 batches on 64 cores; 496 rows: 2 x 50 positions at 4 rows each would fit, so 50, then 8 heads, 1 batch."""
    found = tile((128, 8, 50, 128), (128, 1, 50), 64, 128)
    assert (found.key, found.block_dim, found.path) == (20010, 64, "ABA")
    assert fields(found) == {
        **SLICE,
        "B": 128,
        "CosB": 128,
        "S": 50,
        "D": 128,
        "N": 8,
        "path": "ABA",
        "blockNumB": 64,
        "blockFactorB": 2,
        "blockNumS": 1,
        "blockFactorS": 50,
        "ubFactorS": 50,
        "ubFactorN": 8,
        "ubFactorB": 1,
    }
    assert found.shares == (
        CoreShare(
            *("front", 64, 800, "lines"),
            (Loop("positions", 50, 1, 50), Loop("batches", 1, 2, 1), Loop("heads", 8, 1, 8)),
        ),
    )
    assert [b.nbytes for b in found.buffers] == [50 * 8 * 128, 50 * 128, 50 * 128, 50 * 8 * 128]


def test_template_aba_adds_batches_where_all_heads_fit() -> None:
    """4 rows a position, 496 // 4 = 124: (124 - 1 heads left) 3 heads, 124 // (3 + 1) = 31 of 40 batches."""
    found = tile((160, 3, 4, 128), (160, 1, 4), 64, 128, cores=4)
    assert [found.data[f] for f in ("ubFactorS", "ubFactorN", "ubFactorB")] == [4, 3, 31]


def test_template_ba_shares_cos_over_batches() -> None:
    """124 rows a position as above, less one of cos: 3 heads, 123 // 3 = 41 batches, of which a core has 40."""
    found = tile((160, 3, 4, 128), (1, 1, 4), 64, 128, cores=4)
    assert (found.key, found.path) == (20011, "BA")
    assert [found.data[f] for f in ("ubFactorS", "ubFactorN", "ubFactorB", "CosB")] == [4, 3, 40, 1]
    assert [b.nbytes for b in found.buffers] == [4 * 3 * 40 * 128, 4 * 128, 4 * 128, 4 * 3 * 40 * 128]


def test_template_ba_where_positions_alone_fill_ub() -> None:
    """Rows of 1024 floats: 253952 // 16384 = 15, 7 positions at two rows each, none left for more."""
    found = tile((3, 5, 70, 1024), (1, 1, 70), 0, 1024, "float32", cores=7)
    assert [found.data[f] for f in ("ubFactorS", "ubFactorN", "ubFactorB")] == [7, 1, 1]


def test_a_cos_for_all_batches_makes_one_head_of_them() -> None:
    """(1, S, N): every position and head has its row, so S * N positions of one head."""
    found = tile((3, 5, 7, 128), (1, 5, 7), 64, 128)
    assert (found.key, found.path) == (20011, "BA")
    assert [found.data[f] for f in ("B", "CosB", "S", "N")] == [3, 1, 35, 1]


def test_template_bab() -> None:
    """253952 // (4 * 128) = 496 rows, a quarter of them 124: 8 heads and cos 13 times. 2 x 32 cores; B first ties."""
    found = tile((2, 1024, 8, 128), (1, 1024, 1), 64, 128)
    assert (found.key, found.block_dim, found.path) == (20020, 64, "BAB")
    assert fields(found) == {
        **SLICE,
        "B": 2,
        "S": 1024,
        "D": 128,
        "N": 8,
        "path": "BAB",
        "blockNumB": 2,
        "blockFactorB": 1,
        "blockNumS": 32,
        "blockFactorS": 32,
        "ubFactorS": 13,
        "ubFactorB": 1,
        "ubLoopNumN": 1,
        "ubFactorN": 8,
        "ubTailFactorN": 8,
    }
    assert found.shares == (
        CoreShare(
            *("front", 64, 256, "lines"),
            (Loop("batches", 1, 1, 1), Loop("positions", 13, 3, 6), Loop("heads", 8, 1, 8)),
        ),
    )


def test_template_bab_cuts_heads() -> None:
    """3 rows of 1024 floats for one cos row: 2 heads a step, evened out over 7 heads to 4 steps of 2, 2, 2, 1."""
    found = tile((1, 3, 7, 1024), (1, 3, 1), 0, 1024, "float32")
    assert [found.data[f] for f in ("ubFactorS", "ubLoopNumN", "ubFactorN", "ubTailFactorN")] == [1, 4, 2, 1]


def test_template_bab_weighs_cores_by_positions_per_step() -> None:
    """8 batches, 9 positions on 5 cores. B first: 4 x 1 cores, 9 positions; S first: 5 x 1 cores, 2. 36 beats 10."""
    found = tile((8, 9, 2, 64), (1, 9, 1), cores=5)
    names = ("blockNumB", "blockFactorB", "blockNumS", "blockFactorS", "ubFactorS")
    assert [found.data[f] for f in names] == [4, 2, 1, 9, 9]
    large_rows = tile((8, 9, 200, 64), (1, 9, 1), cores=5)  # one position a step: now 5 cores win
    assert [large_rows.data[f] for f in names] == [1, 8, 5, 2, 1]


def test_noop() -> None:
    found = tile((2, 4, 8, 128), (3, 9, 1), 32, 32)
    assert (found.key, found.block_dim, found.workspace_bytes, found.path) == (20040, 1, 16777216, "noop")
    assert fields(found) == {"D": 128, "rotaryMode": 1, "sliceStart": 32, "sliceEnd": 32, "path": "noop"}
    assert found.is_noop


def test_an_empty_cos_is_a_noop_too() -> None:
    rope = ((1, 1, 1, 0), "float32")
    found = ascend_sim.tiling(
        OP,
        {"x": ((2, 4, 8, 127), "bfloat16"), "cos": rope, "sin": rope},
        {"partial_slice": [0, 64]},
        "ascend950",
    )
    assert (found.key, found.is_noop) == (20040, True)


def test_empty_slice_list_means_the_whole_axis() -> None:
    rope = ((2, 4, 1, 128), "float16")
    found = ascend_sim.tiling(
        OP, {"x": ((2, 4, 8, 128), "float16"), "cos": rope, "sin": rope}, {"partial_slice": []}, "ascend950"
    )
    assert (found.key, found.data["sliceStart"], found.data["sliceEnd"]) == (20030, 0, 128)


def test_words_follow_the_struct() -> None:
    found = tile((4, 1024, 16, 128), (4, 1024, 1), 64, 128)
    assert found.words == (
        *[1024, 1024, 4, 128, 16],  # B CosB S D N
        *[0] * 11,  # blocks and steps of the other templates
        *[16, 0],  # ubFactorN ubTailFactorN
        *[1, 64, 1],  # rotaryMode dAlign dSplitCoef
        *[64, 64, 64, 1, 16, 16, 29],  # blockNumBS ... blockTailN ubFactorBS
        *[64, 128, 64],  # slice
        *[0] * 30,  # what A2 and A3 use
    )
    assert tuple(value for name, value in found.data.items() if name != "path") == found.words
