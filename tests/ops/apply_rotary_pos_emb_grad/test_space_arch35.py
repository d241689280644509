"""The tilings that the kernels take: legal, covering every head of every position once, and right."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_sim.errors import InputError
from ascend_sim.host.registry import operator_named
from ascend_sim.host.tensors import TensorInfo
from ascend_sim.soc import load
from tests.ops.helpers.spaces import check_garbage, check_legal, check_right, context_of

from .calls_arch35 import LAYOUTS, Layout, attrs_of

OP = operator_named("apply_rotary_pos_emb_grad")
CHIP = load("ascend950")
SPACE = OP.space_on(CHIP.name)
BOTH, ALL = {"AB", "BAB"}, {"A", "AB", "BAB"}


def call(layout: Layout, dtype: str = "float16", length: int = 70, sums: bool = True):
    _, query, k_heads, cos = layout
    q = TensorInfo((*query, length), dtype)
    k = TensorInfo((*query[:-1], k_heads, length), dtype)
    rope = TensorInfo((*cos, length), dtype)
    inputs = {"grad_query_embed": q, "grad_key_embed": k, "cos": rope, "sin": rope}
    return inputs | ({"query": q, "key": k} if sums else {}), attrs_of(layout)


# also: one position of several batches, whose heads may count together where query and key have as many
SMALL_CALLS: dict[str, tuple[Layout, str, set[str]]] = {
    "BAB-BSND": (LAYOUTS["BAB-BSND"], "float16", {"BAB"}),
    "BAB-TND": (LAYOUTS["BAB-TND"], "bfloat16", BOTH),
    "AB-BSND": (LAYOUTS["AB-BSND"], "float16", BOTH),
    "AB-S11D": (LAYOUTS["AB-S11D"], "float32", BOTH),
    "AB-heads": (LAYOUTS["AB-heads"], "float16", BOTH),
    "A-BSND": (LAYOUTS["A-BSND"], "float32", ALL),
    "A-SBND": (LAYOUTS["A-SBND"], "bfloat16", ALL),
    "uneven": ((1, (3, 1, 2), 4, (1, 1, 1)), "float32", {"BAB"}),
    "even": ((1, (3, 1, 2), 2, (1, 1, 1)), "float32", BOTH),
}


@pytest.mark.parametrize("name", SMALL_CALLS)
def test_right_with_every_tiling(name: str):
    layout, dtype, templates = SMALL_CALLS[name]
    given_call = call(layout, dtype, 64 if dtype == "bfloat16" else 70)
    tilings = check_legal(OP, context_of(OP, *given_call, CHIP, 4), 8)
    assert {SPACE.choices(tiling)["template"] for tiling in tilings} == templates
    check_right(OP, *given_call, CHIP, tilings)


@pytest.mark.parametrize("name", ["AB-BSND", "A-SBND", "uneven"])
def test_right_without_sums(name: str):
    layout, _, templates = SMALL_CALLS[name]
    given_call = call(layout, "float16", sums=False)
    tilings = check_legal(OP, context_of(OP, *given_call, CHIP, 3), 8)
    assert {SPACE.choices(tiling)["template"] for tiling in tilings} == templates | {"AB"}
    check_right(OP, *given_call, CHIP, tilings)


@pytest.mark.parametrize("name", ["BAB-BSND", "AB-BSND", "A-BSND"])
def test_fields_from_anywhere(name: str):
    given_call = call(SMALL_CALLS[name][0])
    tilings = check_legal(OP, context_of(OP, *given_call, CHIP, 3), 12)
    assert check_garbage(OP, *given_call, CHIP, tilings, 60) > 0


@st.composite
def calls(draw: st.DrawFn):
    few = st.one_of(st.integers(1, 4), st.integers(1, 40))
    kind, batches = draw(st.sampled_from([1, 2, 4])), draw(few)
    sizes = {"b": batches, "s": draw(few), "n": draw(few)}
    order = {1: "bsn", 2: "sbn", 4: "sn"}[kind]
    one = {"n": 1, "b": draw(st.sampled_from([1, batches]))}
    layout = kind, tuple(sizes[axis] for axis in order), draw(few), tuple((sizes | one)[axis] for axis in order)
    return call(layout, length=2 * draw(st.integers(1, 100)), sums=draw(st.booleans()))


@settings(max_examples=20, deadline=None)
@given(calls(), st.integers(1, 9))
def test_every_head_once(given_call, cores: int):
    check_legal(OP, context_of(OP, *given_call, CHIP, cores), 12)


LARGE_CALLS: dict[str, Layout] = {
    "AB": (1, (8, 4096, 32), 8, (8, 4096, 1)),
    "BAB": (1, (8, 4096, 32), 8, (1, 4096, 1)),
    "A": (2, (4096, 8, 32), 32, (4096, 8, 32)),
}


@pytest.mark.parametrize("name", LARGE_CALLS)
def test_large_calls(name: str):
    context = context_of(OP, *call(LARGE_CALLS[name], "bfloat16", 128), CHIP)
    found = list(SPACE.candidates(context, 300))
    choices = [SPACE.choices(tiling) for tiling in found]
    assert 200 <= len(found) <= 301
    assert max(Counter(tuple(choice.items()) for choice in choices).values()) <= 40
    assert len({tiling.block_dim for tiling in found}) > 1
    assert sum(len({choice.get(name) for choice in choices}) > 1 for name in choices[0]) >= 2
    for tiling in found[::20]:
        assert SPACE.faults(tiling, context) == []


# --- faults ----------------------------------------------------------------------------------------------------------


def faults(name: str, **fields: int | str) -> list[str]:
    """Of the own tiling on two cores with some fields changed: those of the template's struct without its name."""
    context = context_of(OP, *call(SMALL_CALLS[name][0]), CHIP, 2)
    own = next(iter(SPACE.candidates(context, 1)))
    struct = "ropeGradABParams" if own.path == "AB" else "ropeGradParams"
    named = {field if field in ("block_dim", "path") else f"{struct}.{field}": value for field, value in fields.items()}
    return SPACE.faults(SPACE.rebuild(context, {**own.data, "block_dim": own.block_dim, **named}), context)


@pytest.mark.parametrize(
    ("name", "fields", "text"),
    [
        ("AB-BSND", {"nK": 2}, "ropeGradABParams.nK is 2, for this call it has to be 5"),
        ("AB-BSND", {"blockTailBS": 4}, "positions of all blocks is 9, for this call it has to be 10"),
        ("AB-BSND", {"blockNumN": 2}, "the fields are for 4 blocks, the block dim is 2"),
        ("AB-BSND", {"ubFactorN": 6}, "ubFactorN is 6, a block has 5 heads"),
        ("AB-BSND", {"ubFactorN": 2}, "a step of several positions has to take all 5 heads of each, it takes 2"),
        ("BAB-BSND", {"ubLoopNumN": 2}, "ropeGradParams.ubLoopNumN is 2, for this call it has to be 1"),
        ("BAB-BSND", {"blockFactorS": 1}, "24 of 2 batches x 5 positions x 3 heads are worked on by no block"),
        ("A-BSND", {"b": 14}, "ropeGradParams.b is 14, for this call it has to be 15"),
        ("A-BSND", {"blockNumB": 3, "block_dim": 3}, "3 blocks have to meet before the sums, there are 2 cores"),
        ("A-BSND", {"ubFactorS": 3000, "blockFactorB": 3000}, "a step of 3000 lines is more than the 2047 that one "
         "DataCopyPad moves"),
    ],
)  # fmt: skip
def test_faults(name: str, fields: dict[str, int | str], text: str):
    assert text in faults(name, **fields)


def test_sound_tilings_have_none():
    for name in SMALL_CALLS:
        assert faults(name) == []


def test_a_step_of_nothing():
    with pytest.raises(InputError, match=r"^ropeGradParams\.ubFactorS is 0, template BAB needs at least 1$"):
        faults("BAB-BSND", ubFactorS=0)


def test_raw_words_tell_the_template():
    for name in SMALL_CALLS:
        context = context_of(OP, *call(SMALL_CALLS[name][0]), CHIP, 3)
        for tiling in SPACE.candidates(context, 12):
            again = SPACE.rebuild(context, SPACE.fields([word or 0 for word in tiling.words], context))
            assert (again.key, again.words, again.block_dim) == (tiling.key, tiling.words, tiling.block_dim), name
