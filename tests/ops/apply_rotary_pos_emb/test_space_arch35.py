"""The tilings that the 950's kernels take: legal, covering every head of every position once, and right."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_sim.errors import InputError
from ascend_sim.host.registry import operator_named
from ascend_sim.host.tensors import TensorInfo
from ascend_sim.soc import load
from ops.apply_rotary_pos_emb.checks_arch35 import check
from ops.apply_rotary_pos_emb.space_arch35 import views
from ops.shared.pairs_arch35 import View
from tests.ops.helpers.spaces import check_garbage, check_legal, check_right, context_of

from .calls_arch35 import HEADS_AXIS, LAYOUTS, Layout, attrs_of

OP = operator_named("apply_rotary_pos_emb")
CHIP = load("ascend950")
SPACE = OP.space_on(CHIP.name)


def call(layout: Layout, dtype: str = "float16", length: int = 72, full: int = 0, mode: str = "half"):
    kind, query, k_heads, cos = layout
    axis, full = HEADS_AXIS[kind], full or length
    shapes = {
        "query": (*query, full),
        "key": (*query[:axis], k_heads, *query[axis + 1 :], full),
        "cos": (*cos, length),
        "sin": (*cos, length),
    }
    return {name: TensorInfo(shape, dtype) for name, shape in shapes.items()}, attrs_of(layout, mode)


# also: one position a batch, heads before positions or not; one head
SMALL_CALLS: dict[str, tuple[Layout, set[str]]] = {
    "AB-BSND": (LAYOUTS["AB-BSND"], {"AB", "BAB", "ABA"}),
    "AB-SBND": (LAYOUTS["AB-SBND"], {"AB", "BAB", "ABA"}),
    "AB-S11D": (LAYOUTS["AB-S11D"], {"AB", "BAB", "ABA"}),
    "AB-TND": (LAYOUTS["AB-TND"], {"AB", "BAB", "ABA"}),
    "BAB": (LAYOUTS["BAB"], {"BAB"}),
    "ABA": (LAYOUTS["ABA"], {"ABA"}),
    "BA": (LAYOUTS["BA"], {"BA"}),
    "decode": ((3, (4, 6, 1), 2, (4, 1, 1)), {"AB", "BAB", "ABA"}),
    "grouped": ((3, (1, 4, 6), 6, (1, 1, 6)), {"BA"}),
    "one head": ((4, (4, 1), 1, (4, 1)), {"AB", "BAB", "ABA"}),
    "one position": ((1, (3, 1, 2), 4, (1, 1, 1)), {"BAB"}),
}
MODES = {"AB-SBND": "interleave", "BAB": "quarter", "grouped": "interleave"}
DTYPES = {"AB-SBND": "float32", "BA": "bfloat16", "AB-S11D": "bfloat16"}


@pytest.mark.parametrize("name", SMALL_CALLS)
def test_right_with_every_tiling(name: str):
    layout, templates = SMALL_CALLS[name]
    given_call = call(layout, DTYPES.get(name, "float16"), 72, 80 * (len(name) % 2), MODES.get(name, "half"))
    tilings = check_legal(OP, context_of(OP, *given_call, CHIP, 4), 16)
    assert {SPACE.choices(tiling)["template"] for tiling in tilings} == templates
    check_right(OP, *given_call, CHIP, tilings)


@pytest.mark.parametrize("name", ["AB-BSND", "BAB", "ABA", "BA"])
def test_fields_from_anywhere(name: str):
    given_call = call(SMALL_CALLS[name][0])
    tilings = check_legal(OP, context_of(OP, *given_call, CHIP, 3), 30)
    assert check_garbage(OP, *given_call, CHIP, tilings, 150) > 0


@st.composite
def calls(draw: st.DrawFn):
    few = st.one_of(st.integers(1, 4), st.integers(1, 40))
    kind, batches = draw(st.integers(1, 4)), draw(few)
    sizes = {"b": batches, "s": draw(few), "n": draw(few)}
    order = {1: "bsn", 2: "sbn", 3: "bns", 4: "sn"}[kind]
    one = {"n": 1, "b": draw(st.sampled_from([1, batches]))}
    layout = kind, tuple(sizes[axis] for axis in order), draw(few), tuple((sizes | one)[axis] for axis in order)
    return call(layout, length=4 * draw(st.integers(1, 200)), mode=draw(st.sampled_from(["half", "quarter"])))


@settings(max_examples=20, deadline=None)
@given(calls(), st.integers(1, 9))
def test_every_head_once(given_call, cores: int):
    check_legal(OP, context_of(OP, *given_call, CHIP, cores), 12)


LARGE_CALLS: dict[str, Layout] = {
    "AB": (1, (8, 4096, 32), 8, (8, 4096, 1)),
    "BAB": (1, (8, 4096, 32), 8, (1, 4096, 1)),
    "ABA": (3, (8, 32, 4096), 8, (8, 1, 4096)),
    "BA": (3, (8, 32, 4096), 8, (1, 1, 4096)),
    "TND": (4, (32768, 16), 2, (32768, 1)),
}


@pytest.mark.parametrize("name", LARGE_CALLS)
def test_large_calls(name: str):
    given_call = call(LARGE_CALLS[name], "bfloat16", 128)
    context = context_of(OP, *given_call, CHIP)
    found = list(SPACE.candidates(context, 300))
    choices = [SPACE.choices(tiling) for tiling in found]
    assert 200 <= len(found) <= 301
    but_grid = Counter(tuple(item for item in choice.items() if item[0] != "grid") for choice in choices)
    assert max(but_grid.values()) <= 40
    varied = {name for name in choices[0] if len({choice.get(name) for choice in choices}) > 1}
    assert varied >= {"grid", "positions per loop", "heads per loop"}
    for tiling in found[::20]:
        assert SPACE.faults(tiling, context) == []


def test_templates_that_find_the_same_heads():
    context = context_of(OP, *call((3, (2, 8, 5), 4, (1, 1, 5))), CHIP)
    assert views(check(context)) == [
        View("BA", 2, 5, 8, 4),
        View("BA", 1, 5, 16, 8),
        View("BA", 8, 5, 2, 1),
    ]


# --- faults ----------------------------------------------------------------------------------------------------------


def rebuilt(name: str, **fields: int | str):
    """The own tiling on two cores with some fields changed."""
    context = context_of(OP, *call(SMALL_CALLS[name][0]), CHIP, 2)
    own = next(iter(SPACE.candidates(context, 1)))
    return SPACE.rebuild(context, {**own.data, "block_dim": own.block_dim, **fields}), context


@pytest.mark.parametrize(
    ("name", "fields", "text"),
    [
        ("AB-BSND", {"QN": 2}, "QN is 2, for this call it has to be 3"),
        ("AB-BSND", {"blockTailBS": 4}, "positions of all blocks is 9, for this call it has to be 10"),
        ("AB-BSND", {"ubFactorN": 2}, "ubLoopN is 1, for this call it has to be 3"),
        (
            "AB-BSND",
            {"ubFactorN": 2, "ubLoopN": 3, "ubTailN": 1},
            "a step of several positions takes all 3 heads of query or key, the buffers hold ubFactorN = 2",
        ),
        ("AB-BSND", {"path": "BAB"}, None),
        ("BAB", {"B": 15, "S": 1}, "B is 15, for this call it has to be 3"),
        (
            "BAB",
            {"ubFactorKN": 2, "ubLoopNumKN": 2, "ubTailFactorKN": 2},
            "ubFactorKN is 2; a step of several positions has to take all 4 heads",
        ),
        ("BAB", {"blockFactorS": 1}, "84 of 3 batches x 5 positions x 7 heads are worked on by no block"),
        ("BA", {"blockNumS": 4}, "the fields are for 8 blocks, the block dim is 2"),
        (
            "ABA",
            {"path": "BA"},
            "template BA takes one cos row per position, for all batches and heads; that of this call is another: ABA",
        ),
        ("ABA", {"realDim": 70}, "realDim is 70, for this call it has to be 72"),
    ],
)
def test_faults(name: str, fields: dict[str, int | str], text: str | None):
    if text is None:
        with pytest.raises(InputError, match=r"^the tiling data has no field "):
            rebuilt(name, **fields)
        return
    assert text in SPACE.faults(*rebuilt(name, **fields))


def test_a_copy_has_so_many_blocks():
    """No 950 has the room, but a tiling may say anything."""
    found = SPACE.faults(*rebuilt("BA", ubFactorS=3000, blockFactorS=3000))
    assert "a copy of 6000 blocks is more than the 4095 of one DataCopyPad" in found


def test_a_step_of_nothing():
    with pytest.raises(InputError, match=r"^ubFactorS is 0, template BAB needs at least 1$"):
        rebuilt("BAB", ubFactorS=0)


def test_sound_tilings_have_none():
    for name in SMALL_CALLS:
        assert SPACE.faults(*rebuilt(name)) == []


def test_raw_words_tell_the_template():
    for name in SMALL_CALLS:
        context = context_of(OP, *call(SMALL_CALLS[name][0]), CHIP, 3)
        for tiling in SPACE.candidates(context, 12):
            words = [word for word in tiling.words if word is not None]
            again = SPACE.rebuild(context, SPACE.fields([*words, 0, 0, 0, 0, 0, 0], context))
            assert (again.key, again.words) == (tiling.key, tiling.words), name
