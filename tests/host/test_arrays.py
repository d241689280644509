"""Arrays on their way into a call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ascend_sim.errors import InputError
from ascend_sim.host.arrays import as_inputs, fresh_output, random_inputs
from ascend_sim.host.registry import operator_named
from ascend_sim.host.tensors import TensorInfo

OP = operator_named("inplace_partial_rotary_mul")


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

    @pytest.mark.parametrize("seed", [-1, 1.5, "1", None, True])
    def test_senseless_seeds(self, seed: Any) -> None:
        with pytest.raises(InputError) as refused:
            random_inputs(INFOS, seed)
        assert str(refused.value) == f"seed is {seed!r}; it must be an integer of 0 or more"

    def test_streams_are_apart(self) -> None:
        larger = random_inputs({**INFOS, "x": TensorInfo((30, 5), "float16")}, 1)
        assert larger["cos"].tobytes() == random_inputs(INFOS, 1)["cos"].tobytes()

    def test_some_are_made_by_the_operator(self) -> None:
        index = np.arange(9, dtype=np.int32)
        seen: list[Any] = []

        def draw(infos: Any) -> npt.NDArray[Any]:
            seen.append(infos)
            return index

        found = random_inputs(INFOS, 1, {"index": draw})
        assert found["index"] is index
        assert seen == [INFOS]
        assert found["x"].tobytes() == random_inputs(INFOS, 1)["x"].tobytes()
