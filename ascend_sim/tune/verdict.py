"""Whether one tiling is faster than the operator's own, or the difference is within the errors."""

from __future__ import annotations

from typing import Literal

from ascend_sim.accuracy.expected import Expected

Verdict = Literal["own", "faster", "tie", "slower"]


def verdict_of(difference: float, expected: Expected, *sampling_errors: float) -> Verdict:
    """`difference`: how much longer it takes than the own one, relative. It is a tie up to the model's error and those
    of the excerpts, added up."""
    if abs(difference) <= (expected.band or 0.0) + sum(sampling_errors):
        return "tie"
    return "faster" if difference < 0 else "slower"


def tie_text(expected: Expected) -> str:
    """What `verdict_of` takes for a tie."""
    return f"{expected}; a difference up to this, plus the ± of both times where there is one, is a tie"
