from __future__ import annotations

from ascend_sim.accuracy import checks


def test_rows_chosen_by_text_as_json(cli):
    answer = cli("accuracy", "--only", "bank_conflict_ub", "--json")
    assert answer.code == 0
    rows = answer.json["rows"]
    assert len(rows) == 8
    assert {row["protocol"] for row in rows} == {"P4"}
    assert rows[1]["compared"]["loop_us"]["measured"] == 83.34
    assert abs(rows[1]["compared"]["loop_us"]["error"]) < 0.01
    assert answer.json["summary"]["duration"]["count"] == 8


def test_text_names_every_row_and_the_summary(cli):
    answer = cli("accuracy", "--only", "bank_conflict_ub_case2")
    assert answer.code == 0
    assert "asc-devkit-bank-conflict-ub-case2" in answer.out
    assert "duration by kind" in answer.out


def test_check_exits_with_1_when_a_threshold_is_missed(cli, monkeypatch):
    arguments = ("accuracy", "--only", "bank_conflict_ub_case5", "--check")
    assert cli(*arguments).code == 0
    monkeypatch.setattr(checks, "DURATION_MEDIAN", checks.Threshold("duration, median error", 0.0, 0.0001))
    answer = cli(*arguments)
    assert answer.code == 1
    assert "MISSED" in answer.out


def test_text_that_no_row_has(refused):
    assert refused("accuracy", "--only", "no such row") == (
        "--only 'no such row': no measured row has this in its id, kernel, kind or chip; sources: asc-devkit, "
        "asc-devkit-docs, msopprof, v41rope, rope-llama31, tileops, cannbot, msinsight, mstt, vtriton, cannbot-950"
    )
