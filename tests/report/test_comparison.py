from __future__ import annotations

import numpy as np
import pytest

from ascend_sim.host.operator import Reference
from ascend_sim.report.comparison import Comparison, compare_reference

REFERENCE = Reference("true", "what it should be", "true_gradient")


def compared(actual, expected, dtype=np.float32) -> Comparison:
    outputs = {name: np.array(values, dtype) for name, values in actual.items()}
    return compare_reference(REFERENCE, outputs, {name: np.array(v, np.float64) for name, v in expected.items()})


def test_differences_over_all_outputs():
    found = compared({"a": [1.0, 2.0], "b": [[5.0, 4.0]]}, {"a": [1.0, 2.0], "b": [[2.0, 4.0]]})
    assert (found.name, found.description) == ("true", "what it should be")
    assert found.max_abs_error == 3
    assert found.rms_error == pytest.approx(1.5)
    assert found.rms_ratio == pytest.approx(1.5 / 2.5)
    assert found.largest == "b[0, 0] is 5, true 2"


def test_no_difference():
    found = compared({"a": [0.0, np.inf, np.nan]}, {"a": [-0.0, np.inf, np.nan]})
    assert (found.max_abs_error, found.rms_error, found.largest) == (0, 0, "")


def test_what_is_not_a_number_on_one_side_differs_without_end():
    found = compared({"a": [np.nan, 1.0]}, {"a": [1.0, 1.0]})
    assert found.max_abs_error == found.rms_error == np.inf
    assert found.to_json()["max_abs_error"] == "inf"
    assert found.largest == "a[0] is nan, true 1"


def test_a_reference_of_zeros_has_no_scale():
    found = compared({"a": [1.0]}, {"a": [0.0]})
    assert (found.rms_error, found.rms_ratio) == (1, None)
    assert found.to_json() == {
        "name": "true", "description": "what it should be", "max_abs_error": 1.0, "rms_error": 1.0, "rms_ratio": None,
        "largest": "a[0] is 1, true 0",
    }  # fmt: skip


def test_elements_that_the_reference_does_not_define_have_no_part_in_its_scale():
    assert compared({"a": [np.nan, 3.0]}, {"a": [np.nan, 2.0]}).rms_ratio == pytest.approx(np.sqrt(0.5) / 2)


def test_nothing_to_compare():
    assert compared({"a": []}, {"a": []}).max_abs_error == 0
