"""Why one tiling takes longer than another: the parts of the account of time that differ most."""

from __future__ import annotations

from ascend_sim.report.style import us
from ascend_sim.tune.trial import WORK, Trial

PARTS = 2


def reason(own: Trial, other: Trial) -> str:
    """In a line: the parts of the limiting pipe's time that explain most of the difference."""
    pipe = own.bound
    before, after = own.account.get(pipe, {}), other.account.get(pipe, {})
    changes = {name: after.get(name, 0.0) - before.get(name, 0.0) for name in (*before, *after)}
    gain = other.duration_us - own.duration_us
    ordered = sorted(changes, key=lambda name: changes[name], reverse=gain > 0)
    texts = [
        f"{'work' if name == WORK else name} {us(before.get(name, 0.0))} → {us(after.get(name, 0.0))} us"
        for name in ordered[:PARTS]
        if changes[name] * gain > 0
    ]
    return f"{pipe}: {', '.join(texts)}" if texts else "no part of the limiting pipe's time differs"
