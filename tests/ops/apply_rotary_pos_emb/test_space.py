"""The tilings that the A2/A3 kernels take: legal, covering every position once, and right."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_sim.errors import InputError
from ascend_sim.host.registry import operator_named
from ascend_sim.host.tensors import TensorInfo
from ascend_sim.soc import load
from ops.apply_rotary_pos_emb import tiling as host
from ops.apply_rotary_pos_emb.checks import check
from tests.ops.helpers.spaces import check_garbage, check_legal, check_right, context_of

OP = operator_named("apply_rotary_pos_emb")
CHIP = load("Ascend910B3")
SPACE = OP.space_on(CHIP.name)
HALF, SINGLE, BRAIN = "float16", "float32", "bfloat16"


def call(positions: int, q: int, k: int, dims: tuple[int, int], dtype: str):
    """`dims`: of a head, and how much of it rotates."""
    full, dim = dims
    rope = TensorInfo((positions, 1, dim), dtype)
    inputs = {"query": TensorInfo((positions, q, full), dtype), "key": TensorInfo((positions, k, full), dtype)}
    return inputs | {"cos": rope, "sin": rope}, {"layout": 4, "rotary_mode": "half"}


@st.composite
def calls(draw: st.DrawFn):
    dims = draw(st.sampled_from([(64, 64), (128, 128), (128, 64)]))
    heads = st.integers(1, 40)
    return call(draw(st.integers(1, 200)), draw(heads), draw(heads), dims, draw(st.sampled_from([HALF, SINGLE, BRAIN])))


@settings(max_examples=12, deadline=None)
@given(calls(), st.integers(1, 6))
def test_every_position_once(given_call, cores: int):
    check_legal(OP, context_of(OP, *given_call, CHIP, cores), 12)


PIECES, ROUNDS, ONE = "pieces", "pieces in rounds", "one position"
SMALL_CALLS = [
    (call(13, 3, 1, (128, 64), HALF), 4, {PIECES, ROUNDS}),
    (call(4, 2, 1, (64, 64), BRAIN), 4, {ONE, PIECES}),
    (call(5, 2, 3, (128, 128), SINGLE), 6, {ONE, PIECES, ROUNDS}),
    (call(9, 2, 2, (64, 64), BRAIN), 3, {PIECES}),
    (call(60, 1, 1, (64, 64), HALF), 2, {PIECES, ROUNDS}),
]


@pytest.mark.parametrize(("given_call", "cores", "kernels"), SMALL_CALLS)
def test_right_with_every_tiling(given_call, cores: int, kernels: set[str]):
    tilings = check_legal(OP, context_of(OP, *given_call, CHIP, cores), 40)
    check_right(OP, *given_call, CHIP, tilings)
    assert {SPACE.choices(tiling)["kernel"] for tiling in tilings} == kernels


@pytest.mark.parametrize("number", range(4))
def test_fields_from_anywhere(number: int):
    given_call, cores, _ = SMALL_CALLS[number]
    tilings = check_legal(OP, context_of(OP, *given_call, CHIP, cores), 20)
    assert check_garbage(OP, *given_call, CHIP, tilings, 250) > 0


@pytest.mark.parametrize(("dtype", "varied"), [(HALF, 6), (SINGLE, 6), (BRAIN, 5)])
def test_a_large_call(dtype: str, varied: int):
    context = context_of(OP, *call(32768, 16, 4, (128, 128), dtype), CHIP)
    found = list(SPACE.candidates(context, 300))
    choices = [SPACE.choices(tiling) for tiling in found]
    assert len(found) >= 200
    assert max(Counter(tuple(choice.items()) for choice in choices).values()) <= 40
    values = [{choice[name] for choice in choices} for name in choices[0]] + [{tiling.block_dim for tiling in found}]
    assert sum(len(chosen) > 1 for chosen in values) == varied


def broken(dtype: str = HALF, rounds: int = 2, **fields: int) -> list[str]:
    """A tiling of 13 positions on four cores, on the last of which there is one: pieces of 3."""
    context = context_of(OP, *call(13, 3, 1, (128, 64), dtype), CHIP, 4)
    tiling = host.pieces(context, check(context), per_core=4, piece=3, rounds=rounds)
    return SPACE.faults(SPACE.rebuild(context, {**tiling.data, "block_dim": 4, **fields}), context)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"qcNum": 2}, "qcNum is 2, for this call it has to be 3"),
        ({"useCoreNum": 5}, "useCoreNum is 5, for this call it has to be 4"),
        ({"kCoreOffset": 0}, "kCoreOffset is 0, for this call it has to be 512"),
        ({"preCLTimes": 0}, "36 of 13 positions x 4 heads are worked on by no block"),
        ({"preCBBTimes": 0}, "pieces of 3 positions are computed in 0 rounds of 2 and one of 1"),
        ({"comBatchLLL": 2}, "pieces of 1 positions are computed in 0 rounds of 2 and one of 2"),
        ({"qPart1Ub": 1024}, "qPart1Ub is 1,024 B, the buffer has to hold 1,536 B"),
        ({"q2q1Part1Ub": 1040}, "q2q1Part1Ub is 1,040 B, it has to be whole UB blocks of 32 B"),
        ({"bufferNum": 3}, "bufferNum is 3; the flags of the queues allow 1 to 2"),
        ({"block_dim": 0}, "its block dim is 0; allowed are 1 to 65,535"),
    ],
)
def test_faults(fields: dict[str, int], text: str):
    assert text in broken(**fields)


def test_bfloat16_has_no_rounds():
    text = "comBatchBB is smaller than preCBatchB: the kernel that computes in rounds does not take bfloat16"
    assert text in broken(BRAIN, rounds=3, comBatchBB=2)


def test_limits_of_instructions():
    """No 2201 chip has the room, but a tiling may say anything."""
    context = context_of(OP, *call(300, 1, 1, (64, 64), HALF), CHIP, 1)
    own = SPACE.candidates(context, 1)
    piece = {"preCBatchB": 300, "preCLTimes": 0, "preCBatchL": 300, "lastCLTimes": 0, "lastCBatchL": 300}
    tiling = SPACE.rebuild(context, {**next(iter(own)).data, **piece})
    assert "a piece of 300 positions is more than the 255 repeats that change the sign of sin" in (
        SPACE.faults(tiling, context)
    )


def test_a_sound_tiling_has_none():
    assert broken() == []


def test_fields_that_are_no_numbers():
    context = context_of(OP, *call(13, 3, 1, (128, 64), HALF), CHIP, 4)
    with pytest.raises(InputError, match=r"^the tiling data has no field useCoreNum$"):
        SPACE.rebuild(context, {"lastDim": 64})
