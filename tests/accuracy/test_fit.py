"""The fit finds constants again that were used to make the measurements."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from ascend_sim.accuracy.fit import (
    MOST_CONSTANTS,
    fit,
    fitted_constants,
    gauss_newton,
    loss,
    median_error,
    residuals,
    rounded,
    simulate,
    without_effect,
)
from ascend_sim.accuracy.rows import all_rows, choose

ROWS = choose(all_rows(), "mul-ascendc-b2-") + choose(all_rows(), "mul-ascendc-b8-") + choose(all_rows(), "h1-d128-t4-")


def made_with(values):
    """Rows measured on a chip with these constants."""
    return [
        dataclasses.replace(
            entry.row, metrics={name: entry.sample.figures[name] for name in ("duration_us", "aiv_us", "mte2_us")}
        )
        for entry in simulate(ROWS, values, workers=1)
    ]


def test_few_constants_and_all_of_them_numbers():
    constants = fitted_constants()
    assert 0 < len(constants) <= MOST_CONSTANTS
    assert all(isinstance(constant.value, int | float) for constant in constants)
    assert all(constant.source for constant in constants)


def test_finds_the_constants_that_made_the_rows():
    truth = {"timing.scalar.prologue_cycles": 700.0, "timing.memory.load_latency_cycles": 200.0}
    rows = made_with(truth)
    start = {"timing.scalar.prologue_cycles": 880.0, "timing.memory.load_latency_cycles": 144.0}
    assert median_error(simulate(rows, start, workers=1)) > 0.02
    found = fit(rows, start, rounds=3, workers=1)
    assert median_error(simulate(rows, found, workers=1)) < 0.002
    assert found["timing.scalar.prologue_cycles"] == pytest.approx(700, rel=0.03)


def test_a_fit_that_cannot_improve_changes_nothing():
    truth = {"timing.scalar.prologue_cycles": 700.0}
    assert fit(made_with(truth), truth, rounds=1, workers=1) == truth


def test_residuals_are_logarithms_with_weights():
    entries = simulate(ROWS[:1], {}, workers=1)
    found = residuals(entries)
    entry = entries[0]
    assert found[entry.row.id, "duration"] == (pytest.approx(np.log1p(entry.headline.error)), 1.0)
    assert found[entry.row.id, "mte2"][1] == 0.5


def test_outliers_count_linearly():
    one = np.array([1.0])
    assert loss(np.array([0.1]), one) == pytest.approx(0.005)
    assert loss(np.array([1.15]), one) - loss(np.array([0.15]), one) == pytest.approx(0.15)


def test_one_step_solves_a_linear_problem():
    slopes = np.array([[1.0, 0.0], [0.0, 0.5], [1.0, 1.0]])
    wanted = np.array([0.01, -0.02])
    move = gauss_newton(slopes @ wanted, np.ones(3), slopes, 0.0)
    np.testing.assert_allclose(move, -wanted, rtol=1e-4)


def test_constants_without_effect_and_whole_cycles():
    assert without_effect("timing.memory.port_total_bytes_per_cycle", 160.0) == 16000.0
    assert without_effect("timing.scalar.prologue_cycles", 880.0) == 1
    assert (rounded("a.b_cycles", 2.6), rounded("a.b_cycles", 0.2), rounded("a.rate", 2.6)) == (3, 1, 2.6)
