"""Damped Gauss-Newton steps on logarithms, with priors and robust weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.accuracy.fit.constants import Values, is_whole, rounded
from ascend_sim.accuracy.fit.simulations import Simulations
from ascend_sim.accuracy.table import Entry

Floats = npt.NDArray[np.floating[Any]]
Residuals = dict[tuple[str, str], tuple[float, float]]
"""`(row id, figure)`: logarithm of simulated over measured, weight."""

OUTLIER = 0.15  # residuals beyond count linearly (Huber)
SPREAD = 0.05  # of the residuals that remain: 5 %
PRIOR_SPREAD = 0.7  # of a constant about its prior: a factor of two
STEP = 0.08  # relative change by which derivatives are taken; whole cycles must notice it
LARGEST_MOVE = 2.0  # of a logarithm, in one step
SHARES = (1.0, 0.5, 0.2)  # of a step, that are tried


def residuals(entries: Sequence[Entry]) -> Residuals:
    """What is to be made small: the duration of each row with weight 1, AIV time and the busy times of vector and MTE2
    with weight 1/2."""
    found: Residuals = {}
    for entry in entries:
        compared = {"duration": (entry.headline, 1.0), "aiv": (entry.aiv(), 0.5)}
        compared |= {pipe: (entry.pipe(pipe), 0.5) for pipe in ("vec", "mte2")}
        for name, (value, weight) in compared.items():
            if value is not None and value.predicted > 0:
                found[entry.row.id, name] = math.log(value.predicted / value.measured), weight
    return found


@dataclass(frozen=True, slots=True)
class Linear:
    """Residuals `current` of `keys` with their weights at the constants `values`; `slopes[i, j]`: change of residual i
    with the logarithm of constant j."""

    values: Values
    keys: list[tuple[str, str]]
    current: Floats
    weights: Floats
    slopes: Floats

    def best(self, priors: Mapping[str, float], rows: npt.NDArray[np.bool_] | None = None) -> Values:
        """The constants that make the residuals (of `rows`, a mask over `keys`) and the distance from the priors least
        where both were linear, outliers weighted anew in turn."""
        keep = np.ones(len(self.keys), np.bool_) if rows is None else rows
        slopes, current, weights = self.slopes[keep], self.current[keep], self.weights[keep]
        start = np.log(np.array(list(self.values.values())))
        wanted = np.log(np.array([priors[path] for path in self.values])) - start
        pull = (SPREAD / PRIOR_SPREAD) ** 2
        move: Floats = np.zeros(len(start))
        for _ in range(20):
            there = current + slopes @ move
            robust = weights * np.minimum(1.0, OUTLIER / np.maximum(np.abs(there), 1e-12))
            normal = slopes.T @ (robust[:, None] * slopes) + pull * np.eye(len(start))
            move = np.linalg.solve(normal, pull * wanted - slopes.T @ (robust * current))
        return moved(self.values, move)


def linearise(simulations: Simulations, values: Values) -> Linear:
    """Residuals at `values`, and how they change with each constant."""
    changed = [{**values, path: stepped(path, value)} for path, value in values.items()]
    here, *there = (residuals(table) for table in simulations.tables([values, *changed]))
    keys = list(here)
    current = np.array([here[key][0] for key in keys])
    weights = np.array([here[key][1] for key in keys])
    slopes = [
        (np.array([found[key][0] for key in keys]) - current) / math.log(new[path] / rounded(path, values[path]))
        for path, new, found in zip(values, changed, there, strict=True)
    ]
    return Linear(values, keys, current, weights, np.column_stack(slopes))


def stepped(path: str, value: float) -> float:
    """The value at which the derivative is taken."""
    new = rounded(path, max(value * (1 + STEP), value + 1 if is_whole(path) else 0.0))
    return new if new != rounded(path, value) else rounded(path, value / (1 + STEP))


def moved(values: Values, move: Floats) -> Values:
    """The constants after a step of their logarithms."""
    factors = np.exp(np.clip(move, -LARGEST_MOVE, LARGEST_MOVE))
    pairs = zip(values.items(), factors.tolist(), strict=True)
    return {path: rounded(path, value * factor) for (path, value), factor in pairs}


def between(before: Values, after: Values, share: float) -> Values:
    """`share` of the way from one set of constants to another, in logarithms."""
    return {
        path: rounded(path, math.exp((1 - share) * math.log(old) + share * math.log(after[path])))
        for path, old in before.items()
    }


def loss(found: Residuals, values: Mapping[str, float], priors: Mapping[str, float]) -> float:
    """Huber's (squares up to `OUTLIER`, straight on from there) plus the squared distance from the priors."""
    sizes = np.abs(np.array([value for value, _ in found.values()]))
    weights = np.array([weight for _, weight in found.values()])
    rows = float((weights * np.where(sizes < OUTLIER, sizes**2 / 2, OUTLIER * (sizes - OUTLIER / 2))).sum())
    far = sum(math.log(value / priors[path]) ** 2 for path, value in values.items())
    return rows + (SPREAD / PRIOR_SPREAD) ** 2 * far / 2


def fit(simulations: Simulations, values: Values, priors: Mapping[str, float], rounds: int) -> tuple[Values, Linear]:
    """Constants after some Gauss-Newton steps, or fewer when nothing gets better, and the last slopes with the
    residuals that the constants leave. Without any step the slopes are those at `values`."""
    linear = linearise(simulations, values)
    for step in range(rounds):
        before = linear.values
        linear = improve(simulations, linear, priors)
        if linear.values == before:
            break
        if step + 1 < rounds:
            linear = linearise(simulations, linear.values)
    return linear.values, linear


def improve(simulations: Simulations, linear: Linear, priors: Mapping[str, float]) -> Linear:
    """The best of some shares of a step, or the constants as they were if none is better; the slopes stay."""
    best = linear.best(priors)
    tried = [linear.values, *(between(linear.values, best, share) for share in SHARES)]
    found = [residuals(table) for table in simulations.tables(tried)]
    losses = [loss(one, values, priors) for values, one in zip(tried, found, strict=True)]
    least = int(np.argmin(losses))
    current = np.array([found[least][key][0] for key in linear.keys])
    return replace(linear, values=tried[least], current=current)
