"""The fit finds constants again that were used to make the measurements, and says what it does not know."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from ascend_sim.accuracy.fit.__main__ import main
from ascend_sim.accuracy.fit.constants import (
    MOST_CONSTANTS,
    PRIORS,
    REFERENCES,
    fitted_constants,
    may_touch,
    rounded,
    without_effect,
)
from ascend_sim.accuracy.fit.newton import Linear, fit, linearise, loss, residuals, stepped
from ascend_sim.accuracy.fit.simulations import Simulations
from ascend_sim.accuracy.fit.validate import ablation, leave_one_out, median_error
from ascend_sim.accuracy.rows import all_rows, choose
from ascend_sim.accuracy.table import entry

PROLOGUE, LATENCY = "timing.scalar.prologue_cycles", "timing.memory.load_latency_cycles"
GRAPH = "timing.launch.graph_us"
ROWS = choose(all_rows(), "mul-ascendc-b2-") + choose(all_rows(), "mul-ascendc-b8-") + choose(all_rows(), "h1-d128-t4-")


def made_with(values):
    """Rows measured on a chip with these constants."""
    return [
        dataclasses.replace(
            found.row, metrics={name: found.sample.figures[name] for name in ("duration_us", "aiv_us", "mte2_us")}
        )
        for found in Simulations(ROWS, values, workers=1).table(values)
    ]


@pytest.mark.parametrize("arch", REFERENCES)
def test_few_constants_all_of_them_numbers_with_a_source_and_a_prior(arch):
    constants = fitted_constants(REFERENCES[arch])
    assert 0 < len(constants) <= MOST_CONSTANTS
    assert all(isinstance(constant.value, int | float) for constant in constants)
    assert all(constant.source for constant in constants)
    assert {constant.path for constant in constants} == set(PRIORS[arch])


def test_finds_the_constants_that_made_the_rows():
    truth = {PROLOGUE: 700.0, LATENCY: 200.0}
    start = {PROLOGUE: 880.0, LATENCY: 144.0}
    simulations = Simulations(made_with(truth), start, workers=1)
    assert median_error(simulations.table(start)) > 0.02
    found, _ = fit(simulations, start, truth, rounds=3)
    assert median_error(simulations.table(found)) < 0.002
    assert found[PROLOGUE] == pytest.approx(700, rel=0.03)


def test_a_fit_that_cannot_improve_changes_nothing():
    truth = {PROLOGUE: 700.0}
    assert fit(Simulations(made_with(truth), truth, workers=1), truth, truth, rounds=1)[0] == truth


def test_residuals_are_logarithms_with_weights():
    found = entry(ROWS[0])
    values = residuals([found])
    assert values[found.row.id, "duration"] == (pytest.approx(np.log1p(found.headline.error)), 1.0)
    assert values[found.row.id, "mte2"][1] == 0.5


def test_outliers_count_linearly():
    assert loss({("a", "duration"): (0.1, 1.0)}, {}, {}) == pytest.approx(0.005)
    far, near = (loss({("a", "duration"): (size, 1.0)}, {}, {}) for size in (1.15, 0.15))
    assert far - near == pytest.approx(0.15)
    assert loss({}, {"x": 2.0}, {"x": 1.0}) == pytest.approx((0.05 / 0.7) ** 2 * math.log(2) ** 2 / 2)


def linear(slopes, current):
    count = len(current)
    values = {"a.x_us": 1.0, "a.y_us": 2.0}
    keys = [(f"row{i}", "duration") for i in range(count)]
    return Linear(values, keys, np.array(current), np.ones(count), np.array(slopes))


def test_one_step_solves_a_linear_problem():
    slopes = np.array([[1.0, 0.0], [0.0, 0.5], [1.0, 1.0]])
    wanted = np.array([0.01, -0.02])
    found = linear(slopes, -(slopes @ wanted)).best({"a.x_us": 1.0, "a.y_us": 2.0})
    assert found == {
        "a.x_us": pytest.approx(math.exp(0.01), rel=2e-3),
        "a.y_us": pytest.approx(2 * math.exp(-0.02), rel=2e-3),
    }


def test_a_constant_that_no_row_shows_goes_to_its_prior():
    found = linear([[1.0, 0.0], [1.0, 0.0]], [0.0, 0.0]).best({"a.x_us": 1.0, "a.y_us": 1.5})
    assert found == {"a.x_us": 1.0, "a.y_us": 1.5}


def test_left_out_rows_say_nothing():
    both = linear([[1.0, 0.0], [1.0, 0.0]], [0.1, -0.1])
    priors = {"a.x_us": 1.0, "a.y_us": 2.0}
    assert both.best(priors)["a.x_us"] == pytest.approx(1.0, abs=1e-3)
    assert both.best(priors, np.array([True, False]))["a.x_us"] == pytest.approx(math.exp(-0.1), rel=2e-3)


def test_constants_without_effect_and_whole_numbers():
    assert without_effect("timing.memory.port_total_bytes_per_cycle", 160.0) == 16000.0
    assert without_effect(PROLOGUE, 880.0) == 1
    assert without_effect("timing.memory.hbm_write_cost_ratio", 1.7) == 1
    assert without_effect("timing.launch.graph_us", 0.3) == pytest.approx(0.003)
    assert (rounded("a.b_cycles", 2.6), rounded("a.b_cycles", 0.2), rounded("a.rate", 2.60001)) == (3, 1, 2.6)
    assert (rounded("a.hbm_run_bytes", 2.6), rounded("a.b_entries", 2.6)) == (3, 3)
    assert (rounded("a.b_bytes_per_cycle", 2.6), rounded("a.b_ratio", 0.5), rounded("a.b_share", 2.0)) == (
        2.6,
        1.0,
        1.0,
    )
    assert rounded("a.latency_cycles.Gather", 2.6) == 3
    assert [stepped("a.b_cycles", v) for v in (1, 4, 100)] == [2, 5, 108]
    assert stepped("a.b_share", 1.0) == pytest.approx(1 / 1.08, rel=1e-3)


def test_constants_that_cannot_touch_a_row_do_not_change_it():
    warm, graph = (entry(row) for row in (ROWS[0], ROWS[2]))
    values = {p.path: float(p.value) for p in fitted_constants()}
    blind = {path for path in values if not may_touch(path, warm)}
    assert {GRAPH, "timing.launch.cold_start.few_launches_us", "timing.memory.hbm_run_bytes"} <= blind
    assert {path for path in values if not may_touch(path, graph)} == blind - {GRAPH, f"{GRAPH}_per_block"}
    doubled = {path: 2 * value if path in blind else value for path, value in values.items()}
    there = Simulations([ROWS[0]], doubled, workers=1).table(doubled)
    assert there[0].sample.figures == warm.sample.figures


def test_rows_are_simulated_only_when_a_constant_that_bears_on_them_changes():
    simulations = Simulations([ROWS[0], ROWS[2]], {PROLOGUE: 900.0, GRAPH: 0.3}, workers=1)
    assert simulations.count == 2
    simulations.table({PROLOGUE: 900.0, GRAPH: 0.4})
    assert simulations.count == 3
    simulations.table({PROLOGUE: 900.2, GRAPH: 0.3})
    assert simulations.count == 3


def test_ablation_and_sources_left_out():
    truth = {PROLOGUE: 700.0, GRAPH: 0.3}
    rows = made_with(truth)
    simulations = Simulations(rows, truth, workers=1)
    prologue, graph = ablation(simulations, truth)
    assert (prologue.rows, graph.rows) == (2, 1)  # from one launch of a graph to the next prologues are hidden
    assert (prologue.with_it, graph.with_it) == (0, 0)
    assert prologue.without_it > 0.1
    assert graph.without_it > 0.1
    priors = {PROLOGUE: 700.0, GRAPH: 1.1}
    found = leave_one_out(simulations, linearise(simulations, truth), priors)
    assert set(found) == {"cannbot", "v41rope"}
    values, errors = found["v41rope"]
    assert values[GRAPH] == pytest.approx(1.1)  # the other source says nothing of graphs
    assert errors == [pytest.approx(0.8 / rows[2].metrics["duration_us"], rel=0.02)]
    assert max(map(abs, found["cannbot"][1])) < 0.001


def test_the_command(capsys):
    main(["--only", "mul-ascendc-b1-", "--rounds", "1", "--workers", "1"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "1 of 1 rows of architecture 2201, 19 fitted constants"
    assert sum(line.startswith("timing.memory.load_latency_cycles ") for line in lines) == 2
    assert any(line.startswith("without cannbot ") for line in lines)
    assert lines[-1].endswith(" s")
