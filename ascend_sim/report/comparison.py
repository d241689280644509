"""How outputs stand to a reference that they need not agree with: sizes of the differences, no verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.host.operator import Reference
from ascend_sim.report.values import json_number

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Outputs against the reference `name`, over all outputs together; errors in float64.

    `rms_ratio` is the root mean square of the differences over that of the reference, None where that is 0. Elements
    that are not finite on either side count as an infinite difference, unless they are the same.
    """

    name: str
    description: str
    max_abs_error: float
    rms_error: float
    rms_ratio: float | None
    largest: str = ""  # "q_grad[0, 17] is 0.25, true 0.5"

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "max_abs_error": json_number(self.max_abs_error),
            "rms_error": json_number(self.rms_error),
            "rms_ratio": json_number(self.rms_ratio),
            "largest": self.largest,
        }


def compare_reference(reference: Reference, outputs: Mapping[str, Array], expected: Mapping[str, Array]) -> Comparison:
    """Compare every output with what the reference has for it (same shape)."""
    differences = {name: _difference(outputs[name], expected[name]) for name in expected}
    errors = np.concatenate([difference.reshape(-1) for difference in differences.values()])
    meant = np.concatenate([expected[name].astype(np.float64).reshape(-1) for name in expected])
    scale = _rms(meant[~np.isnan(meant)])
    rms_error = _rms(errors)
    return Comparison(
        name=reference.name,
        description=reference.description,
        max_abs_error=float(errors.max(initial=0.0)),
        rms_error=rms_error,
        rms_ratio=rms_error / scale if 0 < scale < np.inf else None,
        largest=_largest(reference.name, differences, outputs, expected),
    )


def _difference(actual: Array, expected: Array) -> Array:
    a, e = actual.astype(np.float64), expected.astype(np.float64)
    with np.errstate(invalid="ignore"):
        difference = np.abs(a - e)
    difference[(a == e) | (np.isnan(a) & np.isnan(e))] = 0.0
    difference[np.isnan(difference)] = np.inf
    return difference


def _rms(values: Array) -> float:
    with np.errstate(invalid="ignore", over="ignore"):
        return float(np.sqrt(np.mean(np.square(values)))) if values.size else 0.0


def _largest(
    name: str, differences: Mapping[str, Array], outputs: Mapping[str, Array], expected: Mapping[str, Array]
) -> str:
    """A text on the element with the largest difference."""
    output = max(differences, key=lambda key: differences[key].max(initial=0.0), default="")
    if not output or not differences[output].size or differences[output].max() == 0:
        return ""
    at = np.unravel_index(int(np.argmax(differences[output])), differences[output].shape)
    index = ", ".join(str(int(i)) for i in at)
    return f"{output}[{index}] is {float(outputs[output][at]):.6g}, {name} {float(expected[output][at]):.6g}"
