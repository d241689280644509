"""Why one tiling takes longer than another: the parts of the account of time that differ most."""

from __future__ import annotations

from collections.abc import Iterator

from ascend_sim.report.style import us
from ascend_sim.tune.trial import Trial

PARTS = 2
OVERSHOOT = 1.5
"""Parts that add up to more than so often the difference need a word on what makes up for them."""
ALIKE = 0.01
"""A difference in work up to this (relative) is not worth a word."""


def reason(own: Trial, other: Trial) -> str:
    """In a line: how the work of the busiest core differs, and the parts of the time of the slower one's limiting pipe
    that explain most of the difference; where these are much more than the difference, what makes up for most of it."""
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
    seen = [name for name in ordered if us(before.get(name, 0.0)) != us(after.get(name, 0.0))]
    named = [name for name in seen[:PARTS] if changes[name] * gain > 0]
    texts = {name: f"{name} {us(before.get(name, 0.0))} → {us(after.get(name, 0.0))} us" for name in seen}
    if named:
        against = ""
        if sum(changes[name] for name in named) / gain > OVERSHOOT and changes[seen[-1]] * gain < 0:
            against = f", but {texts[seen[-1]]}"
        yield f"{pipe}: {', '.join(texts[name] for name in named)}{against}"
