"""The tilings that the A2/A3 kernels take in both modes: legal, covering every line once, and right."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_sim.errors import InputError, TilingError
from ascend_sim.host.registry import operator_named
from ascend_sim.host.tensors import Shape, TensorInfo
from ascend_sim.soc import load
from tests.ops.helpers.spaces import check_garbage, check_legal, check_right, context_of, faults_with, own_problems_with

OP = operator_named("rotary_position_embedding_grad")
CHIP = load("Ascend910B3")
LITTLE = load("Ascend910B3", {"cores.aiv": 4, "ub.bytes": "24 KiB"})
SPACE = OP.space_on(CHIP.name)
HALF, INTERLEAVE = 0, 1


def call(mode: int, dy: Shape, cos: Shape, dim: int = 64, dtype: str = "float16", with_x: bool = True):
    """`dy`, `cos`: leading dims."""
    angles, lines = TensorInfo((*cos, dim), dtype), TensorInfo((*dy, dim), dtype)
    return {"dy": lines, "cos": angles, "sin": angles} | ({"x": lines} if with_x else {}), {"mode": mode}


@st.composite
def calls(draw: st.DrawFn):
    dy = draw(st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9)))
    cos = tuple(draw(st.sampled_from([size, 1])) for size in dy)
    dtype = draw(st.sampled_from(["float16", "bfloat16", "float32"]))
    mode, dim = draw(st.integers(HALF, INTERLEAVE)), 2 * draw(st.integers(1, 80))
    return call(mode, dy, cos, dim, dtype, draw(st.booleans()))


@settings(max_examples=25, deadline=None)
@given(calls(), st.integers(1, 8), st.booleans())
def test_every_line_once(given_call, cores: int, little: bool):
    context = context_of(OP, *given_call, LITTLE if little else CHIP, cores)
    try:
        OP.support_on(CHIP.name).tiling(context)
    except TilingError:
        return
    check_legal(OP, context, 12)


BOTH = {"small", "large"}
SMALL_CALLS = {
    "BSND": (call(HALF, (2, 9, 3), (1, 9, 1)), {"half"}),
    "BSND, cos of dy's shape": (call(HALF, (2, 3, 2), (2, 3, 2), 20, "float32"), {"half"}),
    "BNSD, padded": (call(HALF, (2, 3, 9), (1, 1, 9), 20, with_x=False), {"half"}),
    "BNSD, cos with B": (call(HALF, (2, 3, 9), (2, 1, 9), 64, "float32"), {"half"}),
    "SBND": (call(HALF, (9, 2, 2), (9, 1, 1), 64, "bfloat16", with_x=False), {"half"}),
    "SBND, padded": (call(HALF, (5, 3, 2), (5, 3, 1), 20, "bfloat16"), {"half"}),
    "BSND, pairs": (call(INTERLEAVE, (2, 6, 3), (1, 6, 1), 20), BOTH),
    "BNSD, pairs": (call(INTERLEAVE, (2, 2, 6), (1, 1, 6), 64, "float32"), BOTH),
    "SBND, pairs": (call(INTERLEAVE, (6, 2, 2), (6, 1, 1), 64, "bfloat16", with_x=False), BOTH),
    "BSND, few heads fit": (call(INTERLEAVE, (2, 2, 9), (1, 2, 1), 40), {"large"}),
    "SBND, few heads fit": (call(INTERLEAVE, (2, 2, 12), (2, 1, 1), 40, "float32", with_x=False), {"large"}),
}


@pytest.mark.parametrize("name", SMALL_CALLS)
def test_right_with_every_tiling(name: str):
    """On four cores with little UB, which the larger tilings fill."""
    given_call, kernels = SMALL_CALLS[name]
    tilings = check_legal(OP, context_of(OP, *given_call, LITTLE), 8)
    check_right(OP, *given_call, LITTLE, tilings)
    assert {SPACE.choices(tiling)["kernel"] for tiling in tilings} == kernels


@pytest.mark.parametrize("name", ["BSND", "SBND, padded", "BSND, pairs", "SBND, pairs"])
def test_fields_from_anywhere(name: str):
    given_call, _ = SMALL_CALLS[name]
    tilings = check_legal(OP, context_of(OP, *given_call, LITTLE), 8)
    assert check_garbage(OP, *given_call, LITTLE, tilings, 120) > 0


@pytest.mark.parametrize(
    ("given_call", "varied"),
    [
        (call(HALF, (4096, 1, 16), (4096, 1, 1), 128, "bfloat16"), {"positions per loop", "buffers"}),
        (
            call(INTERLEAVE, (1, 4096, 16), (1, 4096, 1), 128, "float32", with_x=False),
            {"kernel", "positions per loop", "heads per loop", "buffers"},
        ),
    ],
)
@pytest.mark.parametrize("chip", ["Ascend910B4", "Ascend910_9391"])
def test_larger_calls(given_call, varied: set[str], chip: str):
    found = list(SPACE.candidates(context_of(OP, *given_call, load(chip)), 300))
    choices = [SPACE.choices(tiling) for tiling in found]
    assert len(found) >= 200
    assert max(Counter(tuple(choice.items()) for choice in choices).values()) <= 40
    assert {name for name in choices[0] if len({choice[name] for choice in choices}) > 1} == varied
    assert len({tiling.block_dim for tiling in found}) > 3


broken = partial(faults_with, OP, CHIP)
limit = partial(own_problems_with, OP, CHIP)


LINES = call(HALF, (2, 13, 3), (1, 13, 1))
PADDED = call(HALF, (13, 2, 3), (13, 1, 1), 20)
BATCHES = call(INTERLEAVE, (2, 13, 3), (1, 13, 1))
TOGETHER = call(INTERLEAVE, (13, 2, 3), (13, 1, 1))


@pytest.mark.parametrize(
    ("given_call", "kernel", "fields", "text"),
    [
        (LINES, "half", {"secondReduce": 2}, "secondReduce is 2, for this call it has to be 3"),
        (LINES, "half", {"coreUsed": 3}, "coreUsed is 3, for this call it has to be 4"),
        (LINES, "half", {"calcUbSize": 0}, "calcUbSize is 0, it has to be at least 1"),
        (LINES, "half", {"copyTail": 65}, "copyTail is 65, it has to be a multiple of 64, whole lines"),
        (
            LINES,
            "half",
            {"alignUbSize": 128},
            "a tile of 4 lines takes 256 elements, the buffers hold alignUbSize = 128",
        ),
        (LINES, "half", {"alignUbSize": 264}, "alignUbSize is 264, it has to be a multiple of 16, whole UB blocks"),
        (LINES, "half", {"bufferNum": 3}, "a queue has 3 buffers; allowed are 1 to 2, with 4 queues to share 8 flags"),
        (LINES, "half", {"copyLoop": 0}, "72 of 13 positions x 6 heads are worked on by no block"),
        (LINES, "half", {"lastCopyTail": 128}, "block 3 works on positions 12 to 13, there are 13"),
        (PADDED, "half", {"stridePadInner": 0}, "stridePadInner is 0, for this call it has to be 220"),
        (BATCHES, "small", {"alignHeadDim": 80}, "alignHeadDim is 80, for this call it has to be 64"),
        (
            BATCHES,
            "small",
            {"seqTailCalcNum": 400},
            "its buffers take 10,752,064 B of unified buffer, 196,352 B are there",
        ),
        (BATCHES, "small", {"tailCoreNum": 2}, "frontCoreNum 1 and tailCoreNum 2 do not add up to the block dim, 4"),
        (BATCHES, "large", {"numHeadsTail": 2}, "26 of 13 positions x 2 batches x 3 heads are worked on by no block"),
        (TOGETHER, "large", {"batchNumHeadsLoop": 2}, "block 0 works on heads 0 to 11, there are 6"),
        (TOGETHER, "large", {"seqFrontLen": -1}, "seqFrontLen is -1, it has to be at least 0"),
    ],
)
def test_faults(given_call, kernel: str, fields: dict[str, int], text: str):
    assert text in broken(given_call, kernel, **fields)


@pytest.mark.parametrize(
    ("given_call", "kernel"), [(LINES, "half"), (PADDED, "half"), (BATCHES, "large"), (TOGETHER, "small")]
)
def test_a_sound_tiling_has_none(given_call, kernel: str):
    assert broken(given_call, kernel) == []


def test_limits_of_instructions():
    sizes = {"calcUbSize": 4095 * 20, "alignUbSize": 4095 * 32}
    assert limit(call(HALF, (4096, 1, 2), (4096, 1, 1), 20), sizes) == [
        "the halves of 4095 lines are more than the 4095 blocks of one DataCopyPad"
    ]
    sizes = {"calcUbSize": 4096 * 64, "alignUbSize": 4096 * 64}
    assert limit(call(HALF, (4096, 1, 2), (4096, 1, 1)), sizes) == [
        "a tile of 4096 lines is more than the 4095 blocks of one DataCopy"
    ]
    far = call(HALF, (8, 1 << 14, 1 << 4), (8, 1, 1), 128, "float32", with_x=False)
    assert limit(far, {}) == ["lines of dy lie 4194288 UB blocks apart, more than the 65535 of one DataCopy"]
    rows = {"seqFrontCalcNum": 4096, "seqFrontCalcLoop": 1, "seqFrontCalcTail": 0}
    assert limit(call(INTERLEAVE, (4096, 1, 2), (4096, 1, 1), 20), rows) == [
        "a step of 262144 elements is more than the 255 repeats of the signs' Mul",
        "a run of 8192 rows is more than the 4095 blocks of one DataCopyPad",
    ]


def test_words_of_the_other_mode():
    half, pairs = (context_of(OP, *given_call, CHIP) for given_call in (LINES, BATCHES))
    of_half, of_pairs = (
        [word or 0 for word in OP.support_on(CHIP.name).tiling(context).words] for context in (half, pairs)
    )
    with pytest.raises(InputError, match=r"^the tiling data is one of mode half, this call is of mode interleave$"):
        SPACE.fields(of_half, pairs)
    with pytest.raises(InputError, match=r"^the tiling data is one of mode interleave, this call is of mode half$"):
        SPACE.fields(of_pairs, half)
    nothing = dict.fromkeys(SPACE.fields(of_pairs, pairs), 0)
    with pytest.raises(InputError, match=r"^the tiling data is for no kernel of mode interleave: one of seqFrontCalc"):
        SPACE.rebuild(pairs, nothing)
