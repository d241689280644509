from __future__ import annotations

import json

import pytest

from ascend_sim.accuracy.expected import Expected, Point, expected_error, known_errors, points_of, write_errors
from ascend_sim.accuracy.rows import all_rows, choose
from ascend_sim.accuracy.table import make_table

ROPE = ((9.0, 0.1), (10.0, -0.2), (11.0, 0.3), (12.0, 0.1), (20.0, 0.0))
POINTS = [
    *(Point("ascend910b", "rope", us, error) for us, error in ROPE),
    *(Point("ascend910b", "copy", 1000.0, error) for error in (0.5, 0.6)),
]


def test_near_rows_of_the_same_kind_give_the_band():
    found = expected_error("ascend910b", "rope", 10.0, POINTS)
    assert found == Expected(0.2, 5, False)  # four of five errors are at most 20 %
    assert str(found) == "±20 % (from 5 measured rows of this kind and size)"


@pytest.mark.parametrize(("kind", "us"), [("rope", 100.0), ("rope", 1.0), ("copy", 1000.0), ("reduce", 10.0)])
def test_far_from_everything_measured(kind, us):
    found = expected_error("ascend910b", kind, us, POINTS)
    assert (found.band, found.rows, found.extrapolated) == (0.5, 7, True)
    assert str(found) == (
        "±50 % (extrapolated: nothing measured is near; from all 7 measured rows of this chip family)"
    )


def test_another_chip_has_the_rows_of_all():
    found = expected_error("ascend950", "rope", 10.0, POINTS)
    assert found == Expected(0.5, 7, True, "other chips")
    assert str(found) == "±50 % (extrapolated: nothing measured is near; from all 7 measured rows of other chips)"


def test_without_any_rows():
    found = expected_error("ascend950", "rope", 10.0, [])
    assert (found.band, str(found)) == (None, "extrapolated: nothing measured is near")


def test_points_of_a_table(tmp_path):
    rows = choose(all_rows(), "mul-ascendc-b1-") + choose(all_rows(), "bank-conflict-ub-case1")
    points = points_of(make_table(rows, workers=1))
    assert [(p.soc, p.kind, p.us) for p in points] == [("ascend910b", "elementwise", 2.14)]
    write_errors(points, tmp_path / "e.json")
    assert json.loads((tmp_path / "e.json").read_text())["rows"][0]["us"] == 2.14


def test_written_errors_cover_every_kind_that_has_rows():
    kinds = {row.kind for row in all_rows() if row.family and row.headline == "duration_us"}
    assert {point.kind for point in known_errors()} == kinds
