"""Whether a run's outputs are right: outputs against golden, exactly and within the operator's tolerance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.keyed import Keyed


@dataclass(frozen=True, slots=True)
class Values(Keyed):
    """Outputs against golden over all outputs.

    `exact`: every bit is equal (any NaN for any other). `max_abs_error` and `max_rel_error` (over golden values that
    are not 0) are in float64.
    `tolerance`: the allowed error is `absolute + relative * |golden|`; `ok` is None when nothing was checked.
    """

    checked: bool
    ok: bool | None
    exact: bool | None
    max_abs_error: float | None
    max_rel_error: float | None
    tolerance: dict[str, float] | None
    wrong: int = 0  # elements outside the tolerance
    first_wrong: str = ""  # "x[0, 3, 0, 17]: 0.25, golden 0.5"

    def to_json(self) -> dict[str, Any]:
        return {
            "checked": self.checked,
            "ok": self.ok,
            "exact": self.exact,
            "max_abs_error": json_number(self.max_abs_error),
            "max_rel_error": json_number(self.max_rel_error),
            "tolerance": self.tolerance,
        }


UNCHECKED = Values(False, None, None, None, None, None)


def json_number(value: float | None) -> float | str | None:
    """JSON has no infinity."""
    return value if value is None or np.isfinite(value) else "inf"


def compare(
    outputs: Mapping[str, npt.NDArray[Any]],
    golden: Mapping[str, npt.NDArray[Any]],
    absolute: float,
    relative: float,
) -> Values:
    """Compare every output with its golden array (same shape and dtype)."""
    parts = [_compare_one(name, outputs[name], golden[name], absolute, relative) for name in golden]
    wrong = sum(part[3] for part in parts)
    return Values(
        checked=True,
        ok=wrong == 0,
        exact=all(part[0] for part in parts),
        max_abs_error=max((part[1] for part in parts), default=0.0),
        max_rel_error=max((part[2] for part in parts), default=0.0),
        tolerance={"absolute": absolute, "relative": relative},
        wrong=wrong,
        first_wrong=next((part[4] for part in parts if part[4]), ""),
    )


def _compare_one(
    name: str, actual: npt.NDArray[Any], golden: npt.NDArray[Any], absolute: float, relative: float
) -> tuple[bool, float, float, int, str]:
    """(bits equal, max abs error, max rel error, elements outside the tolerance, text on the first of them)."""
    at = np.flatnonzero(_bits(actual) != _bits(golden))
    a, g = actual.reshape(-1)[at].astype(np.float64), golden.reshape(-1)[at].astype(np.float64)
    differ = ~(np.isnan(a) & np.isnan(g))  # any NaN stands for any other
    at, a, g = at[differ], a[differ], g[differ]
    if not len(at):
        return True, 0.0, 0.0, 0, ""
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        error = np.abs(a - g)
        error[a == g] = 0.0  # -0.0 and 0.0, equal infinities
        error[np.isnan(error)] = np.inf
        relative_error = np.where(error == 0, 0.0, np.where(g == 0, 0.0, error / np.abs(g)))
        relative_error[np.isnan(relative_error)] = np.inf
        bad = ~(error <= absolute + relative * np.abs(g)) | np.isinf(error)
    if absolute == relative == 0:
        bad[:] = True  # equal bits are asked for
    text = ""
    if bad.any():
        first = int(np.argmax(bad))
        index = ", ".join(str(int(i)) for i in np.unravel_index(int(at[first]), actual.shape))
        text = f"{name}[{index}] is {a[first]:.6g}, golden {g[first]:.6g}"
    return False, float(error.max()), float(relative_error.max()), int(bad.sum()), text


def _bits(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The elements' bits as unsigned integers, flat."""
    return np.ascontiguousarray(array).reshape(-1).view(f"u{array.itemsize}")
