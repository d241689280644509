"""The tilings that the A2/A3 kernels take in both modes: legal, covering every line once, and right."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_sim.errors import InputError, TilingError, UnsupportedError
from ascend_sim.host.registry import operator_named
from ascend_sim.host.tensors import Shape, TensorInfo
from ascend_sim.soc import load
from tests.ops.helpers.spaces import check_garbage, check_legal, check_right, context_of, faults_with, own_problems_with

OP = operator_named("rotary_position_embedding")
CHIP = load("Ascend910B3")
LITTLE = load("Ascend910B3", {"cores.aiv": 4, "ub.bytes": "16 KiB"})
SPACE = OP.space_on(CHIP.name)
HALF, INTERLEAVE = 0, 1


def call(mode: int, x: Shape, cos: Shape, dim: int = 64, dtype: str = "float16"):
    """`x`, `cos`: leading dims."""
    angles = TensorInfo((*cos, dim), dtype)
    return {"x": TensorInfo((*x, dim), dtype), "cos": angles, "sin": angles}, {"mode": mode}


@st.composite
def calls(draw: st.DrawFn):
    x = draw(st.tuples(st.integers(1, 12), st.integers(1, 12), st.integers(1, 12)))
    cos = tuple(draw(st.sampled_from([size, 1])) for size in x)
    dtype = draw(st.sampled_from(["float16", "bfloat16", "float32"]))
    return call(draw(st.integers(HALF, INTERLEAVE)), x, cos, 2 * draw(st.integers(1, 100)), dtype)


@settings(max_examples=25, deadline=None)
@given(calls(), st.integers(1, 8), st.booleans())
def test_every_line_once(given_call, cores: int, little: bool):
    context = context_of(OP, *given_call, LITTLE if little else CHIP, cores)
    try:
        OP.support_on(CHIP.name).tiling(context)
    except TilingError:
        return
    check_legal(OP, context, 12)


ALL = {"split S", "split BS", "split BSN"}
SMALL_CALLS = {
    "BNSD": (call(HALF, (2, 2, 24), (1, 1, 24)), {"half"}),
    "BSND, padded": (call(HALF, (2, 9, 3), (1, 9, 1), 20), {"half"}),
    "BSND, one batch": (call(HALF, (1, 9, 3), (1, 9, 1), 136, "float32"), {"half", "full load"}),
    "SBND": (call(HALF, (9, 2, 2), (9, 1, 1), 64, "bfloat16"), {"half", "full load"}),
    "no broadcast, padded": (call(HALF, (2, 3, 2), (2, 3, 2), 20, "float32"), {"half", "full load"}),
    "B1SD": (call(HALF, (2, 3, 9), (2, 1, 9)), {"half"}),
    "one cos": (call(HALF, (1, 3, 4), (1, 1, 1)), {"half", "full load"}),
    "one long cos": (call(HALF, (1, 3, 4), (1, 1, 1), 136), {"half", "full load"}),
    "BSND, 3 batches": (call(INTERLEAVE, (3, 5, 2), (1, 5, 1), 24), ALL),
    "heads together": (call(INTERLEAVE, (5, 2, 2), (5, 1, 1), 64, "float32"), ALL),
    "one line a row": (call(INTERLEAVE, (2, 2, 5), (1, 1, 5), 64, "bfloat16"), ALL),
    "few heads fit": (call(INTERLEAVE, (2, 3, 9), (1, 3, 1), 136), {"split BSN"}),
}


@pytest.mark.parametrize("name", SMALL_CALLS)
def test_right_with_every_tiling(name: str):
    """On four cores with little UB, which the larger tilings fill; half of them is enough for every kernel and size."""
    given_call, kernels = SMALL_CALLS[name]
    tilings = check_legal(OP, context_of(OP, *given_call, LITTLE), 8)
    check_right(OP, *given_call, LITTLE, tilings[::2])
    assert {SPACE.choices(tiling)["kernel"] for tiling in tilings} == kernels


@pytest.mark.parametrize("name", ["BSND, padded", "SBND", "one cos", "BSND, 3 batches"])
def test_fields_from_anywhere(name: str):
    given_call, _ = SMALL_CALLS[name]
    tilings = check_legal(OP, context_of(OP, *given_call, LITTLE), 8)
    assert check_garbage(OP, *given_call, LITTLE, tilings, 120) > 0


@pytest.mark.parametrize(
    ("given_call", "varied"),
    [
        (call(HALF, (4096, 1, 16), (4096, 1, 1), 128, "bfloat16"), {"positions per loop", "buffers"}),
        (call(HALF, (1, 64, 8), (1, 64, 1), 128), {"kernel", "positions per loop", "heads per loop", "buffers"}),
        (
            call(INTERLEAVE, (8, 4096, 4), (1, 4096, 1), 128, "float32"),
            {"kernel", "positions per loop", "batches per loop", "heads per loop", "buffers"},
        ),
    ],
)
@pytest.mark.parametrize("chip", ["Ascend910B4", "Ascend910_9391"])
def test_larger_calls(given_call, varied: set[str], chip: str):
    found = list(SPACE.candidates(context_of(OP, *given_call, load(chip)), 300))
    choices = [SPACE.choices(tiling) for tiling in found]
    large = given_call[0]["x"].size > 1 << 16
    assert len(found) >= (200 if large else 100)
    assert max(Counter(tuple(choice.items()) for choice in choices).values()) <= 40
    assert {name for name in choices[0] if len({choice[name] for choice in choices}) > 1} == varied
    assert len({tiling.block_dim for tiling in found}) > 3


broken = partial(faults_with, OP, CHIP)
limit = partial(own_problems_with, OP, CHIP)


SBND = call(HALF, (13, 2, 3), (13, 1, 1))
ONE_COS = call(HALF, (1, 3, 4), (1, 1, 1))
BATCHES = call(INTERLEAVE, (3, 13, 2), (1, 13, 1), 24)


@pytest.mark.parametrize(
    ("given_call", "kernel", "fields", "text"),
    [
        (SBND, "half", {"broadcastSecondDim": 2}, "broadcastSecondDim is 2, for this call it has to be 3"),
        (SBND, "half", {"storeSLines": 0}, "storeSLines is 0, it has to be at least 1"),
        (SBND, "half", {"formerXCoreOffset": 64}, "formerXCoreOffset is 64, for this call it has to be 1536"),
        (SBND, "half", {"formerUbLoop": 0}, "24 of 13 positions x 6 heads are worked on by no block"),
        (SBND, "half", {"formerUbLoop": 9}, "block 0 works on positions 0 to 35, there are 13"),
        (SBND, "half", {"bufferNum": 3}, "a queue has 3 buffers; allowed are 1 to 2, with 3 queues to share 8 flags"),
        (
            SBND,
            "half",
            {"tailCoreNum": 2},
            "formerCoreNum 1 and tailCoreNum 2 do not add up to the block dim, 4",
        ),
        (SBND, "full load", {"axisLenX3": 3}, "axisLenX3 is 3, it has to be 6"),
        (SBND, "full load", {"isThreeOneDim": 1}, "isThreeOneDim is 1, for this call it has to be 0"),
        (SBND, "full load", {"formerCoreNum": 3}, "formerCoreNum is 3, it has to be the block dim, 4"),
        (ONE_COS, "full load", {"axisLenX3": 5}, "axisLenX3 is 5, it has to be a divisor of the 12 lines"),
        (ONE_COS, "half", {"tailUbLoop": 0}, "12 of 12 positions x 1 heads are worked on by no block"),
        (BATCHES, "split S", {"batchSize": 2}, "batchSize is 2, for this call it has to be 3"),
        (
            BATCHES,
            "split S",
            {"ubCalcTailLoop": 0},
            "54 of 13 positions x 3 batches x 2 heads are worked on by no block",
        ),
        (
            BATCHES,
            "split S",
            {"ubCalcNum": 2, "ubCalcTailNum": 3},
            "tail cores take 3 positions in a step, the buffers hold ubCalcNum = 2",
        ),
        (BATCHES, "split BS", {"ubCalcBTail": 2}, "26 of 13 positions x 3 batches x 2 heads are worked on by no block"),
        (BATCHES, "split BSN", {"ubCalcNTail": 3}, "block 0 works on heads 0 to 2, there are 2"),
        (
            BATCHES,
            "split S",
            {"ubCalcLoop": 3},
            "blocks 0 and 1 both work on positions 4 to 5, batches 0 to 2, heads 0 to 1",
        ),
        (BATCHES, "split BSN", {"coreCalcTail": -1}, "coreCalcTail is -1, it has to be at least 0"),
    ],
)
def test_faults(given_call, kernel: str, fields: dict[str, int], text: str):
    assert text in broken(given_call, kernel, **fields)


@pytest.mark.parametrize(
    ("given_call", "kernel"), [(SBND, "half"), (SBND, "full load"), (ONE_COS, "full load"), (BATCHES, "split BS")]
)
def test_a_sound_tiling_has_none(given_call, kernel: str):
    assert broken(given_call, kernel) == []


def test_limits_of_instructions():
    store = {"storeSLines": 4096, "storeDataLength": 4096 * 20, "storePadDataLength": 4096 * 32}
    tiles = {"formerUbLoop": 0, "formerUbLast": 0, "tailUbLoop": 1, "tailUbLast": 0, "tailUbLastDataLength": 0}
    tiles |= {"tailUbLastPadDataLength": 0, "formerUbLastDataLength": 0, "formerUbLastPadDataLength": 0}
    given_call = call(HALF, (4096, 1, 2), (4096, 1, 1), 20)
    assert limit(given_call, store | tiles) == ["a tile of 4096 lines is more than the 4095 blocks of one DataCopy"]
    rows = {"ubCalcNum": 4096, "ubCalcLoop": 1, "ubCalcTail": 0}
    assert limit(call(INTERLEAVE, (4096, 1, 2), (4096, 1, 1), 20), rows) == [
        "a step of 262144 elements is more than the 255 repeats of the sign flip",
        "a step of 8192 blocks is more than the 4095 of one DataCopyPad",
    ]
    far = call(INTERLEAVE, (2, 1 << 20, 32), (1, 1 << 20, 1), 128)
    context = context_of(OP, *far, CHIP)
    own, *others = SPACE.candidates(context, 30)
    assert SPACE.faults(own, context) == [
        "batches lie 8589926400 B apart, more than the 4294967295 B of one DataCopyPad",
    ]
    assert {SPACE.choices(tiling)["kernel"] for tiling in others} == {"split BS", "split BSN"}


def test_a_group_that_is_no_dim_of_x_is_told():
    found = SPACE.candidates(context_of(OP, *ONE_COS, CHIP, 4), 30)
    notes = {SPACE.choices(tiling)["heads per loop"]: tiling.notes for tiling in found if "full_load" in tiling.path}
    assert notes[4] == ()
    assert notes[3] == ("x is read as (4, 1, 3, 64): give it that shape, which leaves its elements where they are",)


def test_words_of_the_other_mode():
    half, pairs = (context_of(OP, *given_call, CHIP) for given_call in (SBND, BATCHES))
    of_half, of_pairs = (
        [word or 0 for word in OP.support_on(CHIP.name).tiling(context).words] for context in (half, pairs)
    )
    with pytest.raises(InputError, match=r"^the tiling data is one of mode half, this call is of mode interleave$"):
        SPACE.fields(of_half, pairs)
    with pytest.raises(InputError, match=r"^the tiling data is one of mode interleave, this call is not$"):
        SPACE.fields(of_pairs, half)
    nothing = dict.fromkeys(SPACE.fields(of_pairs, pairs), 0)
    with pytest.raises(InputError, match=r"^the tiling data is for no kernel of mode interleave: one of ubCalcNum"):
        SPACE.rebuild(pairs, nothing)


def test_the_release_without_the_kernel_for_one_pass():
    context = replace(context_of(OP, *SBND, CHIP, 4), cann="8.3")
    kernels = {SPACE.choices(tiling)["kernel"] for tiling in check_legal(OP, context, 8)}
    assert kernels == {"half"}


def test_no_tilings_of_the_rotate_matrix():
    inputs, attrs = SBND
    context = context_of(OP, {**inputs, "rotate": TensorInfo((64, 64), "float16")}, attrs, CHIP)
    with pytest.raises(UnsupportedError, match="declares no tilings for input rotate: its kernel needs the cube core"):
        SPACE.axes(context)
