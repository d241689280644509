"""Host tiling of apply_rotary_pos_emb on the 950: published cases and numbers worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from helpers import published

import ascend_sim
from ascend_sim.host.tiling import CoreShare, Loop, Tiling, UbBuffer

OP = "apply_rotary_pos_emb"


@pytest.mark.parametrize("case", published.cases(__file__, "cases_ascend950.json"), ids=lambda case: case["name"])
def test_published_case(case: dict[str, Any]) -> None:
    published.check(OP, case, "ascend950")


def tile(
    query: tuple[int, ...],
    key: tuple[int, ...],
    cos: tuple[int, ...],
    layout: int = 1,
    mode: str = "half",
    dtype: str = "float16",
    **kwargs: Any,
) -> Tiling:
    inputs = {"query": (query, dtype), "key": (key, dtype), "cos": (cos, dtype), "sin": (cos, dtype)}
    return ascend_sim.tiling(OP, inputs, {"layout": layout, "rotary_mode": mode}, "ascend950", **kwargs)


def fields(tiling: Tiling) -> dict[str, int | str]:
    """The fields that are not 0."""
    return {name: value for name, value in tiling.data.items() if value != 0}


def test_template_ab() -> None:
    """2048 positions, 32 a core; 63488 // 256 = 248 rows: 10 heads and cos, 22 positions a step."""
    found = tile((2, 1024, 8, 128), (2, 1024, 2, 128), (2, 1024, 1, 128))
    assert (found.key, found.block_dim, found.path, found.ub_bytes) == (20030, 64, "AB", 253952)
    assert found.workspace_bytes == 16777216
    assert found.meaning == "template AB, float16, half: one cos row per position, for all its heads"
    assert fields(found) == {
        "B": 2,
        "CosB": 2,
        "S": 1024,
        "D": 128,
        "QN": 8,
        "KN": 2,
        "dAlign": 128,
        "dSplitCoef": 2,
        "blockNumBS": 64,
        "blockFactorBS": 32,
        "blockTailBS": 32,
        "ubFactorBS": 22,
        "ubLoopN": 1,
        "ubFactorN": 10,
        "ubTailN": 10,
        "rotaryMode": 1,
        "realDim": 128,
        "path": "AB",
    }
    assert found.words == (2, 2, 1024, 128, 8, 2, 128, 2, 64, 32, 32, 22, 1, 10, 10, 1, 128, 0)
    assert found.shares == (
        CoreShare("front", 64, 320, "lines", (Loop("positions", 22, 2, 10), Loop("heads", 10, 1, 10))),
    )
    assert found.buffers == (
        UbBuffer("inQueQK", 56320, 2),
        UbBuffer("inQueCos", 5632, 2),
        UbBuffer("inQueSin", 5632, 2),
        UbBuffer("outQueQK", 56320, 2),
    )


def test_template_ab_cuts_the_list_of_query_and_key_heads() -> None:
    """15 rows of 1024 floats, one of them cos: 40 heads in 3 steps of 14, 14, 12."""
    found = tile((5, 30, 1024), (5, 10, 1024), (5, 1, 1024), layout=4, dtype="float32")
    assert found.key == 20030
    assert [found.data[f] for f in ("ubLoopN", "ubFactorN", "ubTailN", "ubFactorBS")] == [3, 14, 12, 1]
    assert [found.data[f] for f in ("B", "CosB", "S", "QN", "KN")] == [1, 1, 5, 30, 10]


def test_sbnd_with_one_cos_for_all_batches_merges_them_into_heads() -> None:
    shared = tile((70, 3, 8, 128), (70, 3, 2, 128), (70, 1, 1, 128), layout=2)
    assert (shared.key, shared.block_dim) == (20030, 35)
    names = ("B", "CosB", "S", "QN", "KN", "blockFactorBS", "blockTailBS", "ubFactorN")
    assert [shared.data[f] for f in names] == [3, 1, 70, 24, 6, 2, 2, 30]
    own = tile((70, 3, 8, 128), (70, 3, 2, 128), (70, 3, 1, 128), layout=2)
    assert [own.data[f] for f in names] == [3, 3, 70, 8, 2, 4, 2, 10]
    assert own.block_dim == 53


@pytest.mark.parametrize(
    ("mode", "code", "parts", "align"), [("half", 1, 2, 64), ("interleave", 2, 1, 48), ("quarter", 3, 4, 64)]
)
def test_parts_of_a_row_are_padded_apart(mode: str, code: int, parts: int, align: int) -> None:
    """The first 36 of 128 halves: 2 x 18, 36 or 4 x 9 elements, each padded to 16."""
    found = tile((2, 64, 8, 128), (2, 64, 2, 128), (2, 64, 1, 36), mode=mode)
    names = ("rotaryMode", "dSplitCoef", "dAlign", "realDim", "isPartialRope")
    assert [found.data[f] for f in names] == [code, parts, align, 36, 1]
    assert found.meaning == (
        f"template AB, float16, {mode}: one cos row per position, for all its heads, the first 36 of 128 elements"
    )


def test_template_bab() -> None:
    """992 rows of 256 B, a quarter 248: the more of 8 and 2 heads and cos 27 times; 2 x 32 cores of 32 positions."""
    found = tile((2, 1024, 8, 128), (2, 1024, 2, 128), (1, 1024, 1, 128))
    assert (found.key, found.block_dim, found.path) == (20020, 64, "BAB")
    assert fields(found) == {
        "B": 2,
        "S": 1024,
        "D": 128,
        "QN": 8,
        "KN": 2,
        "path": "BAB",
        "blockNumB": 2,
        "blockFactorB": 1,
        "blockNumS": 32,
        "blockFactorS": 32,
        "ubFactorS": 27,
        "ubFactorB": 1,
        "ubLoopNumQN": 1,
        "ubFactorQN": 8,
        "ubTailFactorQN": 8,
        "ubLoopNumKN": 1,
        "ubFactorKN": 2,
        "ubTailFactorKN": 2,
        "rotaryMode": 1,
        "realDim": 128,
    }
    assert found.words[1] == 0  # CosB is not set here
    assert found.shares == (
        CoreShare("front", 64, 320, "lines", (Loop("batches", 1, 1, 1), Loop("positions", 27, 2, 5))),
    )


def test_template_bab_cuts_query_and_key_heads_apart() -> None:
    """62 rows of 4096 B, a quarter 15, one of them cos: 33 query heads in 3 steps of 11, 15 key heads in 8 and 7."""
    found = tile((2, 8, 33, 1024), (2, 8, 15, 1024), (1, 8, 1, 1024), dtype="float32")
    names = ("ubLoopNumQN", "ubFactorQN", "ubTailFactorQN", "ubLoopNumKN", "ubFactorKN", "ubTailFactorKN", "ubFactorS")
    assert [found.data[f] for f in names] == [3, 11, 11, 2, 8, 7, 1]


def test_template_aba() -> None:
    """248 rows: 24 positions at 10 rows each, 8 heads (the more of 8 and 2), 10 // 9 = 1 batch."""
    found = tile((128, 8, 24, 128), (128, 2, 24, 128), (128, 1, 24, 128), layout=3)
    assert (found.key, found.block_dim, found.path) == (20010, 64, "ABA")
    assert fields(found) == {
        "B": 128,
        "CosB": 128,
        "S": 24,
        "D": 128,
        "QN": 8,
        "KN": 2,
        "path": "ABA",
        "blockNumB": 64,
        "blockFactorB": 2,
        "blockNumS": 1,
        "blockFactorS": 24,
        "ubFactorS": 24,
        "ubFactorB": 1,
        "ubFactorQN": 8,
        "ubFactorKN": 8,
        "rotaryMode": 1,
        "realDim": 128,
    }


def test_template_ba() -> None:
    """4 positions at 62 rows each, less cos: 3 heads, 61 // 3 = 20 batches."""
    found = tile((160, 3, 4, 128), (160, 1, 4, 128), (1, 1, 4, 128), layout=3, cores=4)
    assert (found.key, found.path) == (20011, "BA")
    assert [found.data[f] for f in ("ubFactorS", "ubFactorQN", "ubFactorKN", "ubFactorB")] == [4, 3, 3, 20]


def test_aba_counts_whole_rows_where_a_part_rotates() -> None:
    whole = tile((3, 8, 700, 128), (3, 2, 700, 128), (3, 1, 700, 128), layout=3)
    part = tile((3, 8, 700, 128), (3, 2, 700, 128), (3, 1, 700, 32), layout=3)
    assert [part.data[f] for f in ("ubFactorS", "ubFactorQN")] == [whole.data[f] for f in ("ubFactorS", "ubFactorQN")]


@pytest.mark.parametrize(
    ("shapes", "layout", "key", "text"),
    [
        (
            ((1024, 20, 128), (1024, 20, 128), (1024, 1, 128)),
            3,
            20010,
            "query, key and cos have 3, 3 and 3 dims, the layout has 4; the host code does not check it and takes the "
            "wrong axes, with which the kernel would leave the tensors",
        ),
        (
            ((16, 4, 64, 2), (16, 4, 64, 2), (16, 1, 64, 2)),
            4,
            20030,
            "query, key and cos have 4, 4 and 4 dims, the layout has 3; the host code does not check it and takes the "
            "wrong axes, with which the kernel would leave the tensors",
        ),
        (
            ((2, 8, 4, 64), (2, 8, 4, 32), (1, 8, 1, 64)),
            1,
            20020,
            "the last dim of query is 64 and that of key 32; the host code does not check it, but the kernel walks key "
            "with the rows of query",
        ),
        (
            ((2, 8, 4, 64), (2, 8, 4, 64), (2, 8, 1, 33)),
            1,
            20030,
            "the last dim of cos is 33; the host code does not check it, but the kernel needs a multiple of 2 in mode "
            "half",
        ),
    ],
)
def test_what_the_host_lets_pass_and_cannot_run(shapes: Any, layout: int, key: int, text: str) -> None:
    found = tile(*shapes, layout=layout)
    assert (found.key, found.not_runnable) == (key, text)
