from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from ascend_sim.report.values import UNCHECKED, compare


def one(actual, golden, dtype=np.float32, absolute=0.0, relative=0.0):
    return compare({"x": np.array(actual, dtype)}, {"x": np.array(golden, dtype)}, absolute, relative)


def test_equal_bits_are_exact():
    values = one([[1.5, -2.0]], [[1.5, -2.0]])
    assert values.to_json() == {
        "checked": True, "ok": True, "exact": True, "max_abs_error": 0.0, "max_rel_error": 0.0,
        "tolerance": {"absolute": 0.0, "relative": 0.0},
    }  # fmt: skip


def test_without_tolerance_one_bit_is_wrong():
    values = one([0.0, 1.0], [-0.0, 1.0])
    assert (values.ok, values.exact, values.max_abs_error, values.wrong) == (False, False, 0.0, 1)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16])
def test_errors_and_tolerance(dtype):
    values = one([[1.0, 2.0], [4.0, 8.0]], [[1.0, 2.5], [4.0, 8.0]], dtype, relative=0.25)
    assert (values.ok, values.exact, values.max_abs_error, values.max_rel_error) == (True, False, 0.5, 0.2)
    values = one([[1.0, 2.0], [4.0, 8.0]], [[1.0, 2.5], [4.0, 8.0]], dtype, relative=0.125)
    assert (values.ok, values.wrong, values.first_wrong) == (False, 1, "x[0, 1] is 2, golden 2.5")
    assert one([0.5], [0.0], dtype, absolute=0.5).ok


def test_nan_and_infinity():
    assert one([np.nan, 1.0], [np.nan, 1.0]).exact
    assert not one([np.nan], [1.0], absolute=10.0).ok
    assert not one([np.inf], [1.0], absolute=10.0, relative=10.0).ok
    assert one([np.inf], [np.inf]).exact
    assert one([np.nan], [1.0]).to_json()["max_abs_error"] == "inf"


def test_all_outputs_count():
    values = compare(
        {"q": np.zeros(2, np.int32), "k": np.ones(2, np.int32)},
        {"q": np.zeros(2, np.int32), "k": np.zeros(2, np.int32)},
        0.0,
        0.0,
    )
    assert (values.ok, values.wrong, values.first_wrong) == (False, 2, "k[0] is 1, golden 0")


def test_not_checked():
    assert UNCHECKED.to_json() == {
        "checked": False, "ok": None, "exact": None, "max_abs_error": None, "max_rel_error": None, "tolerance": None,
    }  # fmt: skip
