"""Contexts: what they are made with, streams, modes; and faults of the device, which surface at a synchronisation."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import ascend_sim
from ascend_sim.frontends import atb
from ascend_sim.host.device import Device

from .making import Ready, created, pack


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({}, 0),
        ({"alloc": bytearray, "dealloc": print}, 0),
        ({"alloc": bytearray}, 1),
        ({"dealloc": print}, 1),
        ({"hostTilingBlockNum": 128, "deviceTilingBlockNum": 32}, 0),
        ({"hostTilingBlockNum": 1024, "deviceTilingBlockNum": 1024}, 0),
        ({"hostTilingBlockNum": 127}, 1),
        ({"hostTilingBlockNum": 1025}, 1),
        ({"deviceTilingBlockNum": 31}, 1),
        ({"deviceTilingBlockNum": 1025}, 1),
    ],
)
def test_create(device: Device, given: dict[str, Any], status: int) -> None:
    found, context = atb.CreateContext(**given)
    assert found == status
    assert (context is None) == bool(status)


def test_destroy(device: Device) -> None:
    _, context = atb.create_context()
    assert [atb.destroy_context(item) for item in (context, context, None)] == [0, 0, 0]


def test_streams(context: atb.Context) -> None:
    first, second = object(), object()
    assert context.SetExecuteStreams([]) == 1
    assert context.SetExecuteStreams([first, second]) == 0
    assert context.GetExecuteStreams() == [first, second]
    assert context.set_execute_stream(second) == 0
    assert context.get_execute_stream() is second


def test_the_stream_of_an_operation(ready: Ready) -> None:
    ready.set_up()
    assert (atb.SetExecuteStreamId(ready.operation, 1), atb.GetExecuteStreamId(ready.operation)) == (0, 1)
    assert ready.execute() == 1  # the context has one stream
    ready.context.SetExecuteStreams([None, object()])
    assert ready.execute() == 0
    assert (atb.SetExecuteStreamId(object(), 1), atb.GetExecuteStreamId(object())) == (1, 0)


def test_modes_and_types(context: atb.Context) -> None:
    assert (context.SetExecuteType(3), context.SetExecuteType(-1), context.SetLaunchMode(2)) == (1, 1, 1)
    assert context.GetExecuteType() is atb.ExecuteType.EXECUTE_NORMAL
    assert context.SetLaunchMode(1) == 0
    assert context.GetLaunchMode() is atb.LaunchMode.GRAPH_LAUNCH_MODE
    assert not context.GetLaunchWithTilingStatus()
    assert context.SetAsyncTilingCopyStatus(True) == 0
    assert context.GetAsyncTilingCopyStatus()


def test_the_execute_type_belongs_to_the_thread(context: atb.Context) -> None:
    context.SetExecuteType(atb.ExecuteType.EXECUTE_PRELAUNCH)
    seen: list[atb.ExecuteType] = []
    thread = threading.Thread(target=lambda: seen.append(context.GetExecuteType()))
    thread.start()
    thread.join()
    assert seen == [atb.ExecuteType.EXECUTE_NORMAL]
    context.SetExecuteType(atb.ExecuteType.EXECUTE_NORMAL)


class TestFaults:
    def test_they_surface_once_at_their_own_stream(self, device: Device, caplog: pytest.LogCaptureFixture) -> None:
        ready = Ready(device, [2, 2])
        ready.pack = pack([(3, 128), (3, 128), (4, 128), (4, 128)])
        assert ready.set_up().execute() == 0
        assert "device fault, told by the next synchronisation of the stream: " in caplog.messages[0]
        assert "q_embedded_grad" in caplog.messages[0]
        assert atb.aclrtSynchronizeStream(object()) == 0
        assert atb.synchronize_stream(ready.stream) == 507035
        assert atb.aclrtSynchronizeStream(ready.stream) == 0

    def test_a_division_by_zero_in_the_kernel(self, context: atb.Context) -> None:
        """Tiling id 24 has no room for heads of more than 2048 elements, which nobody refuses."""
        import ml_dtypes  # noqa: PLC0415

        arrays = [np.zeros((64, 4096), ml_dtypes.bfloat16) for _ in range(4)]
        given = atb.VariantPack([*arrays, np.array([64], np.int32)], [array.copy() for array in arrays[:2]])
        operation = created(atb.RopeParam(2))
        status, size = operation.Setup(given, context)
        assert status == 0
        assert operation.Execute(given, np.zeros(size, np.uint8), context) == 0
        assert atb.aclrtSynchronizeStream(context.GetExecuteStream()) == 507035


class TestStreamsOfTheDevice:
    def test_kernels_wait_for_the_synchronisation(self, ready: Ready) -> None:
        stream = ready.device.create_stream()
        ready.set_up().context.SetExecuteStream(stream)
        assert ready.execute() == 0
        assert (ready.pack.outTensors[0].data == 7).all()
        atb.DestroyOperation(ready.operation)  # the kernel is under way already
        assert atb.aclrtSynchronizeStream(stream) == 0
        assert (ready.pack.outTensors[0].data != 7).any()
        assert [task.name for task in stream.tasks] == ["RopeGradKernel"]
        assert stream.elapsed_us > 1

    def test_faults(self, device: Device, caplog: pytest.LogCaptureFixture) -> None:
        ready, stream = Ready(device, [2, 2]), device.create_stream()
        ready.pack = pack([(3, 128), (3, 128), (4, 128), (4, 128)])
        ready.set_up().context.SetExecuteStream(stream)
        assert ready.execute() == 0
        assert atb.aclrtSynchronizeStream(stream) == 507035
        assert caplog.messages[-1].startswith("device fault: ")
        assert atb.aclrtSynchronizeStream(stream) == 0

    def test_device_memory(self, device: Device) -> None:
        ready = Ready(device).set_up()
        arrays = [item.data for item in ready.pack.inTensors]
        buffers = [device.memory.malloc(array.nbytes) for array in (*arrays, *arrays[:2])]
        for buffer, array in zip(buffers, arrays, strict=False):
            buffer.write(array)
        descs = [item.desc for item in (*ready.pack.inTensors, *ready.pack.outTensors)]
        tensors = [atb.Tensor(desc, buffer, None, buffer.nbytes) for desc, buffer in zip(descs, buffers, strict=True)]
        assert ready.execute() == 0
        assert ready.operation.Execute(atb.VariantPack(tensors[:4], tensors[4:]), None, ready.context) == 0
        found = buffers[4].read(np.empty((11, 128), np.float16))
        assert found.tobytes() == ready.pack.outTensors[0].data.tobytes()


def test_sessions_keep_a_record() -> None:
    with ascend_sim.session("Ascend910B1") as session:
        ready = Ready(session.device).set_up()
        assert ready.execute() == 0
    (record,) = session.records
    assert (record.op, record.caller, record.block_dim) == ("RopeGrad", "RopeGradKernel", 1)


def test_launches_and_warnings_stand_with_the_device() -> None:
    with ascend_sim.device("Ascend910B4") as device:
        operation = created(atb.RopeGradParam([3]))
        _, context = atb.CreateContext()
        assert context is not None
        context.SetExecuteStream(object())
        given = pack([(3, 41 * 128), (3, 41 * 128), (8, 128), (8, 128)])
        assert operation.Setup(given, context) == (0, 0)
        assert operation.Execute(given, None, context) == 0
        (run,) = device.runs
    assert run.program.block_dim == 40
    assert run.warnings == [
        "41 heads on 40 vector cores: each core takes one head and none a second, so heads 40 to 40 (columns 5120 to "
        "5247) of q_grad and k_grad are never written, as on the chip"
    ]
    assert (given.outTensors[0].data[:, 5120:] == 7).all()


def test_a_run_without_values_takes_as_long() -> None:
    cycles = []
    for values in (True, False):
        with Device("Ascend910B1", values=values) as device:
            ready = Ready(device)
            if not values:
                ready.pack = atb.VariantPack(
                    *([ascend_sim.asc.memory.DeviceArray(item.desc.shape.shape, "float16") for item in items]
                      for items in (ready.pack.inTensors, ready.pack.outTensors))
                )  # fmt: skip
            assert ready.set_up().execute() == 0
            cycles.append(device.launches[0].timeline.duration_cycles)
    assert cycles[0] == cycles[1] > 0
