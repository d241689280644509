"""What declared tilings have in common: coverage of boxes, balance, raw words."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_sim.errors import InputError
from ascend_sim.host.space import Piece, Steps, balance, block_dims, picked, step_sizes, uncovered, words_as_fields
from ascend_sim.host.tiling import Tiling
from ops.shared.structs import Struct

ROWS, HEADS = 4, 3
OWN = Tiling("Op", "ascend910b", "Ascend910B3", 0, "", 1, 0, {}, (), 1024)
EDGES = st.tuples(st.integers(0, ROWS), st.integers(0, ROWS), st.integers(0, HEADS), st.integers(0, HEADS))


def piece(block: int, rows: tuple[int, int], heads: tuple[int, int]) -> Piece:
    return Piece(block, tuple(Steps(first, end - first, int(end > first), end - first) for first, end in (rows, heads)))


@settings(deadline=None)
@given(st.lists(EDGES, max_size=6))
def test_covered_once_or_not(edges: list[tuple[int, int, int, int]]):
    pieces, done = [], Counter()
    for block, (a, b, c, d) in enumerate(edges):
        pieces.append(piece(block, (min(a, b), max(a, b)), (min(c, d), max(c, d))))
        done.update((r, h) for r in range(min(a, b), max(a, b)) for h in range(min(c, d), max(c, d)))
    once = done == Counter((r, h) for r in range(ROWS) for h in range(HEADS))
    assert (uncovered(pieces, {"rows": ROWS, "heads": HEADS}) == []) == once


def test_what_is_wrong_is_said():
    axes = {"rows": 4, "heads": 3}
    both = [piece(0, (0, 2), (0, 3)), piece(1, (1, 4), (0, 2))]
    assert uncovered(both, axes) == ["blocks 0 and 1 both work on rows 1 to 1, heads 0 to 1"]
    assert uncovered(both[:1], axes) == ["6 of 4 rows x 3 heads are worked on by no block"]
    assert uncovered([piece(0, (0, 5), (0, 3))], axes) == ["block 0 works on rows 0 to 4, there are 4"]


def test_many_blocks_are_compared_quickly():
    pieces = [piece(block, (block, block + 1), (0, 3)) for block in range(60_000)]
    assert uncovered(pieces, {"rows": 60_000, "heads": 3}) == []


@pytest.mark.parametrize(
    ("rows", "cores", "even"),
    [([2, 2, 2], None, 1.0), ([3, 1], None, 2 / 3), ([2, 2, 2], 2, 6 / 8), ([2, 2], 4, 0.5), ([], 4, 1.0)],
)
def test_balance(rows: list[int], cores: int | None, even: float):
    assert balance([piece(block, (0, count), (0, 3)) for block, count in enumerate(rows)], cores) == even


def test_choices_that_enumerations_share():
    assert block_dims(10, 4, 9) == [4, 3, 2, 1]
    assert block_dims(10, 8, 9) == [8, 5, 4, 3, 2, 1]  # with 6 or 7 the largest share is 2, as with 5
    assert step_sizes(10, 6, 9) == [6, 5, 4, 3, 2, 1]


def test_few_tilings_are_mostly_of_many_blocks():
    def tilings(*blocks: int) -> list[Tiling]:
        return [replace(OWN, block_dim=count) for count in blocks]

    dims = [4, *range(40, 0, -1)] * 5
    found = [tiling.block_dim for tiling in picked(tilings(*dims), 41)]
    assert found[0] == 4  # the host's own, whatever it is
    assert len(found) == 41
    assert sum(blocks >= 30 for blocks in found) == 28
    assert sum(blocks < 10 for blocks in found[1:]) == 4
    assert len(set(found)) > 20
    scarce = [tiling.block_dim for tiling in picked(tilings(40, *[1] * 30, 39, 20), 11)]
    assert (len(scarce), scarce.count(1)) == (11, 8)  # there are no others
    assert picked(tilings(3, 2, 1), 3) == tilings(3, 2, 1)
    assert picked(tilings(3, 2, 1), 1) == tilings(3)


def test_words():
    layout = ("a", None, ("low", "high"))
    assert words_as_fields([7, 9, 5 | 6 << 32, 0, 0], layout) == {"a": 7, "low": 5, "high": 6}
    for words, text in (
        ([1], "the tiling data has 1 word, the tiling struct has 3"),
        (
            [1, 2, 3, 4],
            "the tiling data has 4 words, the tiling struct has 3, and the words behind it are not all 0",
        ),
    ):
        with pytest.raises(InputError, match=f"^{re.escape(text)}$"):
            words_as_fields(words, layout)


def test_words_of_a_struct_in_parts():
    struct = Struct((("a", "b"), ("b", "c")), filled=1, before=2)
    assert struct.fields([9, 9, 0, 0, 3, 4]) == {"b": 3, "c": 4}
    assert struct.fields([9, 9, 1, 2, 0, 0]) == {"a": 1, "b": 2}
    assert struct.fields([0] * 6) == {"b": 0, "c": 0}
    with pytest.raises(InputError, match=r"^the tiling data fills 2 of the 2 parts of the tiling struct, a call fills"):
        struct.fields([0, 0, 1, 2, 3, 4])
