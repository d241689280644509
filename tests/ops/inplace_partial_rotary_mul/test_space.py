"""The tilings that the A2/A3 kernels take: legal, covering every row and head once, and right."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_sim.host.planning import tiling_context
from ascend_sim.host.registry import operator_named
from ascend_sim.host.space import uncovered
from ascend_sim.host.tensors import TensorInfo
from ascend_sim.soc import load
from tests.ops.helpers.spaces import check_garbage, check_legal, check_right, context_of

OP = operator_named("inplace_partial_rotary_mul")
CHIP = load("Ascend910B3")
SPACE = OP.space_on(CHIP.name)
HALF, SINGLE = "float16", "float32"


def call(rows: int, heads: int, length: int, dtype: str = HALF, cos: str = HALF, one_row: bool = False):
    x = (rows, 1, heads, length + 16) if one_row else (1, rows, heads, length + 16)
    shape = (rows, 1, 1, length) if one_row else (1, rows, 1, length)
    inputs = {"x": TensorInfo(x, dtype), "cos": TensorInfo(shape, cos), "sin": TensorInfo(shape, cos)}
    return inputs, {"partial_slice": (8, 8 + length)}


@st.composite
def calls(draw: st.DrawFn):
    dtype, cos = draw(st.sampled_from([(HALF, HALF), (HALF, SINGLE), (SINGLE, SINGLE)]))
    one_row = draw(st.booleans())
    return call(draw(st.integers(1, 90)), draw(st.integers(1, 40)), 2 * draw(st.integers(1, 150)), dtype, cos, one_row)


@settings(max_examples=12, deadline=None)
@given(calls(), st.integers(1, 6))
def test_every_row_and_head_once(given_call, cores: int):
    check_legal(OP, context_of(OP, *given_call, CHIP, cores), 12)


@pytest.mark.parametrize(
    ("given_call", "kernels"),
    [
        (call(13, 3, 48), {"split S", "split BSN", "fast"}),
        (call(7, 5, 70, SINGLE, SINGLE), {"split S", "split BSN"}),
        (call(6, 4, 70, HALF, SINGLE), {"split S", "split BSN"}),
    ],
)
def test_right_with_every_tiling(given_call, kernels: set[str]):
    tilings = check_legal(OP, context_of(OP, *given_call, CHIP, 4), 30)
    check_right(OP, *given_call, CHIP, tilings)
    check_garbage(OP, *given_call, CHIP, tilings, 10)
    assert {SPACE.choices(tiling)["kernel"] for tiling in tilings} == kernels


def test_the_example_of_the_issue():
    inputs = {
        "x": TensorInfo((8, 4096, 32, 128), HALF),
        "cos": TensorInfo((8, 4096, 1, 128), HALF),
        "sin": TensorInfo((8, 4096, 1, 128), HALF),
    }
    context = tiling_context(OP, inputs, {"partial_slice": (0, 128)}, CHIP)
    found = list(SPACE.candidates(context, 300))
    choices = [tuple(SPACE.choices(tiling).items()) for tiling in found]
    assert len(found) >= 200
    assert max(Counter(choices).values()) <= 40
    for name in ("kernel", "rows per loop", "heads per loop", "buffers"):
        assert len({dict(choice)[name] for choice in choices}) > 1
    assert len({tiling.block_dim for tiling in found}) > 1


def broken(**fields: int) -> list[str]:
    inputs, attrs = call(13, 3, 48)
    context = replace(tiling_context(OP, inputs, attrs, CHIP), cores=4)
    own = OP.support_on(CHIP.name).tiling(context)
    return SPACE.faults(SPACE.rebuild(context, {**own.data, **fields}), context)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"numHeads": 2}, "numHeads is 2, for this call it has to be 3"),
        ({"coreCalcTail": 2, "ubCalcTailNum": 2}, "9 of 13 rows x 3 heads are worked on by no block"),
        ({"coreCalcNum": 5, "ubCalcNum": 5}, "block 3 works on rows 11 to 13, there are 13"),
        ({"ubCalcTailNum": 9}, "tail cores take 9 rows in a step, the buffers hold ubCalcNum = 4"),
        ({"bufferNum": 5}, "a queue has 5 buffers; allowed are 1 to 4, with 2 queues to share 8 flags"),
        ({"tailCoreNum": 9}, "frontCoreNum 1 and tailCoreNum 9 do not add up to the block dim, 4"),
    ],
)
def test_faults(fields: dict[str, int], text: str):
    assert text in broken(**fields)


def test_a_sound_tiling_has_none():
    assert broken() == []
    assert uncovered([], {"rows": 2, "heads": 3}) == ["6 of 2 rows x 3 heads are worked on by no block"]
