"""Why one tiling takes longer than another: the parts of the account of time that differ most."""

from __future__ import annotations

from collections.abc import Iterator

from ascend_sim.report.style import us
from ascend_sim.tune.trial import Trial

PARTS = 2
ALIKE = 0.01
"""A difference in work up to this (relative) is not worth a word."""


def reason(own: Trial, other: Trial) -> str:
    """In a line: how the work of the busiest core differs, and the parts of the time of the slower one's limiting pipe
    that explain most of the difference."""
    work, time = list(_work(own, other)), list(_time(own, other))
    if work and (other.busiest - own.busiest) * (other.duration_us - own.duration_us) < 0:
        return "; ".join([*time, f"although {work[0]}"])
    return "; ".join([*work, *time]) or "no part of the time differs"


def _work(own: Trial, other: Trial) -> Iterator[str]:
    if own.busiest and abs(other.busiest / own.busiest - 1) > ALIKE:
        yield f"the busiest core has {other.busiest / own.busiest:.2f} x the work"


def _time(own: Trial, other: Trial) -> Iterator[str]:
    pipe = max(own, other, key=lambda trial: trial.duration_us).bound
    before, after = own.account.get(pipe, {}), other.account.get(pipe, {})
    changes = {name: after.get(name, 0.0) - before.get(name, 0.0) for name in (*before, *after)}
    gain = other.duration_us - own.duration_us
    ordered = sorted(changes, key=lambda name: changes[name], reverse=gain > 0)
    texts = [
        f"{name} {us(before.get(name, 0.0))} → {us(after.get(name, 0.0))} us"
        for name in ordered[:PARTS]
        if changes[name] * gain > 0 and us(before.get(name, 0.0)) != us(after.get(name, 0.0))
    ]
    if texts:
        yield f"{pipe}: {', '.join(texts)}"
