"""The generic executor: what the two phases answer, on an operator made up for it."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ascend_sim.errors import KernelError
from ascend_sim.host.aclnn import AclFormat, AclTensor, OpExecutor, get_recent_err_msg
from ascend_sim.host.aclnn.executor import first_phase, second_phase
from ascend_sim.host.aclnn.status import Status
from ascend_sim.host.device import Device
from ascend_sim.host.stream import AclError

from .made_up import OP, SCALED, SCALED_V2, WORKSPACE_BYTES

Array = npt.NDArray[Any]
NULL, INVALID, TILING = 161001, 161002, 561002


@pytest.fixture
def device() -> Iterator[Device]:
    with Device() as found:
        yield found


def floats(*shape: int) -> Array:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def arguments(**changes: Any) -> dict[str, Any]:
    given = {"x_ref": floats(2, 4), "bias_optional": None, "factor": 3, "sum_out": floats(2), "biased_out": None}
    return given | changes


def planned(device: Device, **changes: Any) -> OpExecutor:
    status, _, executor = first_phase(SCALED, OP, arguments(**changes))
    assert (status, get_recent_err_msg()) == (0, "")
    assert executor is not None
    return executor


def workspace(device: Device) -> Any:
    return device.memory.malloc(WORKSPACE_BYTES, "workspace")


class TestRun:
    def test_results_are_there_after_synchronize_and_not_before(self, device: Device) -> None:
        x, total = floats(2, 4), floats(2)
        executor = planned(device, x_ref=x, sum_out=total)
        stream = device.create_stream()
        assert second_phase(SCALED, workspace(device), WORKSPACE_BYTES, executor, stream) == 0
        assert (x[0, 1], stream.pending, stream.elapsed_us) == (1, 1, 0)
        assert stream.synchronize() == 0
        assert x.tolist() == [[0, 3, 6, 9], [12, 15, 18, 21]]
        assert total.tolist() == [18, 66]
        assert stream.elapsed_us == stream.tasks[0].duration_us > 0

    def test_size_is_what_the_tiling_says(self, device: Device) -> None:
        assert first_phase(SCALED, OP, arguments())[:2] == (Status.ACLNN_SUCCESS, WORKSPACE_BYTES)

    def test_tensors_in_device_memory(self, device: Device) -> None:
        buffer = device.memory.malloc(48, "x")
        buffer.write(floats(12))
        x = AclTensor((2, 4), "float32", offset=4, storage_shape=(12,), data=buffer)
        executor = planned(device, x_ref=x, sum_out=np.zeros(2, np.float32))
        assert second_phase(SCALED, workspace(device), WORKSPACE_BYTES, executor, None) == 0
        assert device.default_stream.synchronize() == 0
        assert buffer.read(np.empty(12, np.float32)).tolist() == [0, 1, 2, 3, 12, 15, 18, 21, 24, 27, 30, 33]

    def test_workspace_reaches_the_kernel(self, device: Device) -> None:
        scratch = np.zeros(WORKSPACE_BYTES, np.uint8)
        second_phase(SCALED, scratch, WORKSPACE_BYTES, planned(device), None)
        device.default_stream.synchronize()
        assert scratch.tolist() == list(range(WORKSPACE_BYTES))

    def test_a_strided_tensor_in_place_is_copied_there_and_back(self, device: Device) -> None:
        whole = floats(2, 8)
        executor = planned(device, x_ref=whole[:, ::2])
        assert executor.copies == ("xRef",)
        second_phase(SCALED, workspace(device), WORKSPACE_BYTES, executor, None)
        assert device.default_stream.synchronize() == 0
        assert whole.tolist() == [[0, 1, 6, 3, 12, 5, 18, 7], [24, 9, 30, 11, 36, 13, 42, 15]]

    def test_an_optional_input_brings_its_output(self, device: Device) -> None:
        biased = np.zeros((2, 4), np.float32)
        executor = planned(device, bias_optional=np.full((2, 4), 10, np.float32), biased_out=biased)
        second_phase(SCALED, workspace(device), WORKSPACE_BYTES, executor, None)
        device.default_stream.synchronize()
        assert biased.tolist() == (floats(2, 4) + 10).tolist()

    def test_an_output_that_nobody_wants_and_an_attribute_left_out(self, device: Device) -> None:
        x = floats(2, 4)
        given = {"x_ref": x, "factor_optional": None, "sum_out": None}
        _, _, executor = first_phase(SCALED_V2, OP, given)
        assert second_phase(SCALED_V2, workspace(device), WORKSPACE_BYTES, executor, None) == 0
        assert device.default_stream.synchronize() == 0
        assert x[1].tolist() == [12, 15, 18, 21]

    def test_empty_outputs_launch_nothing(self, device: Device) -> None:
        given = {"x_ref": floats(0, 4), "factor_optional": 2, "sum_out": floats(0)}
        status, size, executor = first_phase(SCALED_V2, OP, given)
        assert (status, size) == (0, 0)
        assert second_phase(SCALED_V2, None, 0, executor, None) == 0
        assert device.default_stream.synchronize() == 0
        assert (device.launches, device.default_stream.elapsed_us) == ([], 0)

    def test_without_values_there_is_the_time_alone(self) -> None:
        with Device(values=False) as device:
            x = AclTensor((2, 4), "float32")
            executor = planned(device, x_ref=x, sum_out=AclTensor((2,), "float32"))
            assert second_phase(SCALED, workspace(device), WORKSPACE_BYTES, executor, None) == 0
            assert device.default_stream.synchronize() == 0
            assert device.default_stream.elapsed_us > 0


REFUSED: list[tuple[dict[str, Any], int, str]] = [
    ({"x_ref": None}, NULL, "xRef is a null pointer"),
    ({"factor": None}, NULL, "factor is a null pointer"),
    ({"sum_out": None}, NULL, "sumOut is a null pointer"),
    ({"bias_optional": floats(2, 4)}, NULL, "biasedOut is a null pointer"),
    ({"x_ref": [1.0]}, INVALID, "xRef is list; it must be an AclTensor or a numpy array"),
    (
        {"x_ref": AclTensor.from_numpy(floats(2, 4), AclFormat.ACL_FORMAT_NCHW)},
        INVALID,
        "xRef has format ACL_FORMAT_NCHW; allowed is ACL_FORMAT_ND",
    ),
    (
        {"sum_out": floats(4)[::2]},
        INVALID,
        "sumOut is not contiguous (shape (2,), strides (2,)); the interface takes contiguous tensors there",
    ),
    (
        {"x_ref": floats(2, 4).astype(">f4")},
        INVALID,
        "xRef: AclTensor: dtype >f4 has foreign byte order",
    ),
    (
        {"x_ref": floats(2, 4).astype(np.int32)},
        INVALID,
        "dtypes of (xRef) are (int32); allowed are (float32) or (float16)",
    ),
    (
        {"bias_optional": floats(2, 4).astype(np.float16), "biased_out": floats(2, 4)},
        INVALID,
        "dtypes of (xRef, biasOptional) are (float32, float16); allowed are (float32, float32) or (float16, float32)",
    ),
    (
        {"sum_out": floats(2).astype(np.float16)},
        INVALID,
        "sumOut is float16; it must be float32, as xRef is",
    ),
    (
        {"factor": "much"},
        INVALID,
        "Scaled: attribute factor is 'much'; allowed is an integer",
    ),
    (
        {"factor": np.array([2, 3])},
        INVALID,
        "Scaled: attribute factor is array([2, 3]); allowed is an integer",
    ),
    ({"sum_out": floats(3)}, INVALID, "sumOut is (3,); it must be (2,)"),
    ({"x_ref": floats(8)}, INVALID, "Scaled: x must have two dims"),
    ({"x_ref": floats(100, 1), "sum_out": floats(100)}, TILING, "Scaled: x has too many rows"),
]


class TestFirstPhaseRefuses:
    @pytest.mark.parametrize(("changes", "code", "text"), REFUSED)
    def test_code_and_text(self, device: Device, changes: dict[str, Any], code: int, text: str) -> None:
        status, size, executor = first_phase(SCALED, OP, arguments(**changes))
        assert (int(status), size, executor) == (code, 0, None)
        assert get_recent_err_msg() == f"aclnnScaledGetWorkspaceSize: {text} ({Status(code).name}, {code})"
        assert device.launches == []

    def test_the_interface_s_own_code_and_range(self, device: Device) -> None:
        given = {"x_ref": floats(8), "factor_optional": None, "sum_out": None}
        assert first_phase(SCALED_V2, OP, given)[0] == TILING
        assert first_phase(SCALED_V2, OP, given | {"x_ref": floats(2, 4), "factor_optional": 4})[0] == INVALID
        assert get_recent_err_msg().startswith("aclnnScaledV2GetWorkspaceSize: factorOptional is 4; allowed are 2, 3 (")
        assert (
            first_phase(SCALED_V2, OP, given | {"x_ref": floats(2, 4), "factor_optional": np.array([2, 3])})[0]
            == INVALID
        )
        assert "factorOptional is array([2, 3]); allowed are 2, 3 (" in get_recent_err_msg()

    def test_strides_where_the_interface_takes_none(self, device: Device) -> None:
        given = {"x_ref": floats(2, 8)[:, ::2], "factor_optional": None, "sum_out": None}
        assert first_phase(SCALED_V2, OP, given)[0] == INVALID
        assert "xRef is not contiguous (shape (2, 4), strides (8, 2)); " in get_recent_err_msg()

    def test_read_only_arrays_take_no_result(self, device: Device) -> None:
        x = floats(2, 4)
        x.flags.writeable = False
        assert first_phase(SCALED, OP, arguments(x_ref=x))[0] == INVALID
        assert "xRef takes a result, but its array is read-only" in get_recent_err_msg()

    def test_a_chip_without_the_operator(self) -> None:
        with Device("ascend910_93"):
            assert first_phase(SCALED, OP, arguments())[0] == 561003
        assert get_recent_err_msg() == (
            "aclnnScaledGetWorkspaceSize: scaled is not supported by the operator library on ascend910_93; "
            "it exists on ascend910b (ACLNN_ERR_INNER_FIND_KERNEL_ERROR, 561003)"
        )

    def test_tensors_that_are_gone(self, device: Device) -> None:
        buffer = device.memory.malloc(32, "x")
        freed, destroyed = AclTensor((2, 4), "float32", data=buffer), AclTensor((2, 4), "float32")
        buffer.free()
        destroyed.destroy()
        assert first_phase(SCALED, OP, arguments(x_ref=freed))[0] == INVALID
        assert "xRef lies in buffer 'x' of 32 B, which has been freed" in get_recent_err_msg()
        assert first_phase(SCALED, OP, arguments(x_ref=destroyed))[0] == INVALID
        assert "xRef has been destroyed" in get_recent_err_msg()

    def test_memory_of_another_device(self, device: Device) -> None:
        there = AclTensor((2, 4), "float32", data=Device().memory.malloc(32))
        assert first_phase(SCALED, OP, arguments(x_ref=there))[0] == INVALID
        assert "xRef lies in memory of another device" in get_recent_err_msg()


class TestSecondPhaseRefuses:
    def refuse(self, code: int, text: str, *call: Any) -> None:
        assert second_phase(SCALED, *call) == code
        assert get_recent_err_msg() == f"aclnnScaled: {text} ({Status(code).name}, {code})"

    def test_a_second_run(self, device: Device) -> None:
        executor, scratch = planned(device), workspace(device)
        assert second_phase(SCALED, scratch, WORKSPACE_BYTES, executor, None) == 0
        text = "the executor has been used; it runs once, so begin again with the first phase"
        self.refuse(INVALID, text, scratch, WORKSPACE_BYTES, executor, None)
        device.default_stream.synchronize()
        self.refuse(INVALID, text, scratch, WORKSPACE_BYTES, executor, None)

    def test_workspaces(self, device: Device) -> None:
        executor, scratch, freed = planned(device), workspace(device), workspace(device)
        freed.free()
        self.refuse(NULL, "workspace is a null pointer; 64 B are needed", None, 64, executor, None)
        self.refuse(INVALID, "workspaceSize is 63 B; 64 B are needed", scratch, 63, executor, None)
        self.refuse(INVALID, "workspaceSize is '64'; it must be a number of bytes", scratch, "64", executor, None)
        self.refuse(INVALID, "workspaceSize is 65 B, but the memory has 64 B", scratch, 65, executor, None)
        self.refuse(INVALID, "workspace is int; it must be device memory", 4096, 64, executor, None)
        self.refuse(INVALID, "workspace is buffer 'workspace' of 64 B, which has been freed", freed, 64, executor, None)
        objects, fixed = np.full(8, None), np.zeros(64, np.uint8)
        fixed.flags.writeable = False
        plain = "it must be plain memory that kernels can write to"
        self.refuse(INVALID, f"workspace is an array of Python objects; {plain}", objects, 64, executor, None)
        self.refuse(INVALID, f"workspace is an array that is read-only; {plain}", fixed, 64, executor, None)
        foreign = Device().memory.malloc(64)
        self.refuse(INVALID, "workspace is memory of another device", foreign, 64, executor, None)
        assert (
            second_phase(SCALED, scratch, np.int64(64), executor, None) == 0
        )  # a refused call does not use the executor up

    def test_executors(self, device: Device) -> None:
        self.refuse(NULL, "executor is a null pointer", None, 0, None, None)
        self.refuse(INVALID, "executor is int; the first phase makes it", None, 0, 7, None)
        _, _, other = first_phase(SCALED_V2, OP, {"x_ref": floats(2, 4), "factor_optional": 2, "sum_out": None})
        self.refuse(INVALID, "the executor was made for aclnnScaledV2", None, 0, other, None)

    def test_a_tensor_freed_between_the_phases(self, device: Device) -> None:
        buffer = device.memory.malloc(32, "x")
        tensor = AclTensor((2, 4), "float32", data=buffer)
        executor = planned(device, x_ref=tensor)
        buffer.free()
        text = "xRef lies in buffer 'x' of 32 B, which has been freed"
        self.refuse(INVALID, text, workspace(device), WORKSPACE_BYTES, executor, None)

    def test_a_tensor_without_memory(self, device: Device) -> None:
        executor = planned(device, x_ref=AclTensor((2, 4), "float32"))
        self.refuse(NULL, "xRef has no memory", workspace(device), WORKSPACE_BYTES, executor, None)

    def test_streams(self, device: Device) -> None:
        elsewhere = Device("ascend910_93").create_stream()
        executor = planned(device)
        assert second_phase(SCALED, workspace(device), 64, executor, elsewhere) == INVALID
        assert get_recent_err_msg() == (
            f"aclnnScaled: stream is {elsewhere}; it must be a stream of the device on which the first phase was "
            "called (ACLNN_ERR_PARAM_INVALID, 161002)"
        )
        assert elsewhere.pending == 0


class TestWhileOnTheStream:
    def test_a_tensor_freed_before_its_turn(self, device: Device) -> None:
        buffer = device.memory.malloc(32, "x")
        executor = planned(device, x_ref=AclTensor((2, 4), "float32", data=buffer))
        stream = device.create_stream()
        assert second_phase(SCALED, workspace(device), WORKSPACE_BYTES, executor, stream) == 0
        buffer.free()
        assert stream.synchronize() == AclError.RT_PARAM_INVALID
        assert str(stream.error) == (
            "aclnnScaled: xRef lies in buffer 'x' of 32 B, which has been freed before the stream came to it"
        )

    def test_a_workspace_freed_before_its_turn(self, device: Device) -> None:
        scratch, stream = workspace(device), device.create_stream()
        second_phase(SCALED, scratch, WORKSPACE_BYTES, planned(device), stream)
        scratch.free()
        assert stream.synchronize() == 107000
        assert str(stream.error) == "aclnnScaled: workspace has been freed before the stream came to it"

    def test_a_kernel_that_fails(self, device: Device, kernel: SimpleNamespace) -> None:
        def fail(call: Any) -> None:
            raise KernelError("the kernel divided by zero")

        stream = device.create_stream()
        second_phase(SCALED, workspace(device), WORKSPACE_BYTES, planned(device), stream)
        second_phase(SCALED, workspace(device), WORKSPACE_BYTES, planned(device), stream)
        kernel.launch = fail
        assert stream.synchronize() == 507035
        assert str(stream.error) == "the kernel divided by zero"
        assert (stream.pending, stream.tasks) == (0, [])  # what came after it does not run either

    def test_tasks_keep_their_order_and_add_up(self, device: Device) -> None:
        x, stream = floats(2, 4), device.create_stream()
        for factor in (2, 5):
            executor = planned(device, x_ref=x, factor=factor)
            second_phase(SCALED, workspace(device), WORKSPACE_BYTES, executor, stream)
        assert stream.synchronize() == 0
        assert x[0].tolist() == [0, 10, 20, 30]
        first, second = stream.tasks
        assert (first.start_us, second.start_us) == (0, first.duration_us)
        assert stream.elapsed_us == pytest.approx(first.duration_us + second.duration_us)


def test_an_error_text_is_told_once(device: Device) -> None:
    first_phase(SCALED, OP, arguments(x_ref=None))
    assert get_recent_err_msg() != ""
    assert get_recent_err_msg() == ""
