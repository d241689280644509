"""What `ascend-sim accuracy --check` demands of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ascend_sim.accuracy.summary import Spread, duration_errors, pipe_errors, rotary_order, spread
from ascend_sim.accuracy.table import Entry

VECTOR_STEPS = tuple(f"asc-devkit-add-ascendc-case{case}-" for case in range(1, 7))


@dataclass(frozen=True, slots=True)
class Threshold:
    """`goal`: what the figure should be; `pin`: what it may not miss today, a little worse than it is."""

    name: str
    goal: float
    pin: float
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class Check:
    """One figure of the table against its pin; `value` is None when no row of the table bears on it."""

    threshold: Threshold
    value: float | None

    @property
    def ok(self) -> bool:
        return self._holds(self.threshold.pin)

    @property
    def reaches_goal(self) -> bool:
        return self._holds(self.threshold.goal)

    def _holds(self, limit: float) -> bool:
        if self.value is None:
            return True
        return self.value >= limit if self.threshold.at_least else self.value <= limit

    def to_json(self) -> dict[str, Any]:
        threshold = self.threshold
        value = None if self.value is None else round(self.value, 4)
        return {
            "name": threshold.name,
            "value": value,
            "pin": threshold.pin,
            "goal": threshold.goal,
            "at_least": threshold.at_least,
            "ok": self.ok,
        }


DURATION_MEDIAN = Threshold("duration, median error", 0.08, 0.035)
DURATION_P90 = Threshold("duration, 90th percentile", 0.20, 0.12)
DURATION_950 = Threshold("duration of the 950's rows, median error", 0.12, 0.10)
VEC_MEDIAN = Threshold("vector busy time, median error", 0.10, 0.025)
MTE2_MEDIAN = Threshold("MTE2 busy time, median error", 0.10, 0.035)
ORDER = Threshold("rotary pairs in the right order", 0.95, 0.99, at_least=True)
STEPS_WORST = Threshold("vector cycles of the six official Add steps, worst", 0.01, 0.004)
LOOPS_WORST = Threshold("vector cycles of the 910B3 loops, worst", 0.05, 0.02)


def checks(entries: Sequence[Entry]) -> list[Check]:
    """All checks on these entries; those without another name are of the 910B's rows."""
    on_950 = [entry for entry in entries if entry.row.soc.startswith("Ascend950")]
    on_910b = [entry for entry in entries if not entry.row.soc.startswith("Ascend950")]
    duration = spread(duration_errors(on_910b))
    order = rotary_order(on_910b)
    steps = [entry for entry in on_910b if entry.row.id.startswith(VECTOR_STEPS)]
    loops = [entry for entry in on_910b if entry.row.family == "vector_loop"]
    return [
        Check(DURATION_MEDIAN, _median(duration)),
        Check(DURATION_P90, None if duration is None else duration.p90),
        Check(VEC_MEDIAN, _median(spread(pipe_errors(on_910b, "vec")))),
        Check(MTE2_MEDIAN, _median(spread(pipe_errors(on_910b, "mte2")))),
        Check(ORDER, order.share if order.pairs else None),
        Check(STEPS_WORST, _worst_vector(steps)),
        Check(LOOPS_WORST, _worst_vector(loops)),
        Check(DURATION_950, _median(spread(duration_errors(on_950)))),
    ]


def _median(found: Spread | None) -> float | None:
    return None if found is None else found.median


def _worst_vector(entries: Sequence[Entry]) -> float | None:
    """Largest error of the vector unit's busy time, however small a share of the time that is."""
    errors = [
        abs(entry.sample.figures["vec_us"] / entry.row.metrics["vec_us"] - 1)
        for entry in entries
        if entry.sample is not None and "vec_us" in entry.row.metrics
    ]
    return max(errors, default=None)
