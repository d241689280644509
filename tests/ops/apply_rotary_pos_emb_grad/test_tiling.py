"""Host tiling of apply_rotary_pos_emb_grad: published cases and numbers worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from helpers import published

import ascend_sim
from ascend_sim.errors import UnsupportedError
from ascend_sim.host.tiling import CoreShare, Loop, Tiling, UbBuffer

OP = "apply_rotary_pos_emb_grad"
NOTE = (
    "words 0 to 65 are those of CANN's reduce library, which is not modelled; so are its part of the workspace and of "
    "the block dim, and its loop counts in the key are those of sums that fit UB"
)


@pytest.mark.parametrize("case", published.cases(__file__, "cases_ascend950.json"), ids=lambda case: case["name"])
def test_published_case(case: dict[str, Any]) -> None:
    published.check(OP, case, "ascend950")


@pytest.mark.parametrize("case", published.cases(__file__, "shapes.json"), ids=lambda case: case["name"])
def test_published_shapes(case: dict[str, Any]) -> None:
    published.check_shapes(OP, case)


def tile(
    query: tuple[int, ...],
    k_heads: int,
    cos: tuple[int, ...],
    layout: int = 1,
    dtype: str = "float16",
    values: bool = False,
    **kwargs: Any,
) -> Tiling:
    key = (*query[:-2], k_heads, query[-1])
    shapes = {"grad_query_embed": query, "grad_key_embed": key, "cos": cos, "sin": cos}
    shapes |= {"query": query, "key": key} if values else {}
    return ascend_sim.tiling(OP, {name: (s, dtype) for name, s in shapes.items()}, {"layout": layout}, **kwargs)


def params(tiling: Tiling, struct: str) -> dict[str, int | str]:
    """The fields of one struct that are not 0."""
    head = f"{struct}."
    return {name[len(head) :]: value for name, value in tiling.data.items() if name.startswith(head) and value != 0}


def test_template_bab() -> None:
    """992 rows of 256 B, 124 for 8 buffers each: 8 heads and cos 13 times; 2 x 32 cores of 32 positions."""
    found = tile((2, 1024, 8, 128), 2, (1, 1024, 1, 128))
    assert (found.soc, found.key, found.block_dim, found.path) == ("ascend950", 1, 64, "BAB")
    assert found.meaning == "template BAB, float16: one cos row per position, for all batches and their heads"
    assert params(found, "ropeGradParams") == {
        "b": 2,
        "s": 1024,
        "d": 128,
        "nQ": 8,
        "nK": 2,
        "usedCoreNum": 64,
        "blockNumB": 2,
        "blockFactorB": 1,
        "blockNumS": 32,
        "blockFactorS": 32,
        "ubFactorS": 13,
        "ubLoopNumN": 1,
        "ubFactorN": 8,
        "ubTailFactorN": 8,
    }
    assert params(found, "ropeGradABParams") == {}
    assert [found.data[f] for f in ("template", "dCosFlag", "layout", "reduceKey")] == [203, 0, 0, 1]
    assert found.workspace_bytes == 2 * 2 * 1024 * 8 * 128 * 2  # twice the larger of query and key
    assert found.words[:66] == (0,) * 66
    assert (len(found.words), found.notes) == (101, ())
    assert found.shares == (
        CoreShare(
            *("front", 64, 256, "heads"),
            (Loop("batches", 1, 1, 1), Loop("positions", 13, 3, 6), Loop("heads", 8, 1, 8)),
        ),
    )
    assert found.buffers == (
        UbBuffer("cosIn", 3328, 2),
        UbBuffer("sinIn", 3328, 2),
        *(UbBuffer(name, 26624, 2) for name in ("gradQIn", "gradKIn", "gradQOut", "gradKOut")),
    )


def test_grad_cos_takes_room_for_partial_sums() -> None:
    """992 rows, 49 for 20 buffers each: 5 times 8 heads and cos. The partial sums are float32."""
    found = tile((2, 1024, 8, 128), 2, (1, 1024, 1, 128), values=True)
    assert found.key == 41281 + (1 << 34)
    assert found.meaning.endswith(", with grad_cos and grad_sin")
    assert [found.data[f] for f in ("dCosFlag", "reduceKey", "ropeGradParams.dCosFlag")] == [1, 41281, 1]
    assert found.data["ropeGradParams.ubFactorS"] == 5
    assert found.workspace_bytes == 2 * 2 * 1024 * 8 * 128 * 4
    assert [(b.name, b.nbytes) for b in found.buffers] == [
        *(("cosIn", 1280), ("sinIn", 1280)),
        *((name, 10240) for name in ("gradQIn", "gradKIn", "gradQOut", "gradKOut", "queryIn", "keyIn")),
        *(("gradCosOut", 20480), ("gradSinOut", 20480)),
    ]
    assert found.words[:66] == (None,) * 66
    assert found.words[66:71] == (2, 1024, 128, 8, 2)
    assert (found.words[-1], found.notes) == (1, (NOTE,))
    wide = tile((2, 1024, 8, 128), 2, (1, 1024, 1, 128), values=True, dtype="float32")
    assert wide.data["ropeGradParams.ubFactorS"] == 3  # 496 rows of 512 B, 31 for 16 buffers each


def test_heads_are_cut_evenly() -> None:
    """62 rows of 4096 B, 7 for 8 buffers each, one of them cos: 33 heads in 6 steps of 6 and the last of 3."""
    found = tile((1, 3, 33, 1024), 2, (1, 3, 1, 1024), dtype="float32")
    names = ("ubLoopNumN", "ubFactorN", "ubTailFactorN", "ubFactorS")
    assert [found.data[f"ropeGradParams.{name}"] for name in names] == [6, 6, 3, 1]


def test_template_ab() -> None:
    """2048 positions, 32 a core; 31744 // 256 = 124 rows: 8 heads and cos 13 times."""
    found = tile((2, 1024, 8, 128), 2, (2, 1024, 1, 128))
    assert (found.key, found.block_dim, found.path) == (1 + (1 << 26), 64, "AB")
    first = {"b": 2, "s": 1024, "d": 128, "nQ": 8, "nK": 2}
    assert params(found, "ropeGradParams") == first
    assert params(found, "ropeGradABParams") == {
        **first,
        "dAlign": 128,
        "dSplitCoef": 2,
        "usedCoreNum": 64,
        "blockNumBS": 64,
        "blockFactorBS": 32,
        "blockTailBS": 32,
        "blockNumN": 1,
        "blockFactorN": 8,
        "blockTailN": 8,
        "ubFactorBS": 13,
        "ubFactorN": 8,
    }
    assert (found.data["template"], found.data["layout"], found.words[-1]) == (204, 1, 1 << 32)


def test_template_ab_merges_batches_into_heads() -> None:
    """20 positions of 3 x 5 heads: 60 cores with 5 heads each; sums go over the run (batches, heads)."""
    found = tile((20, 3, 5, 128), 2, (20, 1, 1, 128), layout=2, values=True)
    assert (found.key, found.block_dim) == (10321 + (1 << 26) + (1 << 34), 60)
    assert [found.data[f"ropeGradParams.{f}"] for f in ("nQ", "nK")] == [5, 2]
    names = ("nQ", "nK", "blockNumBS", "blockNumN", "blockFactorN")
    assert [found.data[f"ropeGradABParams.{f}"] for f in names] == [15, 6, 20, 3, 5]
    assert found.words[-1] == 1 | 1 << 32


REDUCE = {
    "heads alone": ((2, 64, 4, 128), 4, (2, 64, 1, 128), 1, 10321),
    "one batch": ((1, 64, 4, 128), 4, (1, 64, 1, 128), 1, 10321),
    "batches alone": ((2, 64, 1, 128), 1, (1, 64, 1, 128), 1, 10321),
    "batches and heads": ((2, 64, 4, 128), 4, (1, 64, 1, 128), 1, 41281),
    "heads of key alone": ((2, 64, 1, 128), 3, (1, 64, 1, 128), 1, 41281),
    "neighbouring batches and heads": ((64, 2, 4, 128), 4, (64, 1, 1, 128), 2, 10321),
    "tokens": ((64, 4, 128), 4, (64, 1, 128), 4, 10321),
    "an axis of one index between": ((2, 1, 4, 128), 4, (1, 1, 1, 128), 1, 10321),
    "nothing": ((64, 1, 128), 1, (64, 1, 128), 4, 1),
}


@pytest.mark.parametrize("what", REDUCE)
def test_reduce_part_of_the_key(what: str) -> None:
    query, k_heads, cos, layout, reduce_key = REDUCE[what]
    found = tile(query, k_heads, cos, layout, values=True)
    assert found.data["reduceKey"] == reduce_key
    assert found.key == reduce_key + ((found.data["template"] - 203) << 26) + (1 << 34)


def test_template_a() -> None:
    """2048 heads, 32 a core; 12 rows of 256 B a head: 82 fit."""
    found = tile((2, 1024, 1, 128), 1, (2, 1024, 1, 128))
    assert (found.key, found.block_dim, found.path) == (1 + (2 << 26), 64, "A")
    assert params(found, "ropeGradParams") == {
        "b": 2048,
        "s": 1,
        "d": 128,
        "nQ": 1,
        "nK": 1,
        "usedCoreNum": 64,
        "layout": 3,
        "blockNumB": 64,
        "blockFactorB": 32,
        "blockNumS": 1,
        "blockFactorS": 1,
        "ubFactorS": 32,
        "ubLoopNumN": 1,
        "ubFactorN": 1,
        "ubTailFactorN": 1,
    }
    assert found.words[-1] == 3 << 32
    assert found.workspace_bytes == 2 * 2048 * 128 * 2
    assert found.shares == (CoreShare("front", 64, 32, "heads", (Loop("heads", 32, 1, 32),)),)


def test_template_a_with_grad_cos() -> None:
    """Its last phase needs 12 x 128 x 6 + 5 x 512 = 11776 B a head, of which 21 fit. The library has no part in it."""
    found = tile((64, 2, 24, 128), 24, (64, 2, 24, 128), layout=2, values=True)
    assert (found.key, found.path) == (1 + (2 << 26) + (1 << 34), "A")
    assert found.data["ropeGradParams.ubFactorS"] == 21
    assert found.data["ropeGradParams.dCosFlag"] == 0  # the host code sets the common one alone
    assert (found.data["dCosFlag"], found.notes) == (1, ())
    assert found.words[:66] == (0,) * 66
    assert found.workspace_bytes == 2 * 3072 * 128 * 2 + (16 << 20)
    assert found.ub_used_bytes == 21 * 11776
    assert [(b.name, b.nbytes, b.count) for b in found.buffers] == [
        *((name, 21 * 768, 2) for name in ("gradQIn", "queryIn", "queryRotIn", "gradKIn", "keyIn", "keyRotIn")),
        *((name, 21 * 512, 2) for name in ("gradCosOut", "gradSinOut")),
        ("tmp", 21 * 512, 1),
    ]


@pytest.mark.parametrize(("dim", "limit"), [(32, 4095), (36, 2047)])
def test_template_a_copies_whole_rows_where_halves_fill_blocks(dim: int, limit: int) -> None:
    found = tile((9000, 1, dim), 1, (9000, 1, dim), layout=4, cores=2, ub_bytes=10_000_000)
    assert found.data["ropeGradParams.ubFactorS"] == limit


def test_one_row_alone_overflows_the_unified_buffer() -> None:
    """With 8 rows the host code counts one, too few for a head and its cos, and goes on."""
    found = tile((1, 3, 2, 128), 2, (1, 3, 1, 128), ub_bytes=8 * 256)
    assert found.data["ropeGradParams.ubFactorN"] == 1
    assert found.not_runnable == (
        "its buffers take 3072 B of unified buffer, 2048 B are there; the host code lets this pass"
    )


def test_only_the_950_has_it() -> None:
    with pytest.raises(UnsupportedError) as refused:
        tile((2, 64, 1, 128), 1, (2, 64, 1, 128), soc="ascend910_93")
    assert str(refused.value) == (
        f"{OP} is not supported by the operator library on ascend910_93; it exists on ascend950"
    )
