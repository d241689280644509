"""Parameter trees: inheritance of source and grade, laying files over each other, what is refused."""

from __future__ import annotations

import pytest

from ascend_sim.errors import ConfigError
from ascend_sim.soc.base import parse_size, unit_of
from ascend_sim.soc.tree import MISSING, flatten, lay_over, nest


def test_source_and_grade_of_a_group_hold_below_it() -> None:
    leaves = flatten(
        {"source": "RT", "grade": "official", "a": 1, "g": {"grade": "fitted", "b": {"value": 2, "source": "DK"}}}, "f"
    )
    assert [(leaf.path, leaf.value, leaf.source, leaf.grade) for leaf in leaves.values()] == [
        ("a", 1, "RT", "official"),
        ("g.b", 2, "DK", "fitted"),
    ]


def test_bare_values_laid_over_keep_what_is_known() -> None:
    below = flatten({"a": {"value": 1, "source": "RT", "grade": "official", "note": "n"}}, "below")
    leaf = lay_over(below, flatten({"a": 2}, "above"))["a"]
    assert (leaf.value, leaf.file, leaf.source, leaf.grade, leaf.note) == (2, "above", "RT", "official", "n")


def test_a_new_source_drops_the_old_remark() -> None:
    below = flatten({"a": {"value": 1, "source": "RT", "grade": "official", "note": "n"}}, "below")
    leaf = lay_over(below, flatten({"a": {"value": 2, "source": "rows", "grade": "measured"}}, "above"))["a"]
    assert (leaf.value, leaf.source, leaf.grade, leaf.note) == (2, "rows", "measured", "")


def test_a_leaf_may_leave_its_value_to_a_variant() -> None:
    below = flatten({"a": {"source": "RT", "grade": "official"}}, "below")
    assert below["a"].value is MISSING
    assert lay_over(below, flatten({"a": 3}, "above"))["a"].value == 3


def test_keys_keep_their_type_and_lists_become_tuples() -> None:
    leaves = flatten({"t": {1: 0.5, 8: [1, [2]]}}, "f")
    assert list(leaves) == ["t.1", "t.8"]
    assert nest(leaves) == {"t": {1: 0.5, 8: (1, (2,))}}


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        ({"a": {"value": 1, "grade": "good"}}, "f: a: grade 'good'; allowed: official, measured, fitted, assumed"),
        ({"a": {"value": 1, "source": 3}}, "f: a: source must be text, got 3"),
        (
            {"a": {"value": 1, "b": 2}},
            "f: a: beside a plain `value` only source, grade, note, unit may stand, not b",
        ),
        ({"a": {"value": {"b": 2}}}, "f: a: beside a plain `value` only source, grade, note, unit may stand"),
    ],
)
def test_refused_trees(tree: object, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        flatten(tree, "f")
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("path", "unit"),
    [
        ("clock_mhz", "MHz"),
        ("ub.bytes", "B"),
        ("l2.read_bytes_per_cycle_per_aic", "B/cycle/aic"),
        ("timing.vector.tail_cycles.Add", "cycles"),
        ("timing.launch_us.8", "us"),
        ("cores.aiv", "cores"),
        ("name", None),
    ],
)
def test_units_are_read_off_names(path: str, unit: str | None) -> None:
    assert unit_of(path) == unit


@pytest.mark.parametrize(
    ("given", "value"), [("192 KiB", 196_608), ("1MiB", 2**20), ("64 GiB", 2**36), ("1 KB", "1 KB"), (7, 7)]
)
def test_sizes(given: object, value: object) -> None:
    assert parse_size(given) == value
