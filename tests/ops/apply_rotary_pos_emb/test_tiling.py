"""Host tiling of apply_rotary_pos_emb on A2/A3: published cases, which pin every word, and what they leave open."""

from __future__ import annotations

from typing import Any

import pytest
from helpers import published

import ascend_sim
from ascend_sim.host.tiling import CoreShare, Loop, Tiling, UbBuffer

OP = "apply_rotary_pos_emb"


@pytest.mark.parametrize("case", published.cases(__file__, "cases_ascend910b.json"), ids=lambda case: case["name"])
@pytest.mark.parametrize("soc", ["ascend910b", "ascend910_93"])
def test_published_case(case: dict[str, Any], soc: str) -> None:
    published.check(OP, case, soc)


@pytest.mark.parametrize("case", published.cases(__file__, "shapes.json"), ids=lambda case: case["name"])
def test_published_shapes(case: dict[str, Any]) -> None:
    published.check_shapes(OP, case)


def tile(
    query: tuple[int, ...], k_heads: int, dim: int = 0, dtype: str = "float16", attrs: Any = None, **kwargs: Any
) -> Tiling:
    *lead, _, q_dim = query
    rope = ((*lead, 1, dim or q_dim), dtype)
    inputs = {"query": (query, dtype), "key": ((*lead, k_heads, q_dim), dtype), "cos": rope, "sin": rope}
    return ascend_sim.tiling(OP, inputs, attrs or {"layout": 1}, **kwargs)


def test_one_position_a_core() -> None:
    found = tile((40, 1, 8, 128), 2, dtype="bfloat16")
    assert (found.key, found.block_dim, found.path) == (1, 40, "small")
    assert found.meaning == "bfloat16: one position a core"
    assert found.shares == (CoreShare("front", 40, 1, "positions", ()),)
    assert found.buffers == (
        UbBuffer("cosInQueue", 256, 1),
        UbBuffer("sinInQueue", 256, 1),
        UbBuffer("qInQueue", 5120, 1),
        UbBuffer("qOutQueue", 5120),
        UbBuffer("mul1", 5120),
        UbBuffer("mul2", 5120),
        UbBuffer("cosCast", 512),
        UbBuffer("sinCast", 512),
    )


def test_one_position_a_core_needs_less_room_than_a_piece() -> None:
    """190 heads of 64 halves are 24320 B, needed 4 times for one position a core and 5 times for a piece."""
    small, piece = 4 * 24320 + 2 * 128, 5 * 24320 + 4 * 128
    assert tile((4, 1, 100, 64), 90, ub_bytes=small).key == 1
    with pytest.raises(ascend_sim.TilingError, match="one position needs 122112 B"):
        tile((4, 1, 100, 64), 90, ub_bytes=small - 1)
    assert tile((80, 1, 100, 64), 90, ub_bytes=piece).key == 4


def test_rounds_with_one_store() -> None:
    """30 heads of 128 halves are 7680 B: 39424 B a piece, 4 fit 196608 B, and 38912 B more hold another (24064 B)."""
    found = tile((640, 1, 15, 128), 15, cores=40, ub_bytes=196608)
    assert (found.key, found.path) == (3, "ab")
    assert found.meaning == "float16: pieces of 5 positions, computed 4 at a time"
    assert found.shares == (CoreShare("front", 40, 16, "positions", (Loop("positions", 5, 4, 1),)),)
    assert found.buffers == (
        UbBuffer("cosInQueue", 1280, 2),
        UbBuffer("sinInQueue", 1280, 2),
        UbBuffer("qInQueue", 38400, 2),
        UbBuffer("qOutQueue", 38400),
        UbBuffer("mul1", 30720),
        UbBuffer("mul2", 30720),
    )
    assert found.ub_used_bytes <= 196608


def test_bfloat16_computes_pieces_at_once() -> None:
    found = tile((2, 64, 8, 128), 2, dtype="bfloat16")
    assert (found.key, found.block_dim, found.path) == (4, 32, "ab_cast")
    assert found.meaning == "bfloat16: pieces of 4 positions"
    assert found.shares == (CoreShare("front", 32, 4, "positions", (Loop("positions", 4, 1, 4),)),)
    assert [found.data[f] for f in ("preCBatchB", "preCLTimes", "preCBatchL", "lastCBatchL")] == [4, 0, 4, 4]
    assert [(b.name, b.nbytes) for b in found.buffers[-2:]] == [("cosCast", 2048), ("sinCast", 2048)]


def test_the_last_core_takes_what_is_left() -> None:
    found = tile((1, 123, 8, 128), 2)
    assert (found.block_dim, found.data["lastCBatchL"]) == (31, 3)
    assert found.shares == (
        CoreShare("front", 30, 4, "positions", (Loop("positions", 4, 1, 4),)),
        CoreShare("tail", 1, 3, "positions", (Loop("positions", 4, 1, 3),)),
    )


def test_the_first_half_of_the_row() -> None:
    found = tile((2, 64, 8, 128), 2, dim=64)
    assert found.meaning == "float16: pieces of 4 positions, the first 64 of 128 elements"
    names = ("lastDim", "halfNum", "qDim3", "kDim3", "qCoreOffset", "kCoreOffset", "cosCoreOffset", "blockMoveQ")
    assert [found.data[f] for f in names] == [64, 32, 128, 128, 4 * 8 * 128, 4 * 2 * 128, 4 * 64, 4]
    assert not found.warnings


def test_the_rotary_mode_is_not_read() -> None:
    found = tile((2, 64, 8, 128), 2, attrs={"layout": "BSND", "rotary_mode": "interleave"})
    assert found.words == tile((2, 64, 8, 128), 2).words
    assert found.warnings == (
        "rotary_mode is 'interleave'; A2 and A3 do not read it and rotate halves, as on the chip",
    )


def test_key_rows_of_another_length_cannot_run() -> None:
    rope = ((2, 64, 1, 64), "float16")
    inputs = {"query": ((2, 64, 8, 64), "float16"), "key": ((2, 64, 2, 128), "float16"), "cos": rope, "sin": rope}
    found = ascend_sim.tiling(OP, inputs, {"layout": 1}, "ascend910b")
    assert (found.key, found.data["kDim3"]) == (4, 128)
    assert found.not_runnable == (
        "the last dim of query is 64 and that of key 128; the host code does not check it, but the kernel walks key "
        "with the rows of query"
    )
