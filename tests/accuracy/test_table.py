from __future__ import annotations

import dataclasses

import pytest

from ascend_sim.accuracy.checks import ORDER, Check, Threshold, checks
from ascend_sim.accuracy.rows import Row, all_rows, choose
from ascend_sim.accuracy.summary import band_of, duration_errors, rotary_order, spread, summarise
from ascend_sim.accuracy.table import Entry, make_table
from ascend_sim.accuracy.text import table_text
from ascend_sim.sampling.steady import Sample

from .trends import check_trends


def make(name, predicted, measured, kind="copy", required=True, **metrics):
    row = Row(
        id=name, soc="Ascend910B3", group="g", kernel=name, kind=kind, protocol="P1", launch_kind="back_to_back",
        l2="warm", block_dim=1, shapes=(), dtype="float16", metrics={"duration_us": measured, **metrics},
        source="s", trust="high", family="copy_loop", required=required,
    )  # fmt: skip
    if predicted is None:
        return Entry(row, None, "cannot")
    return Entry(
        row,
        Sample("ascend910b", {"duration_us": predicted, "aiv_us": 9.0, "vec_us": 4.0, "vec_ratio": 0.4}, 1, 10, 1, 1),
    )


def test_errors_and_their_spread():
    entries = [make("a", 11.0, 10.0), make("b", 9.0, 10.0), make("c", 15.0, 10.0)]
    assert duration_errors(entries) == pytest.approx([0.1, -0.1, 0.5])
    found = spread(duration_errors(entries))
    assert (found.count, found.median, found.worst, found.bias) == pytest.approx((3, 0.1, 0.5, 0.1))
    assert found.p90 == pytest.approx(0.42)


def test_a_required_row_that_is_missing_counts_as_100_percent():
    assert duration_errors([make("a", None, 10.0), make("b", None, 10.0, required=False)]) == [1.0]


def test_pipes_are_compared_by_time_or_share_unless_they_are_idle():
    assert make("a", 10.0, 10.0, vec_us=5.0).pipe("vec").error == pytest.approx(-0.2)
    assert make("a", 10.0, 10.0, vec_ratio=0.5).pipe("vec").error == pytest.approx(-0.2)
    assert make("a", 10.0, 10.0, vec_us=0.4).pipe("vec") is None
    assert make("a", 10.0, 10.0).pipe("vec") is None


def test_order_of_rotary_rows():
    entries = [make("a", 1.0, 1.0, "rope"), make("b", 2.0, 1.1, "rope"), make("c", 1.5, 2.0, "rope"), make("d", 9, 9)]
    found = rotary_order(entries)  # a-b differ by 10 % only; a-c is right, b-c is not
    assert (found.pairs, found.right, found.share) == (2, 1, 0.5)


@pytest.mark.parametrize(("us", "band"), [(4.9, "< 5 us"), (5.0, "5-50 us"), (120.0, "50-500 us"), (1e6, "> 500 us")])
def test_bands(us, band):
    assert band_of(us) == band


def test_summary_by_group():
    summary = summarise([make("a", 11.0, 10.0), make("b", 300.0, 200.0, "rope")])
    assert summary["by"]["kind"]["rope"]["median"] == 0.5
    assert summary["by"]["duration"]["5-50 us"] == {"count": 1, "median": 0.1, "p90": 0.1, "worst": 0.1, "bias": 0.1}


@pytest.mark.parametrize(
    ("value", "ok", "goal"), [(0.05, True, True), (0.15, True, False), (0.21, False, False), (None, True, True)]
)
def test_checks_have_a_pin_and_a_goal(value, ok, goal):
    found = Check(Threshold("x", 0.1, 0.2), value)
    assert (found.ok, found.reaches_goal) == (ok, goal)


def test_the_order_must_not_fall_below_its_pin():
    assert not Check(ORDER, 0.5).ok
    assert Check(ORDER, 1.0).ok


def test_text_of_a_table():
    text = table_text([make("row-one", 11.0, 10.0, aiv_us=10.0), make("row-two", None, 1.0)])
    assert "row-one" in text.splitlines()[2]
    assert "+10.0%  -10.0%" in text
    assert "not in the table: 1 row" in text
    assert "   1  g              cannot" in text


def test_bank_conflicts_of_the_official_sample():
    """Eight placements of the operands of one Add, against counters read in the kernel."""
    entries = make_table(choose(all_rows(), "bank-conflict-ub"), workers=1)
    assert len(entries) == 8
    assert all(abs(entry.headline.error) < 0.023 for entry in entries)


def test_tables_are_the_same_on_one_process_and_on_two():
    rows = [
        row
        for text in ("mul-ascendc-b1-", "h1-d128-t1-", "torch-npu-t000", "torch-npu-t003", "npu-mul-torch-b1-")
        for row in choose(all_rows(), text)
    ]
    one, two = make_table(rows, workers=1), make_table(rows, workers=2)
    assert [entry.row for entry in one] == [entry.row for entry in two] == rows
    assert [entry.sample for entry in one] == [entry.sample for entry in two]
    assert one[-1].reason.startswith("built-in CANN operator")


@pytest.mark.slow
def test_the_whole_table_keeps_its_thresholds():
    entries = make_table(all_rows())
    missing = [entry.row.id for entry in entries if entry.row.required and entry.sample is None]
    assert missing == []
    assert [found.threshold.name for found in checks(entries) if not found.ok] == []
    assert all(entry.sample.bound < 0.1 for entry in entries if entry.sample)
    check_trends(entries)


def test_a_launch_that_was_measured_twice_is_simulated_once():
    same = choose(all_rows(), "tile-2048-ic8") + choose(all_rows(), "tile-2048-ma2048")
    counts = []
    entries = make_table([replace_metrics(row) for row in same], workers=1, done=lambda n, of: counts.append((n, of)))
    assert counts == [(1, 1)]
    assert entries[0].sample is entries[1].sample
    assert [entry.row.measured_us for entry in entries] == [2041.4, 2049.78]


def replace_metrics(row):
    """The row on fewer elements, so that it takes no time."""
    return dataclasses.replace(row, params={**row.params, "elements": 8 * 2048 * 4})
