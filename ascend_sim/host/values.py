"""Comparing what a kernel computed with what its golden says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.host.operator import Tolerance

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class ValueCheck:
    """Outcome of the comparison, over all outputs.

    `exact`: every element has the golden's bits (any NaN equals any NaN). `max_rel_error` is taken over elements whose
    golden is not zero. A NaN or an infinity where the golden has none (or another) counts as an infinite error. All
    but `checked` and `tolerance` are None when nothing was compared.
    """

    checked: bool
    ok: bool | None
    exact: bool | None
    max_abs_error: float | None
    max_rel_error: float | None
    tolerance: Tolerance


def not_checked(tolerance: Tolerance) -> ValueCheck:
    """For runs without values, or without golden."""
    return ValueCheck(False, None, None, None, None, tolerance)


def compare(actual: Mapping[str, Array], golden: Mapping[str, Array], tolerance: Tolerance) -> ValueCheck:
    """Compare outputs of equal names, shapes and dtypes."""
    parts = [_compare_one(name, actual[name], golden[name], tolerance) for name in actual]
    return ValueCheck(
        checked=True,
        ok=all(part.ok for part in parts),
        exact=all(part.exact for part in parts),
        max_abs_error=max((part.max_abs_error or 0.0 for part in parts), default=0.0),
        max_rel_error=max((part.max_rel_error or 0.0 for part in parts), default=0.0),
        tolerance=tolerance,
    )


def _compare_one(name: str, actual: Array, golden: Array, tolerance: Tolerance) -> ValueCheck:
    if actual.shape != golden.shape or actual.dtype != golden.dtype:
        raise AssertionError(
            f"golden of output {name} is {golden.shape} {golden.dtype}, the output {actual.shape} {actual.dtype}"
        )
    differs = _bits(actual) != _bits(golden)
    differs &= ~(np.isnan(actual) & np.isnan(golden))
    if not differs.any():
        return ValueCheck(True, True, True, 0.0, 0.0, tolerance)
    a, g = actual[differs].astype(np.float64), golden[differs].astype(np.float64)  # only what differs is widened
    with np.errstate(invalid="ignore"):
        error = _number_or_inf(np.abs(a - g))
        relative = _number_or_inf(error[g != 0.0] / np.abs(g[g != 0.0]))
        allowed = np.where(np.isfinite(g), tolerance.absolute + tolerance.relative * np.abs(g), 0.0)
    return ValueCheck(
        checked=True,
        ok=not _is_exact(tolerance) and bool((error <= allowed).all()),
        exact=False,
        max_abs_error=float(error.max()),
        max_rel_error=float(relative.max(initial=0.0)),
        tolerance=tolerance,
    )


def _number_or_inf(errors: Array) -> Array:
    """NaN comes from comparing a NaN or infinities of two signs: as wrong as can be."""
    return np.where(np.isnan(errors), np.inf, errors)


def _is_exact(tolerance: Tolerance) -> bool:
    return tolerance.absolute == 0.0 and tolerance.relative == 0.0


def _bits(array: Array) -> Array:
    """The elements' bits as unsigned integers, same shape."""
    return np.ascontiguousarray(array).view(np.dtype(f"u{array.dtype.itemsize}"))
