"""Running an operator: which arrays kernels get, what is copied, what a run keeps. The operators here are made up."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ascend_sim import asc
from ascend_sim.asc.memory import DeviceArray
from ascend_sim.errors import InputError, TilingError, UnsupportedError
from ascend_sim.host.device import Device
from ascend_sim.host.execute import run_operator
from ascend_sim.host.operator import Call, Example, Input, Operator, Output, Support
from ascend_sim.host.tiling import Tiling, TilingContext

Array = npt.NDArray[np.float32]
WARNING = "half of the work is left undone"
SHAPE_ONLY = ((2, 4), "float32")


def tiling(context: TilingContext) -> Tiling:
    context.require(context.inputs["x"].rank == 2, "x must have two dims")
    return Tiling(
        *(context.op, context.soc, context.variant, 7, "the only way", 2, 0, {"path": "only"}, (), context.ub_bytes),
        warnings=(WARNING,) if context.cann == "old" else (),
    )


OP = Operator(
    name="scaled",
    type_name="Scaled",
    summary="x * factor, in place, and x + bias",
    package="made_up",
    inputs=(Input("x", ""), Input("factor", ""), Input("bias", "", aliases=("b",), optional=True)),
    outputs=(Output("x", "x", inplace="x"), Output("sum", "factor"), Output("biased", "bias", needs="bias")),
    attributes=(),
    supports={"ascend910b": Support(tiling, (("float32",) * 3,), ())},
    infer_shapes=lambda shapes, attrs: (shapes["x"], shapes["x"][:1], shapes["x"]),
    example=Example({}),
    ub_reads="configured",
    cann=("old", "new"),
)


@asc.jit
def nothing(x: asc.GlobalAddress) -> None:
    """A kernel that only shows that it ran."""
    asc.pipe_barrier(asc.PipeID.PIPE_V)


def compute(call: Call) -> None:
    nothing[call.tiling.block_dim](call.tensors["x"])
    tensors = call.tensors
    if isinstance(tensors["x"], DeviceArray):
        return
    if "bias" in tensors:
        tensors["biased"][...] = tensors["x"] + tensors["bias"]
    tensors["x"] *= tensors["factor"]


def expected(inputs: dict[str, Array], attrs: dict[str, Any]) -> dict[str, Array]:
    found = {"x": inputs["x"] * inputs["factor"], "sum": inputs["x"].sum(1)}
    return found | ({"biased": inputs["x"] + inputs["bias"]} if "bias" in inputs else {})


@pytest.fixture(autouse=True)
def modules(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Call], None]], None]:
    """The made-up operator's kernel and golden modules; call the result to put another launch in place."""
    kernel = SimpleNamespace(launch=compute)
    monkeypatch.setitem(sys.modules, "made_up", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "made_up.kernel", kernel)
    monkeypatch.setitem(sys.modules, "made_up.golden", SimpleNamespace(golden=expected))
    return lambda launch: monkeypatch.setattr(kernel, "launch", launch)


def inputs() -> dict[str, Array]:
    return {"x": np.arange(8, dtype=np.float32).reshape(2, 4), "factor": np.full((1, 1), 3, np.float32)}


class TestWithValues:
    def test_in_place_output_is_the_caller_s_array(self) -> None:
        given = inputs()
        run = run_operator(OP, given, {}, Device())
        assert run.outputs["x"] is given["x"]
        assert given["x"].tolist() == [[0, 3, 6, 9], [12, 15, 18, 21]]

    def test_inputs_are_kept_as_they_were(self) -> None:
        given = inputs()
        run = run_operator(OP, given, {}, Device())
        assert run.inputs["x"].tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
        assert run.inputs["factor"] is given["factor"]

    def test_golden_sees_the_inputs_as_they_were(self) -> None:
        run = run_operator(OP, inputs(), {}, Device())
        assert run.golden["x"].tolist() == [[0, 3, 6, 9], [12, 15, 18, 21]]
        assert run.golden["sum"].tolist() == [6, 22]

    def test_golden_can_be_left_out(self) -> None:
        assert run_operator(OP, inputs(), {}, Device(), check=False).golden == {}

    def test_what_no_kernel_writes_is_nan(self) -> None:
        run = run_operator(OP, inputs(), {}, Device())
        assert run.outputs["sum"].shape == (2,)
        assert np.isnan(run.outputs["sum"]).all()

    def test_optional_input_and_the_output_that_needs_it(self) -> None:
        without = run_operator(OP, inputs(), {}, Device())
        with_bias = run_operator(OP, {**inputs(), "b": np.ones((2, 4), np.float32)}, {}, Device())
        assert list(without.outputs) == ["x", "sum"]
        assert list(with_bias.outputs) == ["x", "sum", "biased"]
        assert with_bias.outputs["biased"].tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]

    def test_non_contiguous_in_place_is_written_back(self) -> None:
        whole = np.arange(8, dtype=np.float32).reshape(4, 2)
        run = run_operator(OP, {**inputs(), "x": whole.T}, {}, Device())
        assert whole.tolist() == [[0, 3], [6, 9], [12, 15], [18, 21]]
        assert run.inputs["x"].tolist() == [[0, 2, 4, 6], [1, 3, 5, 7]]

    def test_non_contiguous_is_refused_before_anything_runs(self) -> None:
        device = Device()
        with pytest.raises(InputError, match="is not contiguous"):
            run_operator(
                replace(OP, contiguous_only=True), {**inputs(), "x": np.ones((4, 2), np.float32).T}, {}, device
            )
        assert device.launches == []

    def test_a_shape_is_not_enough(self) -> None:
        with pytest.raises(InputError, match="an array is needed, not tuple"):
            run_operator(OP, {**inputs(), "x": SHAPE_ONLY}, {}, Device())


class TestWithoutValues:
    def test_kernels_get_shapes(self, modules: Any) -> None:
        seen: list[Call] = []
        modules(seen.append)
        run = run_operator(OP, {"x": SHAPE_ONLY, "factor": ((1, 1), "float32")}, {}, Device(values=False))
        tensors = seen[0].tensors
        assert {name: (a.shape, a.dtype.name) for name, a in tensors.items()} == {
            "x": ((2, 4), "float32"),
            "factor": ((1, 1), "float32"),
            "sum": ((2,), "float32"),
        }
        assert (run.inputs, run.outputs, run.golden) == ({}, {}, {})

    def test_arrays_are_not_touched(self) -> None:
        given = inputs()
        run_operator(OP, given, {}, Device(values=False))
        assert given["x"].tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]


class TestLaunches:
    def test_a_run_keeps_its_own_launches(self) -> None:
        device = Device()
        first, second = (run_operator(OP, inputs(), {}, device) for _ in range(2))
        assert len(device.launches) == 2
        assert [first.launches, second.launches] == [[launch] for launch in device.launches]
        assert second.launches[0].program.block_dim == second.tiling.block_dim == 2

    def test_kernels_go_to_the_device_given(self) -> None:
        with Device() as outer:
            inner = Device("Ascend910B4")
            run_operator(OP, inputs(), {}, inner)
        assert (len(outer.launches), len(inner.launches)) == (0, 1)

    def test_call(self, modules: Any) -> None:
        seen: list[Call] = []
        modules(seen.append)
        run = run_operator(OP, inputs(), {}, Device("Ascend910B1"))
        assert (seen[0].arch, seen[0].attrs, seen[0].tiling) == ("2201", {}, run.tiling)
        assert run.tiling.variant == "Ascend910B1"

    def test_warnings_are_said_once(self, modules: Any) -> None:
        def launch_twice(call: Call) -> None:
            compute(call)
            compute(call)

        modules(launch_twice)
        run = run_operator(OP, inputs(), {}, Device(), cann="old")
        for launch in run.launches:
            launch.warnings += [WARNING, "a kernel's own"]
        assert run.warnings == [WARNING, "a kernel's own"]
        assert run_operator(OP, inputs(), {}, Device()).warnings == []


class TestRefusals:
    def test_by_the_operator(self) -> None:
        with pytest.raises(TilingError, match=r"^Scaled: x must have two dims$"):
            run_operator(OP, {**inputs(), "x": np.zeros(3, np.float32)}, {}, Device())

    def test_a_tiling_without_kernel(self) -> None:
        def elsewhere(context: TilingContext) -> Tiling:
            return replace(tiling(context), not_runnable="it needs the cube core")

        operator = replace(OP, supports={"ascend910b": Support(elsewhere, (), ())})
        with pytest.raises(UnsupportedError) as refused:
            run_operator(operator, inputs(), {}, Device())
        assert str(refused.value) == "scaled: it needs the cube core"
