"""Ranking tilings against the operator's own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import ascend_sim
from ascend_sim.accuracy.expected import Expected
from ascend_sim.errors import InputError, UnsupportedError
from ascend_sim.host.registry import operator_named
from ascend_sim.report.style import PLAIN
from ascend_sim.soc import load
from ascend_sim.tune.page import write_page
from ascend_sim.tune.search import Tuning, tune
from ascend_sim.tune.text import tuning_csv, tuning_json, tuning_text

OP = operator_named("inplace_partial_rotary_mul")
INPUTS = {"x": ((1, 40, 2, 32), "float16"), "cos": ((1, 40, 1, 32), "float16"), "sin": ((1, 40, 1, 32), "float16")}
ATTRS = {"partial_slice": (0, 32)}


@pytest.fixture(scope="module")
def found() -> Tuning:
    return tune(OP, INPUTS, ATTRS, load("Ascend910B3", {"cores.aic": "2"}), limit=8, workers=1)


def test_ranked_with_the_own_among_them(found: Tuning):
    times = [trial.duration_us for trial in found.trials]
    assert times == sorted(times)
    assert found.own in found.trials
    assert found.own.error == 0.0
    chip = load("Ascend910B3", {"cores.aic": "2"})
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
            assert sum(parts.values()) == pytest.approx(entry["duration_us"], rel=0.6)


def test_page(found: Tuning, tmp_path: Path):
    write_page(found, tmp_path / "tuning.html")
    text = (tmp_path / "tuning.html").read_text(encoding="utf-8")
    assert text.count("<tr>") == len(found.trials) + 1
    assert text.count('class="plotly-graph-div"') == 3
    assert "<script src=" not in text  # offline


def test_refusals():
    with pytest.raises(InputError, match=r"^limit is 0, it must be 1 or more$"):
        tune(OP, INPUTS, ATTRS, load("Ascend910B3"), limit=0)
    none = replace(OP, supports={soc: replace(support, space=None) for soc, support in OP.supports.items()})
    text = r"^inplace_partial_rotary_mul declares its tilings on no chip, not on ascend910b$"
    with pytest.raises(UnsupportedError, match=text):
        tune(none, INPUTS, ATTRS, load("Ascend910B3"))
