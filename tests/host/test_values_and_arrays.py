"""Comparison with goldens; arrays on their way into a call."""

from __future__ import annotations

from dataclasses import replace

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from ascend_sim.errors import InputError
from ascend_sim.host.arrays import as_inputs, fresh_output, random_inputs
from ascend_sim.host.operator import Tolerance
from ascend_sim.host.registry import operator_named
from ascend_sim.host.tensors import TensorInfo
from ascend_sim.host.values import compare, not_checked

OP = operator_named("inplace_partial_rotary_mul")
EXACT = Tolerance()
LOOSE = Tolerance(absolute=0.01, relative=0.1)
INF, NAN = float("inf"), float("nan")


def arrays(*values: float) -> npt.NDArray[np.float32]:
    return np.array(values, np.float32)


class TestCompare:
    def test_equal_bits(self) -> None:
        found = compare({"y": arrays(1, NAN, INF)}, {"y": arrays(1, NAN, INF)}, EXACT)
        assert (found.checked, found.ok, found.exact) == (True, True, True)
        assert (found.max_abs_error, found.max_rel_error) == (0.0, 0.0)

    def test_any_nan_equals_any_nan(self) -> None:
        other = np.array([0x7FC0_0001], np.uint32).view(np.float32)
        assert compare({"y": other}, {"y": arrays(NAN)}, EXACT).exact

    @pytest.mark.parametrize(
        ("actual", "golden", "max_abs", "max_rel", "ok_when_loose"),
        [
            (1.5, 1.0, 0.5, 0.5, False),
            (1.09375, 1.0, 0.09375, 0.09375, True),
            (-0.0, 0.0, 0.0, 0.0, True),
            (0.0078125, 0.0, 0.0078125, 0.0, True),
            (NAN, 1.0, INF, INF, False),
            (1.0, NAN, INF, INF, False),
            (INF, -INF, INF, INF, False),
            (1.0, INF, INF, INF, False),
        ],
    )
    def test_errors(self, actual: float, golden: float, max_abs: float, max_rel: float, ok_when_loose: bool) -> None:
        pair = {"y": arrays(2, actual)}, {"y": arrays(2, golden)}
        strict, loose = compare(*pair, EXACT), compare(*pair, LOOSE)
        assert (strict.ok, strict.exact, loose.exact) == (False, False, False)
        assert loose.ok is ok_when_loose
        assert (strict.max_abs_error, strict.max_rel_error) == (max_abs, max_rel)

    def test_the_worst_output_counts(self) -> None:
        actual = {"a": arrays(1, 2), "b": arrays(1, 2.25)}
        golden = {"a": arrays(1, 2), "b": arrays(1, 2)}
        found = compare(actual, golden, LOOSE)
        assert (found.exact, found.max_abs_error, found.max_rel_error) == (False, 0.25, 0.125)

    def test_bfloat16(self) -> None:
        actual, golden = (np.array([1, value], ml_dtypes.bfloat16) for value in (2, 2.015625))
        assert compare({"y": actual}, {"y": golden}, EXACT).max_abs_error == 0.015625

    def test_golden_of_another_shape_is_a_mistake_of_ours(self) -> None:
        with pytest.raises(AssertionError, match="golden of output y is"):
            compare({"y": arrays(1)}, {"y": arrays(1, 1)}, EXACT)

    def test_not_checked(self) -> None:
        found = not_checked(LOOSE)
        assert (found.checked, found.ok, found.exact, found.max_abs_error) == (False, None, None, None)


class TestInputs:
    def x(self) -> npt.NDArray[np.float16]:
        return np.zeros((2, 4, 2, 8), np.float16)

    def test_contiguous_arrays_are_taken_as_they_are(self) -> None:
        x = self.x()
        assert as_inputs(OP, {"x": x})["x"] is x

    def test_non_contiguous_is_refused_where_the_operator_refuses_it(self) -> None:
        with pytest.raises(InputError) as refused:
            as_inputs(OP, {"x": self.x().transpose(0, 2, 1, 3)})
        assert str(refused.value) == (
            "input x of inplace_partial_rotary_mul is not contiguous (shape (2, 2, 4, 8), strides (128, 16, 32, 2) B); "
            "the operator takes contiguous tensors only: pass numpy.ascontiguousarray(x)"
        )

    def test_non_contiguous_is_copied_elsewhere(self) -> None:
        view = np.arange(6, dtype=np.float16).reshape(2, 3).T
        found = as_inputs(replace(OP, contiguous_only=False), {"x": view})["x"]
        assert found.flags.c_contiguous
        assert (found == view).all()

    def test_read_only_in_place(self) -> None:
        x = self.x()
        x.flags.writeable = False
        with pytest.raises(InputError) as refused:
            as_inputs(OP, {"x": x})
        assert str(refused.value) == (
            "input x of inplace_partial_rotary_mul is changed in place, but the array is read-only"
        )
        assert as_inputs(OP, {"cos": x})["cos"] is x

    def test_a_shape_alone_has_no_values(self) -> None:
        with pytest.raises(InputError) as refused:
            as_inputs(OP, {"cos": ((2, 3), "float16")})
        assert str(refused.value) == (
            "input cos of inplace_partial_rotary_mul: values are to be computed, so an array is needed, not tuple; "
            "with values=False shapes and dtypes are enough"
        )

    def test_foreign_byte_order(self) -> None:
        with pytest.raises(InputError, match="foreign byte order"):
            as_inputs(OP, {"x": self.x().astype(">f2")})


def test_outputs_start_as_nan() -> None:
    assert np.isnan(fresh_output(TensorInfo((2, 3), "bfloat16"))).all()
    assert np.isnan(fresh_output(TensorInfo((2, 3), "float32"))).all()
    assert fresh_output(TensorInfo((2, 0), "int8")).shape == (2, 0)


INFOS = {
    "x": TensorInfo((3, 5), "float16"),
    "cos": TensorInfo((4,), "bfloat16"),
    "index": TensorInfo((9,), "int32"),
}


class TestRandom:
    def test_seeded(self) -> None:
        first, again, other = (random_inputs(INFOS, seed) for seed in (1, 1, 2))
        for name, info in INFOS.items():
            assert first[name].shape == info.shape
            assert first[name].dtype.name == info.dtype
            assert first[name].tobytes() == again[name].tobytes() != other[name].tobytes()

    def test_streams_are_apart(self) -> None:
        larger = random_inputs({**INFOS, "x": TensorInfo((30, 5), "float16")}, 1)
        assert larger["cos"].tobytes() == random_inputs(INFOS, 1)["cos"].tobytes()
