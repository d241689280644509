"""Which copies and vector functions the 950's templates issue, in which order, and what is in a vector function."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from helpers.letters_arch35 import letters
from helpers.runs_arch35 import counts, vector_functions, work_of_block

from ascend_sim.program import CopyWork

from .calls_arch35 import LAYOUTS, Layout, inputs_of, run

ROW = 160  # bytes of 72 halves in UB, in one part


@pytest.mark.parametrize(
    ("call", "rows", "wanted"),
    [
        ((1, (1, 4, 2), 1, (1, 4, 1)), 8, "csqVQkVKcsqVQkVK"),  # AB: two positions, all their heads
        ((4, (2, 5), 4, (2, 1)), 5, "csqVQqkVQKkVKcsqVQqkVQKkVK"),  # AB: the list in steps of three heads
        ((1, (2, 2, 2), 3, (1, 2, 1)), 8, "scqVQkVKscqVQkVK"),  # BAB: batch by batch, cos and sin anew
        ((1, (2, 1, 2), 5, (1, 1, 1)), 4, "scqVQkVKkVKscqVQkVKkVK"),
        ((3, (2, 3, 2), 1, (1, 1, 2)), 8, "csqVQkVKqVQkVK"),  # BA: cos and sin once
        ((3, (2, 3, 2), 1, (2, 1, 2)), 8, "csqVQkVKcsqVQkVK"),  # ABA
    ],
)
def test_order_of_copies_and_vector_functions(call: Layout, rows: int, wanted: str) -> None:
    """`rows` rows of 160 B take a quarter of UB."""
    inputs = inputs_of(call, np.float16, 72)
    _, program = run(call, inputs, "interleave", cores=1, ub_bytes=4 * rows * ROW, values=False)
    nbytes = {name[0]: array.nbytes for name, array in inputs.items()}
    assert letters(program, nbytes) == wanted


def copies(layout: str, mode: str, full: int) -> list[CopyWork]:
    inputs = inputs_of(LAYOUTS[layout], np.float16, 72, full)
    _, program = run(LAYOUTS[layout], inputs, mode, cores=1, ub_bytes=253_952, values=False)
    return [item.work for item in work_of_block(program) if isinstance(item.work, CopyWork)]


@pytest.mark.parametrize(("mode", "parts"), [("half", 2), ("quarter", 4), ("interleave", 1)])
def test_whole_heads_are_a_block_per_part(mode: str, parts: int) -> None:
    """7 positions with 3 heads of query and one of key."""
    lines = [7, 7, 21, 21, 7, 7]  # cos, sin, query in and out, key in and out
    assert [(work.blocks, work.block_bytes, work.gm_pitch_bytes) for work in copies("AB-TND", mode, 72)] == [
        (count * parts, 144 // parts, 144 // parts) for count in lines
    ]


@pytest.mark.parametrize(("mode", "parts"), [("half", 2), ("quarter", 4), ("interleave", 1)])
def test_parts_of_heads_are_a_copy_per_part(mode: str, parts: int) -> None:
    """72 of 80 elements: a block per head, 160 B from the next."""
    works = copies("AB-TND", mode, 80)[2:]  # cos and sin are whole
    assert [(work.blocks, work.block_bytes, work.gm_pitch_bytes) for work in works] == [
        (lines, 144 // parts, 160) for lines in (21, 21, 7, 7) for _ in range(parts)
    ]


@pytest.mark.parametrize(("mode", "parts"), [("half", 2), ("quarter", 4), ("interleave", 1)])
def test_loop_mode_repeats_every_copy(mode: str, parts: int) -> None:
    """ABA: [3 batches][heads][5 positions], the rows in UB are as long as what rotates."""
    works = copies("ABA", mode, 80)
    row = {"half": 192, "quarter": 256, "interleave": 160}[mode]
    assert len(works) == 2 + 4 * parts
    assert [work.loops for work in works[:2]] == [((3, 5 * 144),)] * 2
    query, key = works[2], works[-1]
    assert (query.blocks, query.loops, row) == (5, ((3, 4 * 5 * 160), (4, 5 * 160)), row)
    assert (key.blocks, key.loops) == (5, ((3, 2 * 5 * 160), (2, 5 * 160)))


def in_pairs(pairs: int, rounds: int, narrow: bool) -> Counter[str]:
    a_pair = {"LoadAlign": 6, "Mul": 4, "Sub": 1, "Add": 1, "StoreAlign": 2, "Cast": 8 if narrow else 0}
    found = Counter({name: count * pairs * rounds for name, count in a_pair.items()})
    return +(found + Counter(UpdateMask=rounds))


@pytest.mark.parametrize("layout", ["AB-TND", "BA"])
@pytest.mark.parametrize(("mode", "pairs"), [("half", 1), ("quarter", 2)])
@pytest.mark.parametrize(("dtype", "narrow"), [(np.float16, True), (np.float32, False)])
def test_a_round_is_64_elements_of_every_part(layout: str, mode: str, pairs: int, dtype: Any, narrow: bool) -> None:
    """280 elements: halves of 140 take three rounds, quarters of 70 two."""
    call = LAYOUTS[layout]
    _, program = run(call, inputs_of(call, dtype, 280), mode, cores=1, ub_bytes=253_952, values=False)
    lines = [np.prod(call[1]), np.prod(call[1]) // 3 * call[2] if layout == "AB-TND" else 3 * 3 * 5]
    if layout == "BA":
        lines = [3 * 2 * 5, 3 * 3 * 5]
    rounds = 3 if mode == "half" else 2
    found = [counts(item.work.body) for item in vector_functions(program)]
    assert found == [in_pairs(pairs, int(count) * rounds, narrow) for count in lines]


def test_interleave_has_the_vector_functions_of_the_operator_in_place() -> None:
    """AB: a wasted pass over an empty tail; BA: masks in every round."""
    names = []
    for layout in ("AB-TND", "BA"):
        call = LAYOUTS[layout]
        _, program = run(call, inputs_of(call, np.float32, 128), "interleave", cores=1, ub_bytes=253_952, values=False)
        names.append([item.name for item in vector_functions(program)])
        lines = 21 if layout == "AB-TND" else 30
        found = counts(vector_functions(program)[0].work.body)
        assert found["StoreAlign"] == lines * (3 if layout == "AB-TND" else 2)
    assert names == [["interleave_lines_vf"] * 2, ["interleave_batches_vf"] * 2]
