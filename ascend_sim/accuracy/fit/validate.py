"""What the fit says of its constants: the error without each, and the error on sources that it has not seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ascend_sim.accuracy.fit.constants import Values, without_effect
from ascend_sim.accuracy.fit.newton import Linear
from ascend_sim.accuracy.fit.simulations import Simulations
from ascend_sim.accuracy.summary import duration_errors, spread
from ascend_sim.accuracy.table import Entry

NOTICED = 0.005  # a duration that changes by more than this share is touched by a constant


@dataclass(frozen=True, slots=True)
class Ablation:
    """Median errors of the duration when a constant has no effect: of all rows, and of the `rows` whose duration it
    changes by more than 0.5 %, with the constant and without it."""

    path: str
    everything: float
    rows: int
    with_it: float
    without_it: float


def ablation(simulations: Simulations, values: Values) -> list[Ablation]:
    """Each constant in turn left out."""
    sets = [{**values, path: without_effect(path, value)} for path, value in values.items()]
    kept, *without = simulations.tables([values, *sets])
    found = []
    for path, table in zip(values, without, strict=True):
        pairs = [(a, b) for a, b in zip(kept, table, strict=True) if _differ(a, b)]
        own, touched = [a for a, _ in pairs], [b for _, b in pairs]
        found.append(Ablation(path, median_error(table), len(pairs), median_error(own), median_error(touched)))
    return found


def _differ(one: Entry, other: Entry) -> bool:
    a, b = one.headline, other.headline
    return a is not None and b is not None and abs(a.predicted / b.predicted - 1) > NOTICED


def median_error(entries: Sequence[Entry]) -> float:
    """Of the duration, without sign."""
    found = spread(duration_errors(entries))
    return 0.0 if found is None else found.median


def leave_one_out(
    simulations: Simulations, linear: Linear, priors: Mapping[str, float]
) -> dict[str, tuple[Values, list[float]]]:
    """By source of rows: the constants fitted without them, and the signed errors of the duration that they then have.

    The slopes are those of all rows at the constants of `linear`, found once; the constants are the best for the other
    sources' rows alone, so one that only the left-out source shows goes back to its prior.
    """
    group_of = {row.id: row.group for row in simulations.rows}
    groups = list(dict.fromkeys(group_of.values()))
    sets = []
    for group in groups:
        others = np.array([group_of[row] != group for row, _ in linear.keys], np.bool_)
        sets.append(linear.best(priors, others))
    tables = simulations.tables(sets, lambda number, row: row.group == groups[number])
    return {group: (values, duration_errors(table)) for group, values, table in zip(groups, sets, tables, strict=True)}
