"""Refit the constants of grade "fitted" on the measured rows: `python -m ascend_sim.accuracy.fit`.

Every constant of an architecture's file whose grade is `fitted` takes part, and no other; there is no second list. The
fit minimises the logarithms of simulated over measured: the duration of each row with weight 1, AIV time and the busy
times of vector and MTE2 with weight 1/2, residuals beyond `OUTLIER` counted linearly (Huber), by damped Gauss-Newton
steps whose derivatives are differences of two tables. Constants are changed by factors, so they keep their sign.

It prints the constants before and after, how large the median error of the duration is when a constant has no effect
(set to its least value, rates to a hundredfold), the worst residuals, and for every source of rows the error that
constants fitted without that source have on it (leave one source out). A constant that the other sources say nothing
about falls back to its prior: what one would take had nobody measured it. Nothing is written: a person reads the
figures, and changes the YAML file with its comment.
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
ROUNDS = 1
SECONDS = 1.0  # rows that take longer are left out of the fit, not of the table
REFERENCE = "Ascend910B3"
SILENT = 1e-3  # slopes below this say nothing about a constant
WORST_SHOWN = 15
WHOLE = ("_cycles", "_bytes")
NOTICED = 0.005  # a duration that changes by more than this share is touched by a constant
PRIORS = {
    "timing.launch.graph_us": 1.1,  # as a profiled launch on one block, prologue included
    "timing.launch.graph_us_per_block": 0.022,  # what a profiled launch takes more per block
    "timing.launch.cold_start.in_situ_us": 0.9,  # as with few launches
    "timing.vector.write_delay_cycles": 22.0,  # when the result can be used
}
"""What a constant would be had nobody measured it; others keep their value."""


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
    """Cycles and bytes are whole numbers of at least 1."""
    return max(1, round(value)) if path.endswith(WHOLE) else value


@dataclass(frozen=True, slots=True)
class Linear:
    """Residuals `current` of `keys` with their weights; `slopes[i, j]`: change of residual i with the logarithm of
    constant j."""

    keys: list[tuple[str, str]]
    current: Floats
    weights: Floats
    slopes: Floats


@dataclass(slots=True)
class Fit:
    """Constants on their way; `workers` as for the table."""

    rows: Sequence[Row]
    values: Values
    workers: int | None = None

    def improve(self) -> float:
        """One Gauss-Newton step, kept if it makes the loss smaller; answers the loss."""
        here = self.linearise()
        before = loss(here.current, here.weights)
        for damping in (0.1, 1.0, 10.0):
            tried = moved(self.values, gauss_newton(here.current, here.weights, here.slopes, damping))
            after = residuals(simulate(self.rows, tried, self.workers))
            value = loss(np.array([after[key][0] for key in here.keys]), here.weights)
            if value < before:
                self.values = tried
                return value
        return before

    def linearise(self) -> Linear:
        """Residuals at the present constants, and how they change with each."""
        now = residuals(simulate(self.rows, self.values, self.workers))
        keys = list(now)
        current = np.array([now[key][0] for key in keys])
        weights = np.array([now[key][1] for key in keys])
        return Linear(keys, current, weights, np.column_stack([self._slope(p, keys, current) for p in self.values]))

    def _slope(self, path: str, keys: Sequence[tuple[str, str]], current: Floats) -> Floats:
        """Change of every residual with the logarithm of one constant."""
        old = self.values[path]
        new = rounded(path, max(old * (1 + STEP), old + 1 if path.endswith(WHOLE) else 0.0))
        there = residuals(simulate(self.rows, {**self.values, path: new}, self.workers))
        return (np.array([there[key][0] for key in keys]) - current) / math.log(new / old)


def moved(values: Values, move: Floats) -> Values:
    """The constants after a step of their logarithms."""
    factors = np.exp(np.clip(move, -LARGEST_MOVE, LARGEST_MOVE))
    return {path: value * factor for (path, value), factor in zip(values.items(), factors.tolist(), strict=True)}


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


def cross_validated(
    rows: Sequence[Row], values: Values, workers: int | None = None
) -> dict[str, list[tuple[str, float]]]:
    """By source: `(row id, error)` of its rows with constants fitted to the rows of the others.

    One step from `values` with the slopes there: these are found once, only the left-out rows are simulated again.
    """
    here = Fit(rows, dict(values), workers).linearise()
    group_of = {row.id: row.group for row in rows}
    found = {}
    for group in dict.fromkeys(group_of.values()):
        kept = np.array([group_of[key[0]] != group for key in here.keys])
        own = [row for row in rows if row.group == group]
        if not kept.any():
            continue
        move = gauss_newton(here.current[kept], here.weights[kept], here.slopes[kept], 0.1)
        others = moved(values, move)
        told = np.abs(here.slopes[kept]).max(axis=0) >= SILENT
        for path, is_told in zip(values, told.tolist(), strict=True):
            if not is_told:
                others[path] = PRIORS.get(path, values[path])
        entries = simulate(own, others, workers)
        found[group] = [(entry.row.id, entry.headline.error) for entry in entries if entry.headline is not None]
    return found


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Refit the fitted timing constants on the measured rows.")
    parser.add_argument("--only", help="rows with this in id, kernel, kind or chip")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="leave rows out that take longer to simulate")
    given = parser.parse_args()
    entries = make_table(choose(all_rows(), given.only))
    rows = [entry.row for entry in entries if entry.sample is not None and entry.seconds <= given.seconds]
    before = {p.path: float(p.value) for p in fitted_constants() if isinstance(p.value, int | float)}
    after = fit(rows, before, given.rounds)
    fitted = simulate(rows, after)
    print(f"{len(rows)} rows, {len(before)} constants")
    print(f"median error {median_error(simulate(rows, before)):.4f} -> {median_error(fitted):.4f}", flush=True)
    print_ablation(rows, before, after)
    print_worst(fitted)
    print_cross_validation(rows, after)


def print_ablation(rows: Sequence[Row], before: Values, after: Values) -> None:
    """Each constant, and the median error of the rows that it matters for, without it and with it."""
    kept = {entry.row.id: entry for entry in simulate(rows, after)}
    for path, value in after.items():
        without = simulate(rows, {**after, path: without_effect(path, value)})
        touched = [entry for entry in without if _differ(entry, kept[entry.row.id])]
        own = [kept[entry.row.id] for entry in touched]
        print(
            f"{path:<48} {before[path]:>8g} -> {value:>8.4g}  without it: all rows {median_error(without):.3f}, "
            f"its {len(touched):>3} rows {median_error(own):.3f} -> {median_error(touched):.3f}",
            flush=True,
        )


def _differ(one: Entry, other: Entry) -> bool:
    a, b = one.headline, other.headline
    return a is not None and b is not None and abs(a.predicted / b.predicted - 1) > NOTICED


def print_worst(entries: Sequence[Entry]) -> None:
    """The largest residuals of the duration."""
    errors = [(entry.headline.error, entry.row.id) for entry in entries if entry.headline is not None]
    for error, row in sorted(errors, key=lambda found: -abs(found[0]))[:WORST_SHOWN]:
        print(f"residual {100 * error:>+6.1f} %  {row}")


def print_cross_validation(rows: Sequence[Row], values: Values) -> None:
    """Leave one source out: each source, then all."""
    everything: list[float] = []
    for group, errors in cross_validated(rows, values).items():
        sizes = [abs(error) for _, error in errors]
        everything += sizes
        print(f"without {group:<18} {len(sizes):>3} rows, median error on it {np.median(sizes):.3f}", flush=True)
    if everything:
        p90 = np.percentile(everything, 90)
        print(f"leave one source out: median {np.median(everything):.3f}, 90th percentile {p90:.3f}")


if __name__ == "__main__":
    main()
