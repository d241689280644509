"""Ranking tilings against the operator's own."""

from __future__ import annotations

import csv
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

import ascend_sim
from ascend_sim.accuracy.expected import Expected
from ascend_sim.errors import InputError, KernelError, UnsupportedError
from ascend_sim.host.registry import operator_named
from ascend_sim.host.tiling import Tiling
from ascend_sim.report.style import PLAIN
from ascend_sim.sampling.calls import TimedCall
from ascend_sim.soc import load
from ascend_sim.tune.heatmap import map_of
from ascend_sim.tune.page import page, write_page
from ascend_sim.tune.processes import Processes
from ascend_sim.tune.reasons import reason
from ascend_sim.tune.search import Tuning, ranked, tune
from ascend_sim.tune.text import saved_text, tuning_csv, tuning_json, tuning_text
from ascend_sim.tune.trial import Trial, account_of, try_out

OP = operator_named("inplace_partial_rotary_mul")
INPUTS = {"x": ((1, 40, 2, 32), "float16"), "cos": ((1, 40, 1, 32), "float16"), "sin": ((1, 40, 1, 32), "float16")}
ATTRS = {"partial_slice": (0, 32)}


@pytest.fixture(scope="module")
def found() -> Tuning:
    return tune(OP, INPUTS, ATTRS, load("Ascend910B3", {"cores.aiv": "4"}), limit=16, executor=Processes(1))


def test_at_most_as_many_as_asked_for(found: Tuning):
    assert len(found.trials) == 16
    alone = tune(OP, INPUTS, ATTRS, load("Ascend910B3", {"cores.aiv": "4"}), limit=1, executor=Processes(1))
    assert [alone.verdict(trial) for trial in alone.trials] == ["own"]
    assert "Best   the operator's own choice\nTime   " in tuning_text(alone, PLAIN)


def test_ranked_with_the_own_among_them(found: Tuning):
    times = [trial.duration_us for trial in found.trials]
    assert all(time < 1.001 * later for time, later in pairwise(times))
    assert found.own in found.trials
    assert found.own.error == 0.0
    chip = load("Ascend910B3", {"cores.aiv": "4"})
    assert found.own.duration_us == ascend_sim.run(OP, **INPUTS, **ATTRS, soc=chip, values=False).duration_us


def test_a_difference_within_the_error_is_a_tie(found: Tuning):
    own, last = found.own, found.trials[-1]
    difference = last.duration_us / own.duration_us - 1

    def verdict(band: float) -> str:
        expected = Expected(band, 9, False)
        return Tuning(found.operator, found.chip, found.infos, {}, own, found.trials, expected, 1.0, 1).verdict(last)

    assert verdict(difference * 1.01) == "tie"
    assert verdict(difference * 0.99) == "slower"
    assert found.verdict(own) == "own"


def test_the_error_is_that_of_run(found: Tuning):
    chip = load("Ascend910B3", {"cores.aiv": "4", "clock_mhz": "1"})
    slow = tune(OP, INPUTS, ATTRS, chip, limit=1, executor=Processes(1))
    for tuning in (found, slow):
        told = ascend_sim.run(OP, **INPUTS, **ATTRS, soc=tuning.chip, values=False).expected_error
        assert tuning_json(tuning)["expected_error"] == told
        text = f"{told['text']}; a difference up to this, plus the ± of both times where there is one, is a tie"
        assert f"\nError  {text}\n" in tuning_text(tuning, PLAIN)
        assert f"<p>Error of the model: {text}.</p>" in page(tuning)
    assert "extrapolated" in str(slow.expected)


def test_the_excerpts_own_error_counts(found: Tuning):
    own = replace(found.own, duration_us=10.0, error=0.02)
    other = replace(own, duration_us=10.8, error=0.03)
    assert replace(found, own=own, expected=Expected(0.031, 9, False)).verdict(other) == "tie"
    assert replace(found, own=own, expected=Expected(0.029, 9, False)).verdict(other) == "slower"


def changing(trial: Trial, duration_us: float, changes: bool = True) -> Trial:
    return replace(trial, duration_us=duration_us, tiling=replace(trial.tiling, changes_source=changes))


def test_of_equally_fast_ones_the_one_that_needs_no_change_of_the_source(found: Tuning):
    own = replace(found.own, duration_us=10.0)
    plain, changed, clear = changing(own, 10.0, False), changing(own, 9.995), changing(own, 9.9)
    for order in ([changed, own, plain], [changed, plain, own]):
        assert ranked(order, own) == [own, plain, changed]
    trials = ranked([own, changed, clear], own)
    assert trials == [clear, own, changed]
    tuning = replace(found, own=own, trials=trials, expected=Expected(0.05, 9, False))
    assert tuning.best_as_it_is is own
    text = tuning_text(tuning, PLAIN, 1)
    assert (
        "\nBest   1.0 % faster than the operator's own choice: a tie, the own choice is as good\n"
        "Best   without a change of the kernel's source: rank 2, the operator's own choice\n"
    ) in text
    assert saved_text(tuning, Path("a.json")) == (
        "Saved  rank 1, for which the kernel's source has to be changed: a.json"
    )
    assert saved_text(replace(tuning, trials=[own]), Path("a.json")) == (
        "Saved  rank 1, the operator's own choice: a.json"
    )
    assert tuning_json(tuning)["best_without_source_change"]["rank"] == 2
    assert [row["changes_source"] for row in csv.DictReader(tuning_csv(tuning).splitlines())] == ["yes", "no", "yes"]


def test_the_best_without_a_change_is_shown_whatever_its_rank(found: Tuning):
    own = replace(found.own, duration_us=10.0)
    plain = changing(own, 8.0, False)
    trials = [changing(own, 6.0), changing(own, 7.0), plain, own]
    tuning = replace(found, own=own, trials=trials, expected=Expected(0.05, 9, False))
    lines = tuning_text(tuning, PLAIN, 1).splitlines()
    assert [line.split()[0] for line in lines[3:7]] == ["1", "3", "4", "Error"]
    assert (
        "Best   without a change of the kernel's source: rank 3, 20.0 % faster than the operator's own choice" in lines
    )


def test_buffers_other_than_the_kernels_need_a_change(found: Tuning):
    assert {trial.tiling.changes_source for trial in found.trials} == {False, True}
    for trial in found.trials:
        assert trial.tiling.changes_source == any("in the kernel's source" in note for note in trial.tiling.notes)


def test_why(found: Tuning):
    own = replace(found.own, busiest=0.1, bound="vec", duration_us=10.0, account={"vec": {"work": 8.0, "launch": 2.0}})
    slow = replace(own, busiest=0.2, duration_us=18.0, account={"vec": {"work": 16.0, "launch": 2.0}})
    waiting = {"vec": own.account["vec"], "mte2": {"work": 11.0, "waits for vec": 1.0}}
    late = replace(own, bound="mte2", duration_us=12.0, account=waiting)
    assert reason(own, slow) == "the busiest core has 2.00 x the work; vec: work 8.00 → 16.00 us"
    assert (
        reason(own, late) == "mte2: work 0.0000 → 11.00 us, waits for vec 0.0000 → 1.00 us"
    )  # what limits the slower one
    fewer = replace(own, busiest=0.3, duration_us=9.0, account={"vec": {"work": 8.5, "launch": 0.5}})
    assert reason(own, fewer) == "vec: launch 2.00 → 0.500 us; although the busiest core has 3.00 x the work"
    short = {"vec": {"work": 9.0, "launch": 1.0, "waits for mte2": 0.2}}
    late = replace(own, duration_us=10.2, account=short)
    assert reason(own, late) == "vec: work 8.00 → 9.00 us, waits for mte2 0.0000 → 0.200 us, but launch 2.00 → 1.00 us"
    assert reason(own, own) == "no part of the time differs"
    assert reason(slow, own) == "the busiest core has 0.50 x the work; vec: work 16.00 → 8.00 us"


def test_kernels_that_name_their_choices_differently(found: Tuning):
    other = replace(found.trials[-1], choices={"kernel": "other", "columns per loop": 7})
    tuning = replace(found, trials=[*found.trials[:-1], other])
    names = [*found.own.choices, "columns per loop"]
    assert tuning.choices == names
    text = tuning_text(tuning, PLAIN)
    assert "columns per loop" in text
    assert len({len(row) for row in csv.reader(tuning_csv(tuning).splitlines())}) == 1
    assert "<th>columns per loop</th>" in page(tuning)


def test_no_part_of_the_time_of_an_excerpt_is_negative():
    x, table = ((2, 1024, 32, 128), "float16"), ((2, 1024, 1, 128), "float16")
    inputs = {"x": x, "cos": table, "sin": table}
    call = TimedCall(OP, inputs, {"partial_slice": (0, 128)}, load("ascend950", {"l2.bytes": "8 MiB"}))
    tilings = list(OP.space_on("ascend950").candidates(call.context, 12))
    found = call.time(tilings[-1], rough=True)
    timeline = found.whole.launch.timeline
    begins = {timeline.to_us(line.begin) for line in timeline.cores}
    assert not found.exact
    for parts in account_of(found).values():
        assert min(parts.values()) >= 0
        assert sum(parts.values()) == pytest.approx(found.duration_us)
        assert any(parts["until its block starts"] == pytest.approx(begin) for begin in begins)


def test_one_that_fails_costs_only_itself(found: Tuning, monkeypatch: pytest.MonkeyPatch):
    def fails(call: TimedCall, tiling: Tiling, **_: object):
        if tiling.block_dim == 1:
            raise KernelError("no such thing")
        return try_out(call, tiling, rough=True)

    monkeypatch.setattr("ascend_sim.tune.search.try_out", fails)
    chip = load("Ascend910B3", {"cores.aiv": "4"})
    tuning = tune(OP, INPUTS, ATTRS, chip, limit=8, executor=Processes(1))
    assert len(tuning.lost) == 8 - len(tuning.trials) > 0
    assert "Note   one tiling could not be timed: no such thing" in tuning_text(tuning, PLAIN)


def test_an_own_choice_that_is_not_legal_is_called_that(found: Tuning):
    text = tuning_text(replace(found, faults=["2 of 9 rows are worked on by no block"]), PLAIN)
    assert "Note   the operator's own choice is not legal: 2 of 9 rows are worked on by no block" in text


def test_table_csv_and_json(found: Tuning):
    text = tuning_text(found, PLAIN, 3)
    assert f"{len(found.trials)} tilings" in text
    assert text.count(" own ") >= 1
    rows = tuning_csv(found).splitlines()
    assert len(rows) == len(found.trials) + 1
    data = tuning_json(found)
    assert data["tilings"][data["own_rank"] - 1]["verdict"] == "own"
    for entry in data["tilings"]:
        for parts in entry["account_us"].values():
            assert sum(parts.values()) == pytest.approx(entry["duration_us"], abs=0.01)


def test_page(found: Tuning, tmp_path: Path):
    write_page(found, tmp_path / "tuning.html")
    text = (tmp_path / "tuning.html").read_text(encoding="utf-8")
    assert text.count("<tr>") == len(found.trials) + 1
    assert text.count('class="plotly-graph-div"') == 3
    assert "<script src=" not in text  # offline
    assert 'name="viewport"' in text
    row = " \\u00b7 ".join(str(value) for value in found.own.choices.values())
    assert row in text  # the map names choices once, in front


def test_nothing_to_do(tmp_path: Path):
    tuning = tune(OP, INPUTS, {"partial_slice": (5, 5)}, load("Ascend910B3"), executor=Processes(1))
    assert [trial.tiling.is_noop for trial in tuning.trials] == [True]
    assert "Best   the operator's own choice" in tuning_text(tuning, PLAIN)
    write_page(tuning, tmp_path / "tuning.html")
    assert tuning_json(tuning)["own"]["balance"] == 1.0
    assert len(tuning_csv(tuning).splitlines()) == 2


def test_a_grid_is_what_the_map_goes_across(found: Tuning):
    assert (map_of(found).across, "rows per loop" in map_of(found).names) == ("blocks", True)
    grids = ["1 x 4", "2 x 2", "4 x 1", "2 x 1"]
    own = replace(found.own, tiling=replace(found.own.tiling, block_dim=4), choices={"grid": "1 x 4", "rows": 2})
    trials = [
        replace(own, tiling=replace(own.tiling, block_dim=4 if rank < 3 else 2), choices={"grid": grid, "rows": rows})
        for rank, grid in enumerate(grids)
        for rows in (2, 3)
    ]
    grid = map_of(replace(found, own=own, trials=trials))
    assert (grid.across, grid.names) == ("grid", ["rows"])
    assert grid.columns == ["2 x 1", "1 x 4", "2 x 2", "4 x 1"]
    assert [(name, len(row)) for name, row in grid.rows] == [("2", 4), ("3", 4)]
    assert grid.text == "A row is rows; fastest first. Colour: time over that of the own choice."


def test_page_of_one_tiling(found: Tuning):
    text = page(replace(found, trials=[found.own]))
    assert "own, fastest" in text
    assert text.count("<tr>") == 2


def test_refusals():
    with pytest.raises(InputError, match=r"^limit is 0, it must be 1 or more$"):
        tune(OP, INPUTS, ATTRS, load("Ascend910B3"), limit=0)
    none = replace(OP, supports={soc: replace(support, space=None) for soc, support in OP.supports.items()})
    text = r"^inplace_partial_rotary_mul declares its tilings on no chip, not on ascend910b$"
    with pytest.raises(UnsupportedError, match=text):
        tune(none, INPUTS, ATTRS, load("Ascend910B3"))


def test_few_tilings_are_those_that_use_the_cores():
    x, table = ((1, 128, 4, 32), "float16"), ((1, 128, 1, 32), "float16")
    grad = operator_named("rotary_position_embedding_grad")
    chip = load("ascend950", {"cores.aiv": "16"})
    found = tune(
        grad, {"dy": x, "cos": table, "sin": table, "x": x}, {"mode": 0}, chip, limit=20, executor=Processes(1)
    )
    blocks = [trial.tiling.block_dim for trial in found.trials]
    assert len(blocks) == 20
    assert sum(count >= 12 for count in blocks) >= 10
    assert sum(count < 4 for count in blocks) <= 2
