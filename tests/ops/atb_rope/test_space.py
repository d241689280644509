"""The tilings that the kernels of rope take: legal, covering every token and head once, and right."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from ascend_sim.oplib.atb_rope.tiling import TILING_FIELDS, fields_for
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_sim.errors import InputError
from ascend_sim.host.registry import operator_named
from ascend_sim.host.tensors import TensorInfo
from ascend_sim.host.tiling import Tiling, TilingContext
from ascend_sim.soc import load
from tests.ops.helpers.spaces import check_legal, check_right, context_of

from .calls import BF16, CALLS, FLOAT, HALF, Call

OP = operator_named("atb_rope")
CHIP = load("Ascend910B3")
SPACE = OP.space_on(CHIP.name)
HOST = OP.support_on(CHIP.name).tiling
assert HOST is not None


def infos(call: Call) -> dict[str, TensorInfo]:
    return {name: TensorInfo(*pair) for name, pair in call.pairs().items()}


def context_for(call: Call, cores: int | None = None) -> TilingContext:
    return context_of(OP, infos(call), call.attrs, CHIP, cores)


def different(tilings: list[Tiling]) -> list[Tiling]:
    """One of each choice, whatever the number of blocks."""
    return list({tuple(SPACE.choices(tiling).values()): tiling for tiling in tilings}.values())


@st.composite
def calls(draw: st.DrawFn) -> Call:
    dtype, table = draw(st.sampled_from([(HALF, HALF), (HALF, FLOAT), (BF16, BF16)]))
    head_dim, heads_k, times = 16 * draw(st.integers(1, 8)), draw(st.integers(1, 6)), draw(st.integers(1, 3))
    tokens, coeff = draw(st.integers(1, 90)), draw(st.sampled_from([2, 4, head_dim]))
    lengths = (tokens,) if draw(st.booleans()) else ()
    return Call(tokens, head_dim * heads_k * times, head_dim * heads_k, head_dim, coeff, dtype, table, lengths)


@settings(max_examples=15, deadline=None)
@given(calls(), st.integers(1, 6))
def test_every_token_and_head_once(call: Call, cores: int) -> None:
    check_legal(OP, context_for(call, cores), 12)


SLOW = ("23-several slices", "23-32 tokens a row", "24-several slices", "21-several slices")


@pytest.mark.parametrize("name", [name for name in CALLS if name not in SLOW])
def test_right_with_every_kernel_and_slice(name: str) -> None:
    call = CALLS[name]
    tilings = different(check_legal(OP, context_for(call, 4), 8))
    check_right(OP, infos(call), call.attrs, CHIP, tilings[:: 1 if call.tokens < 60 else 3])


def test_kernels_that_can_take_each_others_calls() -> None:
    kernels = {
        name: {tiling.key for tiling in SPACE.candidates(context_for(CALLS[name]), 40)}
        for name in ("20-halves", "20-samples", "21-halves", "22-neighbours", "23-neighbours", "24-samples")
    }
    assert kernels == {
        "20-halves": {20, 23},
        "20-samples": {20},
        "21-halves": {21},
        "22-neighbours": {22},
        "23-neighbours": {20, 23},
        "24-samples": {22, 24},
    }


@pytest.mark.parametrize(
    ("call", "least"),
    [
        (Call(8192, 4096, 4096, 128, 2), {"kernel": 2, "heads per loop": 8}),
        (Call(4096, 4096, 1024, 128, 2, BF16, BF16), {"kernel": 2, "heads per loop": 8}),
        (Call(4096, 1024, 128, 64, 2), {"kernel": 2, "heads per loop": 7, "tokens per row": 3}),
    ],
)
def test_large_calls_have_many(call: Call, least: dict[str, int]) -> None:
    found = list(SPACE.candidates(context_for(call), 300))
    choices = [SPACE.choices(tiling) for tiling in found]
    assert len(found) >= 200
    assert max(Counter(tuple(choice.values()) for choice in choices).values()) <= 40
    assert len({tiling.block_dim for tiling in found}) >= 10
    for name, count in least.items():
        assert len({choice[name] for choice in choices}) >= count


GOOD = Call(12, 4096, 128, 64, 2)


def faults(call: Call, **fields: Any) -> list[str]:
    context = context_for(call)
    assert HOST is not None
    return SPACE.faults(SPACE.rebuild(context, {**HOST(context).data, **fields}), context)


@pytest.mark.parametrize(
    ("call", "fields", "text"),
    [
        (GOOD, {"hiddenSizeK": 64}, "hiddenSizeK is 64, for this call it has to be 128"),
        (GOOD, {"block_dim": 11}, "realCore is 12, for this call it has to be 11"),
        (
            Call(10, 256, 128, 64, 2),
            {"realCore": 8, "block_dim": 8},
            "block 5 works on tokens 10 to 11, there are 10",
        ),
        (GOOD, {"multiple": 0}, "multiple is 0, a row has at least 1 token"),
        (GOOD, {"path": "bf16"}, "kernel 22 does not take float16 with float16 tables; those that do: 20 and 23"),
        (
            GOOD,
            {"path": "fp16_large_ntokens", "sliceSize": 4992},
            "slices of 4992 elements (78 heads) take 199,680 B of the 16-bit buffer, which has 196,288 B",
        ),
        (
            GOOD,
            {"maxUbSize": 100_000},
            "slices of 12288 elements (192 heads) take 147,456 B of the 16-bit buffer, which has 99,936 B",
        ),
        (
            GOOD,
            {"sliceSize": 63},
            "heads of 64 elements do not fit into the 63 that kernel 20 handles at once: the real kernel divides by "
            "zero",
        ),
        (
            Call(12, 240, 48, 24, 2),
            {"sliceSize": 120},
            "slices of 120 elements end within a block of 32 B, whose rest is not written",
        ),
        (
            Call(12, 256, 128, 64, 2, lengths=(12,)),
            {"path": "fp16_large_ntokens"},
            "kernel 23 does not read the lengths of the samples, which cosFormat 1 asks for",
        ),
        (
            Call(12, 256, 128, 64, 64, BF16, BF16),
            {"path": "bf16_align"},
            "kernel 24 takes parts of whole 32 B blocks only, these have 1 elements",
        ),
    ],
)
def test_faults(call: Call, fields: dict[str, Any], text: str) -> None:
    assert faults(call) == []
    assert text in faults(call, **fields)


@pytest.mark.parametrize(
    ("multiple", "path", "texts"),
    [
        (2, "fp16_large_ntokens", []),
        (2, "fp16", ["multiple is 2, kernel 20 takes 1 token a row"]),
        (
            5,
            "fp16_large_ntokens",
            [
                "multiple is 5, which does not divide the 12 tokens",
            ],
        ),
        (
            12,
            "fp16_large_ntokens",
            [
                "12 tokens of 512 elements are more than the slice of 3840 elements: several tokens a row are handled "
                "at once"
            ],
        ),
    ],
)
def test_several_tokens_a_row(multiple: int, path: str, texts: list[str]) -> None:
    context = context_for(Call(12, 512, 128, 64, 2))
    cores = 12 // multiple
    tiling = SPACE.rebuild(context, {**fields_for(context, multiple, cores), "path": path})
    assert SPACE.faults(tiling, context) == texts


def test_blocks_that_would_wait_for_ever() -> None:
    call = Call(90, 64, 64, 32, 2, lengths=(90,))
    assert faults(call, realCore=45, block_dim=45) == [
        "45 blocks on 40 cores: with cosFormat 1 all blocks of kernel 20 wait for each other"
    ]


def test_words_of_32_bits_or_two_in_64() -> None:
    context = context_for(GOOD)
    assert HOST is not None
    own = HOST(context)
    words = [int(word or 0) for word in own.words]
    pairs = [low | high << 32 for low, high in zip(words[::2], words[1::2], strict=True)]
    assert SPACE.fields(words, context) == SPACE.fields([*pairs, 0], context) == fields_for(context, 1, own.block_dim)


def test_a_boards_unified_buffer_counts_what_its_runtime_keeps() -> None:
    context = context_for(GOOD)
    assert HOST is not None
    own = HOST(context)
    assert SPACE.rebuild(context, {**own.data, "maxUbSize": 196_608}) == own


def test_what_is_no_number() -> None:
    with pytest.raises(InputError, match=r"^field batch of the tiling data is 'one', it has to be a whole number$"):
        faults(GOOD, batch="one")
    text = "path is 'fast'; the kernels are fp16, fp32_tables, bf16, fp16_large_ntokens, bf16_align"
    with pytest.raises(InputError, match=f"^{text}$"):
        faults(GOOD, path="fast")


@pytest.mark.parametrize(
    "call",
    [
        Call(12, 256, 128, 64, 2),
        Call(9, 240, 48, 24, 2),
        Call(8, 256, 128, 64, 2, BF16, BF16, lengths=(8,)),
        Call(8, 256, 128, 64, 4, table=FLOAT),
    ],
)
def test_anything_random_is_a_fault_or_right(call: Call) -> None:
    """Random fields in a real struct: whatever is said to be legal computes what it should."""
    rng, context = random.Random(5), context_for(call)
    assert HOST is not None
    base, passed = HOST(context).data, {}
    paths = ["fp16", "bf16", "bf16_align", "fp16_large_ntokens", "fp32_tables"]
    for _ in range(600):
        names = rng.sample([*TILING_FIELDS, "sliceSize", "block_dim"], rng.randint(0, 2))
        fields = {
            **base,
            **fields_for(context, rng.choice([1, 1, 2, 3, 4]), rng.choice([1, 2, 3, 4, 6, 7, 12])),
            "path": rng.choice([base["path"], rng.choice(paths)]),
            **{name: rng.choice([-1, 0, 1, 2, 3, 48, 64, 128, 250, 4000, 2**33]) for name in names},
        }
        tiling = SPACE.rebuild(context, fields)
        if not SPACE.faults(tiling, context):
            passed[tuple(tiling.data.values())] = tiling
    assert len(passed) >= 5
    check_right(OP, infos(call), call.attrs, CHIP, list(passed.values())[:25])
