"""Counts in words."""

from __future__ import annotations

import pytest

from ascend_sim.plurals import counted, plural, plural_of, singular_of

NOUNS = {
    "block": "blocks",
    "batch": "batches",
    "pass": "passes",
    "box": "boxes",
    "entry": "entries",
    "key": "keys",
    "size": "sizes",
    "head": "heads",
}


@pytest.mark.parametrize(("one", "many"), NOUNS.items())
def test_one_and_many(one: str, many: str) -> None:
    assert (plural_of(one), singular_of(many)) == (many, one)
    assert (counted(1, one), counted(2, one), counted(0, one)) == (f"1 {one}", f"2 {many}", f"0 {many}")


def test_reports_separate_thousands_and_error_texts_do_not() -> None:
    assert (plural(2000, "block"), counted(2000, "block")) == ("2,000 blocks", "2000 blocks")
