"""What the table says as a whole: medians and 90th percentiles by chip, kind and duration, and the order of pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ascend_sim.accuracy.table import Entry

MISSING = 1.0
"""Error of a required row that is not in the table."""

BANDS_US = ((0.0, 5.0), (5.0, 50.0), (50.0, 500.0), (500.0, float("inf")))
CLEARLY_DIFFERENT = 1.15


@dataclass(frozen=True, slots=True)
class Spread:
    """Absolute relative errors of `count` figures, and the signed median (`bias`)."""

    count: int
    median: float
    p90: float
    worst: float
    bias: float

    def to_json(self) -> dict[str, float]:
        return {
            "count": self.count,
            "median": round(self.median, 4),
            "p90": round(self.p90, 4),
            "worst": round(self.worst, 4),
            "bias": round(self.bias, 4),
        }


def spread(errors: Sequence[float]) -> Spread | None:
    """None without any error."""
    if not errors:
        return None
    sizes = np.abs(np.asarray(errors))
    p90 = float(np.percentile(sizes, 90))
    return Spread(len(errors), float(np.median(sizes)), p90, float(sizes.max()), float(np.median(errors)))


def duration_errors(entries: Iterable[Entry]) -> list[float]:
    """Signed errors of what each row is judged by; a required row without a simulation counts as 100 %."""
    errors = []
    for entry in entries:
        headline = entry.headline
        if headline is not None:
            errors.append(headline.error)
        elif entry.row.required:
            errors.append(MISSING)
    return errors


def pipe_errors(entries: Iterable[Entry], pipe: str) -> list[float]:
    return [found.error for entry in entries if (found := entry.pipe(pipe)) is not None]


def band_of(us: float) -> str:
    """The duration band that a time in us belongs to."""
    for low, high in BANDS_US:
        if us < high:
            return f"< {high:g} us" if low == 0 else f"{low:g}-{high:g} us" if high < float("inf") else f"> {low:g} us"
    raise AssertionError(us)


@dataclass(frozen=True, slots=True)
class Order:
    """Pairs of rotary rows whose measured times clearly differ, and how many are simulated in the same order."""

    pairs: int
    right: int

    @property
    def share(self) -> float:
        return self.right / self.pairs if self.pairs else 1.0

    def to_json(self) -> dict[str, float]:
        return {"pairs": self.pairs, "right": self.right, "share": round(self.share, 4)}


def rotary_order(entries: Iterable[Entry]) -> Order:
    """Pairs of rows of kind "rope" whose measured times differ by more than 15 %."""
    times = [found for entry in entries if entry.row.kind == "rope" and (found := entry.headline) is not None]
    pairs = right = 0
    for a, b in combinations(times, 2):
        low, high = sorted((a, b), key=lambda time: time.measured)
        if high.measured > CLEARLY_DIFFERENT * low.measured:
            pairs += 1
            right += low.predicted < high.predicted
    return Order(pairs, right)


GROUPINGS: dict[str, Callable[[Entry], str]] = {
    "soc": lambda entry: entry.row.soc,
    "kind": lambda entry: entry.row.kind,
    "duration": lambda entry: band_of(entry.row.measured_us),
    "source": lambda entry: entry.row.group,
    "protocol": lambda entry: entry.row.protocol,
}


def grouped(entries: Sequence[Entry], key: Callable[[Entry], str]) -> dict[str, Spread]:
    """Errors of the duration by `key`, groups with the shortest rows first."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(key(entry), []).append(entry)
    shortest = {name: min(member.row.measured_us for member in members) for name, members in groups.items()}
    spreads = ((name, spread(duration_errors(groups[name]))) for name in sorted(groups, key=shortest.__getitem__))
    return {name: found for name, found in spreads if found is not None}


def summarise(entries: Sequence[Entry]) -> dict[str, Any]:
    """The summary as plain data; text and JSON are made from it."""
    found = {
        "duration": spread(duration_errors(entries)),
        **{f"{pipe}_busy": spread(pipe_errors(entries, pipe)) for pipe in ("vec", "mte2")},
    }
    return {
        **{name: value.to_json() for name, value in found.items() if value is not None},
        "rotary_order": rotary_order(entries).to_json(),
        "by": {
            name: {group: value.to_json() for group, value in grouped(entries, key).items()}
            for name, key in GROUPINGS.items()
        },
    }
