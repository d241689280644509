"""Ids, cores, several tokens a row, scratch memory; refusals with their statuses."""

from __future__ import annotations

from typing import Any

import pytest
from ascend_sim.oplib.atb_rope.tiling import TILING_FIELDS, scratch_bytes
from hypothesis import given as random
from hypothesis import settings
from hypothesis import strategies as some

import ascend_sim
from ascend_sim.errors import TilingError, UnsupportedError
from ascend_sim.host.tiling import Tiling

from .calls import BF16, CALLS, FLOAT, Call


def tiling(call: Call, **options: Any) -> Tiling:
    return ascend_sim.tiling("atb_rope", call.pairs(), call.attrs, **({"soc": call.soc} | options))


def test_several_tokens_a_row_on_48_cores() -> None:
    """The worked example of the facts: 256 tokens, 2048 columns."""
    found = tiling(Call(256, 2048, 2048, 128, 2), soc="Ascend910B1", ub_bytes=196608)
    assert (found.key, found.block_dim) == (23, 43)
    assert found.words == (4096, 4096, 256, 16, 16, 2, 128, 43, 0, 0, 196608, 2)
    assert tuple(found.data)[: len(TILING_FIELDS)] == TILING_FIELDS


@pytest.mark.parametrize(
    ("call", "key"),
    [
        (Call(63, 256, 256, 64, 2), 20),
        (Call(64, 256, 256, 64, 2), 23),
        (Call(64, 256, 256, 64, 64), 23),
        (Call(64, 256, 256, 64, 2, lengths=(64,)), 20),
        (Call(64, 256, 256, 64, 2, table=FLOAT), 21),
        (Call(3, 256, 256, 64, 2, table=FLOAT), 21),
        (Call(63, 256, 256, 64, 2, BF16, BF16), 22),
        (Call(64, 256, 256, 64, 2, BF16, BF16), 24),
        (Call(64, 256, 256, 64, 2, BF16, BF16, lengths=(64,)), 24),
        (Call(64, 256, 256, 64, 64, BF16, BF16), 22),
        (Call(64, 240, 240, 24, 2, BF16, BF16), 22),
    ],
)
def test_ids(call: Call, key: int) -> None:
    assert tiling(call).key == key


@pytest.mark.parametrize(
    ("call", "multiple"),
    [
        (Call(4096, 64, 64, 64, 2), 64),
        (Call(4095, 64, 64, 64, 2), 63),  # 64 does not divide the tokens
        (Call(1024, 128, 128, 64, 2), 1),  # 32 rows would be too few for 40 cores
        (Call(1280, 128, 128, 64, 2), 32),
        (Call(1280, 4096, 64, 64, 2), 1),
        (Call(1280, 2048, 64, 64, 2), 2),
        (Call(1280, 128, 128, 64, 64), 1),  # neighbours are no whole blocks
        (Call(1280, 128, 128, 64, 2, table=FLOAT), 1),
        (Call(1280, 128, 128, 64, 2, lengths=(1280,)), 1),
        (Call(60, 64, 64, 64, 2), 1),
    ],
)
def test_tokens_a_row(call: Call, multiple: int) -> None:
    found = tiling(call)
    assert found.data["multiple"] == multiple
    assert found.data["ntokens"] == call.tokens // multiple
    assert found.data["headDim"] == call.head_dim * multiple


def test_scratch_memory() -> None:
    found = tiling(Call(10, 240, 48, 24, 2))
    assert found.workspace_bytes == (16 << 20) + 6 * 10 * 10 * 32 * 2 + 10 * 24 * 4 + 10 * 32
    assert scratch_bytes(10, 24, 10, 10)[1] == 320


@settings(deadline=None, max_examples=60)
@random(tokens=some.integers(1, 3000), cores=some.integers(1, 48), heads=some.integers(1, 8))
def test_every_token_has_one_core(tokens: int, cores: int, heads: int) -> None:
    found = tiling(Call(tokens, 64 * heads, 64, 64, 2), cores=cores)
    assert found.block_dim <= cores
    assert sum(share.cores * share.rows for share in found.shares) * int(found.data["multiple"]) == tokens
    assert all(share.rows > 0 for share in found.shares if share.cores)


@pytest.mark.parametrize("name", CALLS)
def test_the_words_are_the_struct(name: str) -> None:
    found = tiling(CALLS[name])
    assert found.words == tuple(found.data[field] for field in TILING_FIELDS)


def test_refusals_carry_the_library_s_status() -> None:
    good = Call(4, 256, 128, 64, 2)
    for change, status, text in (
        ({"q": ((4, 256, 1), "float16")}, 8, "q (4, 256, 1) has 3 dims; allowed: 2 or 4 (ERROR_INVALID_TENSOR_DIM, 8)"),
        ({"k": ((5, 128), "float16")}, 9, "q has 4 tokens, k 5; they must have the same"),
        ({"seqlen": ((1,), "int64")}, 13, "allowed are (float16, float16, float16, float16, int32) or (float16, "),
        ({"q": ((4, 0), "float16")}, 9, "q (4, 0) has 0 B"),
    ):
        with pytest.raises(TilingError) as refused:
            ascend_sim.tiling("atb_rope", good.pairs() | change, good.attrs)
        assert text in str(refused.value)
        assert refused.value.status == status
    with pytest.raises(TilingError) as refused:
        tiling(Call(4, 40, 40, 20, 2))
    assert refused.value.status == 4


def test_partial_rotation_needs_the_tables_columns() -> None:
    """What is asked in public again and again: the size of the whole head where that of the tables is meant."""
    with pytest.raises(TilingError) as refused:
        tiling(Call(4, 256, 128, 64, 128))
    assert str(refused.value) == (
        "AtbRope: rotaryCoeff is 128; allowed are 2, 4 and 64, the columns of cos (not the size of a head that is "
        "rotated only in part) (ERROR_INVALID_PARAM, 1)"
    )


def test_the_950_is_not_among_its_socs() -> None:
    with pytest.raises(UnsupportedError, match=r"^atb_rope is not supported by the operator library on ascend950; "):
        tiling(CALLS["20-halves"], soc="ascend950")
