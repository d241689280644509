"""The tilings that the 950's kernels with the templates A, B, AB, ABA, BA and BAB take, whatever the operator: legal,
covering every line once, and right with every template that can turn a call."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_sim.errors import InputError
from ascend_sim.host.operator import Operator
from ascend_sim.host.registry import operator_named
from ascend_sim.host.tensors import Shape, TensorInfo
from ascend_sim.soc import load
from ops.shared.cuts_arch35 import View
from ops.shared.plans_arch35 import views
from ops.shared.rope_layout import Runs, rope_layout
from tests.ops.helpers.spaces import check_garbage, check_legal, check_right, context_of

CHIP = load("ascend950")
IN_PLACE, IN_PLACE_GRAD = "inplace_partial_rotary_mul", "inplace_partial_rotary_mul_grad"
ROPE, ROPE_GRAD = "rotary_position_embedding", "rotary_position_embedding_grad"
WITH_X = f"{ROPE_GRAD} with x"
OPERATORS = (IN_PLACE, IN_PLACE_GRAD, ROPE, ROPE_GRAD, WITH_X)
FLOATS = ("float16", "bfloat16", "float32")
# cos of x (2, 5, 3), and the templates that can turn it
CAPABLE = {
    (2, 5, 3): {"A", "AB", "BAB", "BA"},
    (1, 1, 1): {"B", "AB", "BAB", "BA"},
    (2, 5, 1): {"AB", "BAB", "ABA"},
    (2, 1, 1): {"AB", "BAB", "ABA"},
    (1, 5, 1): {"BAB"},
    (2, 1, 3): {"ABA"},
    (1, 1, 3): {"BA", "BAB"},
    (1, 5, 3): {"BA", "BAB"},
}


def call(
    name: str, x: Shape, cos: Shape, length: int = 48, dtypes: tuple[str, str] = ("float16", "float16"), mode: int = 1
) -> tuple[Operator, dict[str, TensorInfo], dict[str, Any]]:
    """`x` and `cos` without their last dim, which is `length`, or a slice of so many."""
    name, with_x, _ = name.partition(" with x")
    first = "dy" if name.endswith("grad") else "x"
    in_place = name.startswith("inplace")
    attrs = {"partial_slice": (8, 8 + length)} if in_place else {"mode": mode}
    inputs = {
        first: TensorInfo((*x, length + 20 if in_place else length), dtypes[0]),
        "cos": TensorInfo((*cos, length), dtypes[1]),
        "sin": TensorInfo((*cos, length), dtypes[1]),
    }
    return operator_named(name), inputs | ({"x": inputs["dy"]} if with_x else {}), attrs


def capable(name: str, cos: Shape) -> set[str]:
    """dcos and dsin of cos rows that no lines share are products, which only template A makes."""
    return {"A"} if name == WITH_X and cos == (2, 5, 3) else CAPABLE[cos]


def dtypes_of(name: str, pick: random.Random) -> tuple[str, str]:
    dtype = pick.choice(FLOATS)
    if name == IN_PLACE:
        return dtype, pick.choice((dtype, "float32"))
    return dtype, pick.choice(FLOATS) if name == IN_PLACE_GRAD else dtype


@pytest.mark.parametrize(("name", "cos"), list(product(OPERATORS, CAPABLE)))
def test_right_with_every_template(name: str, cos: Shape):
    pick = random.Random(f"{name} {cos}")
    length, mode = pick.choice((36, 48, 140)), pick.randrange(4)
    given_call = call(name, (2, 5, 3), cos, length, dtypes_of(name, pick), mode)
    tilings = check_legal(given_call[0], context_of(*given_call, CHIP, pick.choice((3, 4, 6))), 10)
    assert {tiling.path for tiling in tilings} == capable(name, cos)
    check_right(*given_call, CHIP, tilings)


@st.composite
def calls(draw: st.DrawFn):
    x = tuple(draw(st.one_of(st.integers(1, 4), st.integers(1, 40))) for _ in range(3))
    cos = tuple(draw(st.sampled_from((1, size))) for size in x)
    if rope_layout(x, cos) is None:
        cos = x
    return call(draw(st.sampled_from(OPERATORS)), x, cos, 4 * draw(st.integers(1, 200)), mode=draw(st.integers(0, 3)))


@settings(max_examples=20, deadline=None)
@given(calls(), st.integers(1, 9))
def test_every_line_once(given_call, cores: int):
    check_legal(given_call[0], context_of(*given_call, CHIP, cores), 12)


@pytest.mark.parametrize(
    "cos", [(8, 4096, 32), (1, 1, 1), (8, 4096, 1), (8, 1, 1), (1, 4096, 1), (8, 1, 32), (1, 1, 32)]
)
@pytest.mark.parametrize("name", OPERATORS)
def test_large_calls(name: str, cos: Shape):
    given_call = call(name, (8, 4096, 32), cos, 128)
    context, space = context_of(*given_call, CHIP), given_call[0].space_on(CHIP.name)
    found = list(space.candidates(context, 300))
    choices = [space.choices(tiling) for tiling in found]
    assert 200 <= len(found) <= 300
    assert Counter(tuple(choice.items()) for choice in choices).most_common(1)[0][1] <= 40
    assert len({tiling.block_dim for tiling in found}) > 1
    varied = [name for name in choices[0] if len({choice.get(name) for choice in choices}) > 1]
    assert len(varied) >= 2
    for tiling in random.Random(1).sample(found, 20):
        assert space.faults(tiling, context) == []


# --- faults ----------------------------------------------------------------------------------------------------------


def faults(cos: Shape, *, name: str = IN_PLACE, **fields: Any) -> list[str]:
    """Of the own tiling on four cores with some fields changed."""
    given_call = call(name, (2, 5, 3), cos)
    context, space = context_of(*given_call, CHIP, 4), given_call[0].space_on(CHIP.name)
    (own,) = list(space.candidates(context, 0))
    assert space.faults(own, context) == []
    return space.faults(space.rebuild(context, {**own.data, "block_dim": own.block_dim, **fields}), context)


@pytest.mark.parametrize(
    ("cos", "fields", "text"),
    [
        ((2, 5, 3), {"D": 64}, "D is 64, for this call it has to be 68"),
        ((2, 5, 3), {"B": 29}, "B is 29, for this call it has to be 30"),
        ((2, 5, 3), {"sliceStart": 6}, "sliceStart is 6, for this call it has to be 8"),
        ((2, 5, 3), {"blockFactorB": 7}, "2 of 30 lines are worked on by no block"),
        ((2, 5, 3), {"block_dim": 3}, "the fields are for 4 blocks, the block dim is 3"),
        (
            (2, 5, 3),
            {"path": "B"},
            "template B takes one cos row for all; that of this call is another: A, AB, BA, BAB",
        ),
        ((1, 1, 1), {"path": "A"}, "template A takes cos the shape of x; that of this call is another: AB, B, BA, BAB"),
        ((1, 5, 1), {"N": 2}, "N is 2, for this call it has to be 3"),
        ((1, 5, 1), {"ubTailFactorN": 1}, "ubTailFactorN is 1, for this call it has to be 3"),
        (
            (1, 5, 1),
            {"ubFactorN": 2, "ubLoopNumN": 2, "ubTailFactorN": 1, "blockFactorS": 5, "ubFactorS": 2},
            "a step of several positions has to take all 3 heads of each, it takes 2",
        ),
        ((2, 5, 1), {"blockTailBS": 2}, "its grid covers 11 positions, for this call it has to be 10"),
        ((2, 5, 1), {"blockTailN": 2}, "its grid covers 2 heads, for this call it has to be 3"),
        ((2, 5, 1), {"blockNumN": 2, "block_dim": 8}, "its grid covers 6 heads, for this call it has to be 3"),
        (
            (2, 5, 1),
            {"ubFactorN": 1, "ubFactorBS": 2},
            "a step of several positions has to take all 3 heads of each, it takes 1",
        ),
        ((2, 1, 3), {"blockFactorS": 1}, "10 of 2 batches x 5 heads x 3 positions are worked on by no block"),
        (
            (2, 1, 3),
            {"ubFactorS": 3000},
            "its buffers take 6,912,000 B of unified buffer, 253,952 B are there",
        ),
    ],
)
def test_faults(cos: Shape, fields: dict[str, Any], text: str):
    assert text in faults(cos, **fields)


def test_fields_that_are_for_no_template():
    with pytest.raises(InputError, match=r"^ubFactorS is 0, template BAB needs at least 1$"):
        faults((1, 5, 1), ubFactorS=0)
    given_call = call(ROPE, (2, 5, 3), (1, 5, 1))
    context, space = context_of(*given_call, CHIP), given_call[0].space_on(CHIP.name)
    text = (
        r"^the tiling data is for no template of this operator: one of blockNumBS \(AB\), blockNumS \(ABA, BA, BAB\) "
        r"and ubFactorB \(A, B\) must be positive$"
    )
    with pytest.raises(InputError, match=text):
        space.rebuild(context, space.fields([0] * 17, context))


@pytest.mark.parametrize(("name", "cos"), list(product(OPERATORS, CAPABLE))[::3])
def test_garbage_is_noticed(name: str, cos: Shape):
    given_call = call(name, (2, 5, 3), cos)
    tilings = list(given_call[0].space_on(CHIP.name).candidates(context_of(*given_call, CHIP, 6), 20))
    assert check_garbage(*given_call, CHIP, tilings, 20) > 0


@pytest.mark.parametrize(("name", "cos"), list(product(OPERATORS, CAPABLE)))
def test_words_alone_tell_the_template(name: str, cos: Shape):
    given_call = call(name, (2, 5, 3), cos)
    context, space = context_of(*given_call, CHIP, 4), given_call[0].space_on(CHIP.name)
    for tiling in space.candidates(context, 30):
        words = [word or 0 for word in tiling.words]
        again = space.rebuild(context, space.fields([*words, 0, 0], context))
        assert (again.path, again.words, again.block_dim) == (tiling.path, tiling.words, tiling.block_dim)


# --- how x is taken --------------------------------------------------------------------------------------------------


@given(st.tuples(*(st.integers(1, 4),) * 3), st.tuples(*(st.booleans(),) * 3))
def test_every_view_finds_the_lines_and_cos_rows_of_the_call(x: Shape, own_rows: tuple[bool, bool, bool]):
    cos = tuple(size if own else 1 for size, own in zip(x, own_rows, strict=True))
    dims = rope_layout(x, cos)
    if dims is None:
        return
    found = views(dims)
    assert found[0] == View.of(dims)
    assert {view.runs for view in found} == {Runs.between(x, cos)}
    assert len({(view.template, view.axes) for view in found}) == len(found)


# --- the three phases of rotary_position_embedding_grad --------------------------------------------------------------


def test_steps_of_the_pass_that_rotates_x():
    """In mode interleave it needs two queues, where the host code leaves room for three."""
    given_call = call(WITH_X, (2, 2048, 8), (2, 2048, 1), 128)
    context, space = context_of(*given_call, CHIP), given_call[0].space_on(CHIP.name)
    own, *others = space.candidates(context, 60)
    step = "lines per loop of rot(x)"
    assert space.choices(own)[step] == 165
    assert {space.choices(tiling)[step] for tiling in others} >= {248, 171, 128, 1}
    assert step not in space.choices(
        next(space.candidates(context_of(*call(ROPE_GRAD, (2, 5, 3), (2, 5, 1)), CHIP), 0))
    )


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"rotaryXParams.d": 50}, "rotaryXParams.d is 50, for this call it has to be 48"),
        ({"rotaryXParams.n": 4}, "rotaryXParams.n is 4, for this call it has to be 3"),
        ({"rotaryXParams.blockTailFactorN": 7}, "rotaryXParams.blockTailFactorN is 7, for this call it has to be 6"),
        (
            {"rotaryXParams.blockFactorN": 5, "rotaryXParams.blockTailFactorN": 5, "rotaryXParams.usedCoreNum": 6},
            "x is rotated by 6 blocks, the block dim is 4",
        ),
        ({"rotaryXParams.ubFactorN": 0}, "rotaryXParams.ubFactorN is 0, the pass that rotates x needs at least 1"),
        (
            {"rotaryXParams.ubFactorN": 700},
            "with rotaryXParams.ubFactorN 700 the pass that rotates x takes 268,800 B of unified buffer, 253,952 B are "
            "there",
        ),
        ({"dCosFlag": 0}, "dCosFlag is 0, for this call it has to be 1"),
        ({"block_dim": 5}, "5 blocks wait for each other, and the chip has 4 vector cores to run them on"),
    ],
)
def test_faults_of_the_pass_that_rotates_x(fields: dict[str, Any], text: str):
    assert text in faults((2, 5, 1), name=WITH_X, **fields)


def test_an_empty_gradient_is_left_to_the_host():
    given_call = call(WITH_X, (2, 0, 3), (2, 1, 1))
    context, space = context_of(*given_call, CHIP), given_call[0].space_on(CHIP.name)
    (own,) = space.candidates(context, 300)
    assert (space.faults(own, context), space.rebuild(context, own.data)) == ([], own)


def test_a_call_with_nothing_to_turn_has_one_tiling():
    for name in (IN_PLACE, IN_PLACE_GRAD):
        operator, inputs, _ = call(name, (2, 5, 3), (2, 5, 3), 0)
        context, space = context_of(operator, inputs, {"partial_slice": (8, 8)}, CHIP), operator.space_on(CHIP.name)
        (own,) = space.candidates(context, 300)
        assert (own.path, space.faults(own, context), space.choices(own)) == ("noop", [], {})
