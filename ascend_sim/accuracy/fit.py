"""Refit the constants of grade "fitted" on the measured rows: `python -m ascend_sim.accuracy.fit`.

Every constant of an architecture's file whose grade is `fitted` takes part, and no other; there is no second list. The
fit minimises the logarithms of simulated over measured: the duration of each row with weight 1, AIV time and the busy
times of vector and MTE2 with weight 1/2, residuals beyond `OUTLIER` counted linearly (Huber), by damped Gauss-Newton
steps whose derivatives are differences of two tables. Constants are changed by factors, so they keep their sign.

It prints the constants before and after, how large the median error of the duration is when a constant has no effect
(set to its least value, rates to a hundredfold), and for every source of rows the error that constants fitted without
that source have on it. Nothing is written: a person reads the figures, and changes the YAML file with its comment.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.accuracy.rows import Row, all_rows, choose
from ascend_sim.accuracy.summary import duration_errors, spread
from ascend_sim.accuracy.table import Entry, make_table
from ascend_sim.soc import load
from ascend_sim.soc.parameters import Parameter

Floats = npt.NDArray[np.floating[Any]]
Values = dict[str, float]
Residuals = dict[tuple[str, str], tuple[float, float]]
"""`(row id, figure)`: logarithm of simulated over measured, weight."""

MOST_CONSTANTS = 20
OUTLIER = 0.15
STEP = 0.08  # relative change by which derivatives are taken; whole cycles must notice it
LARGEST_MOVE = 0.5  # of a logarithm, in one step
ROUNDS = 3
SECONDS = 1.0  # rows that take longer are left out of the fit, not of the table
REFERENCE = "Ascend910B3"


def fitted_constants(variant: str = REFERENCE) -> tuple[Parameter, ...]:
    """The timing constants of a chip that are fitted to measured rows."""
    return tuple(p for p in load(variant).parameters() if p.grade == "fitted" and p.path.startswith("timing."))


def residuals(entries: Sequence[Entry]) -> Residuals:
    """What is to be made small."""
    found: Residuals = {}
    for entry in entries:
        compared = {"duration": (entry.headline, 1.0), "aiv": (entry.aiv(), 0.5)}
        compared |= {pipe: (entry.pipe(pipe), 0.5) for pipe in ("vec", "mte2")}
        for name, (value, weight) in compared.items():
            if value is not None and value.predicted > 0:
                found[entry.row.id, name] = math.log(value.predicted / value.measured), weight
    return found


def simulate(rows: Sequence[Row], values: Mapping[str, float], workers: int | None = None) -> list[Entry]:
    """The table of `rows` with these values in place of the file's."""
    overrides = {path: rounded(path, value) for path, value in values.items()}
    chips = {row.soc: load(row.soc, overrides) for row in rows}
    return make_table(rows, workers, chips)


def rounded(path: str, value: float) -> float | int:
    """Cycles are whole numbers of at least 1."""
    return max(1, round(value)) if path.endswith("_cycles") else value


@dataclass(slots=True)
class Fit:
    """Constants on their way; `workers` as for the table."""

    rows: Sequence[Row]
    values: Values
    workers: int | None = None

    def improve(self) -> float:
        """One Gauss-Newton step, kept if it makes the loss smaller; answers the loss."""
        now = residuals(simulate(self.rows, self.values, self.workers))
        keys = list(now)
        current = np.array([now[key][0] for key in keys])
        weights = np.array([now[key][1] for key in keys])
        slopes = np.column_stack([self._slope(path, keys, current) for path in self.values])
        before = loss(current, weights)
        for damping in (0.1, 1.0, 10.0):
            tried = self._moved(gauss_newton(current, weights, slopes, damping))
            after = residuals(simulate(self.rows, tried, self.workers))
            value = loss(np.array([after[key][0] for key in keys]), weights)
            if value < before:
                self.values = tried
                return value
        return before

    def _slope(self, path: str, keys: Sequence[tuple[str, str]], current: Floats) -> Floats:
        """Change of every residual with the logarithm of one constant."""
        old = self.values[path]
        new = rounded(path, max(old * (1 + STEP), old + 1 if path.endswith("_cycles") else 0.0))
        there = residuals(simulate(self.rows, {**self.values, path: new}, self.workers))
        return (np.array([there[key][0] for key in keys]) - current) / math.log(new / old)

    def _moved(self, move: Floats) -> Values:
        factors = np.exp(np.clip(move, -LARGEST_MOVE, LARGEST_MOVE))
        return {
            path: value * factor for (path, value), factor in zip(self.values.items(), factors.tolist(), strict=True)
        }


def loss(current: Floats, weights: Floats) -> float:
    """Huber's: squares up to `OUTLIER`, straight on from there."""
    size = np.abs(current)
    return float((weights * np.where(size < OUTLIER, size**2 / 2, OUTLIER * (size - OUTLIER / 2))).sum())


def gauss_newton(current: Floats, weights: Floats, slopes: Floats, damping: float) -> Floats:
    """The move of the constants' logarithms that takes the (linearised, reweighted) residuals down most."""
    robust = weights * np.minimum(1.0, OUTLIER / np.maximum(np.abs(current), 1e-12))
    normal: Floats = slopes.T @ (robust[:, None] * slopes)
    normal = normal + damping * np.diag(np.diag(normal) + 1e-6)
    move: Floats = -np.linalg.solve(normal, slopes.T @ (robust * current))
    return move


def fit(rows: Sequence[Row], values: Values, rounds: int = ROUNDS, workers: int | None = None) -> Values:
    """Constants after some rounds."""
    state = Fit(rows, dict(values), workers)
    for _ in range(rounds):
        state.improve()
    return state.values


def without_effect(path: str, value: float) -> float:
    """A value with which the constant says nothing."""
    return value * 100 if path.endswith(("_per_cycle", "_per_aic", "_per_core")) else 1 if "_cycles" in path else 0.01


def median_error(entries: Sequence[Entry]) -> float:
    found = spread(duration_errors(entries))
    return 0.0 if found is None else found.median


def cross_validated(rows: Sequence[Row], values: Values, rounds: int, workers: int | None = None) -> dict[str, float]:
    """Median error on the rows of each source, with constants fitted to the others."""
    found = {}
    for group in dict.fromkeys(row.group for row in rows):
        others = fit([row for row in rows if row.group != group], values, rounds, workers)
        found[group] = median_error(simulate([row for row in rows if row.group == group], others, workers))
    return found


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Refit the fitted timing constants on the measured rows.")
    parser.add_argument("--only", help="rows with this in id, kernel, kind or chip")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="leave rows out that take longer to simulate")
    parser.add_argument("--cross", action="store_true", help="also fit without each source and predict it (long)")
    given = parser.parse_args()
    entries = make_table(choose(all_rows(), given.only))
    rows = [entry.row for entry in entries if entry.sample is not None and entry.seconds <= given.seconds]
    before = {p.path: float(p.value) for p in fitted_constants() if isinstance(p.value, int | float)}
    after = fit(rows, before, given.rounds)
    print(f"{len(rows)} rows, {len(before)} constants")
    print(f"median error {median_error(simulate(rows, before)):.3f} -> {median_error(simulate(rows, after)):.3f}")
    for path, value in after.items():
        alone = median_error(simulate(rows, {**after, path: without_effect(path, value)}))
        print(f"{path:<48} {before[path]:>10g} -> {value:>10.4g}   without it {alone:.3f}")
    if given.cross:
        for group, error in cross_validated(rows, before, given.rounds).items():
            print(f"without {group:<20} median error on it {error:.3f}")


if __name__ == "__main__":
    main()
