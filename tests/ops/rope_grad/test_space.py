"""The tilings that the kernel of rope_grad takes: legal, covering every row of every head once, and right."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_sim.errors import InputError
from ascend_sim.host.registry import operator_named
from ascend_sim.host.tensors import TensorInfo
from ascend_sim.sampling.calls import TimedCall
from ascend_sim.soc import load
from tests.ops.helpers.spaces import check_legal, check_right, context_of

OP = operator_named("rope_grad")
CHIP = load("Ascend910B3")
SPACE = OP.space_on(CHIP.name)


def call(lengths: list[int], heads: int, rows: int | None = None):
    x = TensorInfo((sum(lengths) if rows is None else rows, 128 * heads), "float16")
    table = TensorInfo((max(lengths), 128), "float16")
    return {"q_embedded_grad": x, "k_embedded_grad": x, "cos": table, "sin": table}, {"qSeqLen": tuple(lengths)}


@settings(max_examples=12, deadline=None)
@given(st.lists(st.integers(1, 300), min_size=1, max_size=5), st.integers(1, 6))
def test_every_row_of_every_head_once(lengths: list[int], heads: int):
    check_legal(OP, context_of(OP, *call(lengths, heads), CHIP), 12)


@pytest.mark.parametrize("lengths", [[1], [97], [5, 96, 33]])
def test_right_with_every_tiling(lengths: list[int]):
    tilings = check_legal(OP, context_of(OP, *call(lengths, 2), CHIP), 30)
    check_right(OP, *call(lengths, 2), CHIP, tilings)


def test_a_long_sequence_has_many():
    context = context_of(OP, *call([4096] * 8, 32), CHIP)
    found = [SPACE.choices(tiling) for tiling in SPACE.candidates(context, 300)]
    assert len(found) >= 100
    assert {choice["buffers"] for choice in found} == {1, 2}
    assert max(int(choice["rows per loop"]) for choice in found) == 109


def test_heads_beyond_the_cores_take_a_second_turn():
    """The host's own leaves them out; a block for each, and they are written."""
    given_call = call([7, 2], 43)
    own, *others = SPACE.candidates(context_of(OP, *given_call, CHIP), 10)
    assert own.block_dim == 40
    assert SPACE.faults(own, context_of(OP, *given_call, CHIP)) == [
        "the block dim is 40, for this call it has to be 43: a block takes one head",
    ]
    assert {tiling.block_dim for tiling in others} == {43}
    check_right(OP, *given_call, CHIP, others)


def test_rows_of_no_sample_are_nobodys():
    context = context_of(OP, *call([7, 2], 3, rows=12), CHIP)
    assert SPACE.axes(context) == {"heads": 3, "rows": 9}
    assert all(not SPACE.faults(tiling, context) for tiling in SPACE.candidates(context, 10))


def broken(**fields: int | str) -> list[str]:
    context = context_of(OP, *call([97, 3], 4), CHIP)
    own = OP.support_on(CHIP.name).tiling(context)
    return SPACE.faults(SPACE.rebuild(context, {**own.data, **fields}), context)


@pytest.mark.parametrize(
    ("fields", "faults"),
    [
        ({}, []),
        ({"hiddenSize": 384}, ["hiddenSize is 384, for this call it has to be 512"]),
        ({"qSeqLen[1]": 4}, ["qSeqLen[1] is 4, for this call it has to be 3"]),
        (
            {"block_dim": 3},
            [
                "the block dim is 3, for this call it has to be 4: a block takes one head",
            ],
        ),
        (
            {"block_dim": 60_000},
            [
                "the block dim is 60000, for this call it has to be 4: a block takes one head",
            ],
        ),
        ({"block_dim": 70_000}, ["its block dim is 70,000; allowed are 1 to 65,535"]),
        ({"rowsPerLoop": 120}, ["its buffers take 215,040 B of unified buffer, 196,352 B are there"]),
        (
            {"rowsPerLoop": 0},
            [
                "a tile has 0 rows; allowed are 1 to 255, the repeats of the kernel's Muls",
            ],
        ),
        (
            {"rowsPerLoop": 32, "bufferNum": 3},
            ["a queue has 3 buffers; allowed are 1 to 2, with 4 queues to share 8 flags"],
        ),
    ],
)
def test_faults(fields: dict[str, int], faults: list[str]):
    assert broken(**fields) == faults


def test_fields_that_are_no_numbers_or_missing():
    with pytest.raises(InputError, match=r"^field batch of the tiling data is 'two', it has to be a whole number$"):
        broken(batch="two")
    context = context_of(OP, *call([97, 3], 4), CHIP)
    with pytest.raises(InputError, match=r"^the tiling data has no field headSize$"):
        SPACE.rebuild(context, {"maxSeqLen": 1, "hiddenSize": 2})


def test_anything_random_is_a_fault_or_runs():
    """Random fields in a real struct: whatever is said to be legal computes what it should."""
    rng, given_call = random.Random(3), call([40, 5], 2)
    context = context_of(OP, *given_call, CHIP)
    own, passed = OP.support_on(CHIP.name).tiling(context), []
    names = [*(name for name in own.data if name != "path"), "bufferNum", "block_dim"]
    for _ in range(400):
        changed = {
            name: rng.choice([-1, 0, 1, 2, 3, 7, 40, 200, 2**40]) for name in rng.sample(names, rng.randint(1, 2))
        }
        tiling = SPACE.rebuild(context, {**own.data, **changed})
        if not SPACE.faults(tiling, context):
            passed.append(tiling)
    assert len({tuple(tiling.data.values()) for tiling in passed}) > 5
    check_right(OP, *given_call, CHIP, list({tuple(tiling.data.values()): tiling for tiling in passed}.values()))


def test_a_note_says_what_the_source_has_to_say():
    context = context_of(OP, *call([97, 3], 4), CHIP)
    own = OP.support_on(CHIP.name).tiling(context)
    found = SPACE.rebuild(context, {**own.data, "rowsPerLoop": 50, "bufferNum": 2})
    assert own.notes == ()
    assert found.notes == (
        "MAX_PROCESS_NUM in the kernel's source has to be 6400: it is not in the tiling data",
        "BUFFER_NUM in the kernel's source has to be 2: it is not in the tiling data",
    )


def test_two_buffers_overlap_loads_with_the_computation():
    timed = TimedCall(OP, *call([600], 8), CHIP)
    one, two = (
        timed.time(
            SPACE.rebuild(timed.context, {**timed.own.data, "rowsPerLoop": 50, "bufferNum": buffers}), exact=True
        )
        for buffers in (1, 2)
    )
    assert two.duration_us < one.duration_us
