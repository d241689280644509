"""Devices, launches, the platform modules, and which names `asc` has."""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np
import pytest

import ascend_sim.asc.lib.runtime as rt
from ascend_sim import asc
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.runtime import config
from ascend_sim.asc.unsupported import REASONS
from ascend_sim.errors import InputError, KernelError, OptionError, UnsupportedError
from ascend_sim.host.device import Device, default_device, set_default_device


@asc.jit
def copy_rows(x: asc.GlobalAddress, y: asc.GlobalAddress, n: asc.ConstExpr[int]) -> None:
    source, target = asc.GlobalTensor(), asc.GlobalTensor()
    source.set_global_buffer(x + asc.get_block_idx() * n)
    target.set_global_buffer(y + asc.get_block_idx() * n)
    pipe = asc.TPipe()
    queue = asc.TQueBind(asc.TPosition.VECIN, asc.TPosition.VECOUT, 1)
    pipe.init_buffer(queue, 1, n * 4)
    tensor = queue.alloc_tensor(asc.float32)
    asc.data_copy(tensor, source, n)
    queue.enque(tensor)
    tensor = queue.deque(asc.float32)
    asc.data_copy(target, tensor, n)
    queue.free_tensor(tensor)


def arrays(n: int = 1024) -> tuple[Any, Any]:
    return np.arange(n, dtype=np.float32), np.zeros(n, np.float32)


@pytest.fixture
def _fresh_default() -> Any:
    before = set_default_device(None)
    yield
    set_default_device(before)


def test_a_launch_is_recorded_and_timed() -> None:
    x, y = arrays()
    with Device("Ascend910B4") as device:
        copy_rows[4](x, y, 256)
    assert np.array_equal(x, y)
    (launch,) = device.launches
    assert launch.kernel == "copy_rows"
    assert launch.soc.variant == "Ascend910B4"
    assert launch.timeline.duration_cycles > 0
    assert len(launch.timeline.cores) == 4
    assert 0 < launch.record_s < launch.wall_s
    assert repr(launch).startswith("<Launch copy_rows[4] on Ascend910B4: ")
    assert device.elapsed_cycles == launch.timeline.duration_cycles


@pytest.mark.parametrize("values", [True, False])
def test_values_do_not_change_the_time(values: bool) -> None:
    durations = []
    for order in (None, [3, 2, 1, 0], [1, 3, 0, 2]):
        x, y = arrays()
        with Device(values=values, block_order=order) as device:
            copy_rows[4](x, y, 256)
            copy_rows[4](x, y, 256)
        assert bool(np.array_equal(x, y)) is values
        durations.append([launch.timeline.duration_cycles for launch in device.launches])
    assert durations[0] == durations[1] == durations[2]


def test_timing_can_be_left_out() -> None:
    x, y = arrays()
    with Device(timing=False) as device:
        copy_rows[4](x, y, 256)
    assert np.array_equal(x, y)
    assert device.launches[0].timeline.cores == []


def test_devices_nest() -> None:
    x, y = arrays()
    with Device() as outer:
        with Device("Ascend910B1") as inner:
            copy_rows[1](x, y, 64)
        copy_rows[2](x, y, 64)
    assert [len(d.launches[0].program.blocks) for d in (inner, outer)] == [1, 2]


def test_a_failed_launch_leaves_everything_clean() -> None:
    def body(x: asc.GlobalAddress) -> None:
        asc.TPipe()
        if asc.get_block_idx() == 1:
            raise ValueError("no")
        asc.sync_all()

    x, y = arrays()
    with Device() as device:
        with pytest.raises(KernelError) as caught:
            asc.jit(body)[3](x)
        assert isinstance(caught.value.__cause__, ValueError)
        assert (RECORDER.launch, RECORDER.arch, RECORDER.ub) == (None, "", None)
        copy_rows[4](x, y, 256)
    assert len(device.launches) == 1
    assert np.array_equal(x, y)


def test_parked_blocks_are_unwound_after_an_error() -> None:
    unwound = []

    def body() -> None:
        try:
            if asc.get_block_idx() == 2:
                raise ValueError("no")
            asc.sync_all()
        finally:
            unwound.append(asc.pipe_barrier)

    with Device(), pytest.raises(KernelError, match=r"ValueError: no$"):
        asc.jit(body)[3]()
    assert len(unwound) == 3


def test_a_kernel_cannot_launch_a_kernel() -> None:
    def body(x: asc.GlobalAddress) -> None:
        copy_rows[1](x, x, 8)

    with Device(), pytest.raises(KernelError) as caught:
        asc.jit(body)[1](arrays()[0])
    assert str(caught.value.__cause__) == (
        "kernel 'copy_rows' cannot be launched inside a kernel: call it without brackets"
    )
    assert RECORDER.launch is None


def test_the_tile_is_named() -> None:
    def body(x: asc.GlobalAddress) -> None:
        pipe, queue = asc.TPipe(), asc.TQue(asc.TPosition.VECIN, 1)
        pipe.init_buffer(queue, 1, 64)
        for i in range(4):
            tensor = queue.alloc_tensor(asc.float32)
            tensor.set_value(1 // (2 - i), 0)
            queue.free_tensor(tensor)

    with Device(), pytest.raises(KernelError) as caught:
        asc.jit(body)[1](arrays()[0])
    line = body.__code__.co_firstlineno + 5
    assert str(caught.value) == (
        f"kernel 'body', block 0, tile 2, {__file__}:{line} in body: ZeroDivisionError: integer division or modulo by "
        "zero"
    )


def test_options() -> None:
    x, y = arrays()
    with Device() as device:
        copy_rows[1, rt.current_stream()](x, y, 8, always_compile=True, auto_sync=False)
        asc.jit(auto_sync=True, kernel_type=asc.KernelType.AIV_ONLY)(copy_rows.function)[1](x, y, 8)
    assert [launch.program.auto_sync for launch in device.launches] == [False, True]


def _launch_in_order(order: list[int]) -> None:
    with Device(block_order=order):
        copy_rows[2](*arrays(), 8)


def function_with(parameter: str) -> Any:
    namespace: dict[str, Any] = {}
    exec(f"def body({parameter}): ...", namespace)
    return namespace["body"]


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (lambda: asc.jit(opt_level=0), OptionError, "asc.jit: opt_level 0, allowed are 1, 2 and 3"),
        (
            lambda: asc.jit(kernel_type=1),
            OptionError,
            "asc.jit: kernel_type takes a KernelType such as KernelType.AIV_ONLY, not 1",
        ),
        (
            lambda: asc.jit(kernel_type=asc.KernelType.MIX_AIC_1_2),
            UnsupportedError,
            "asc.jit: KernelType.MIX_AIC_1_2 needs cube cores, which are not simulated yet; allowed are AIV_ONLY, "
            "MIX_AIV_HARD_SYNC, MIX_AIV_1_0",
        ),
        (
            lambda: asc.jit(matmul_cube_only=True),
            UnsupportedError,
            "asc.jit: matmul_cube_only needs the cube unit, which is not simulated yet",
        ),
        (
            lambda: asc.jit(function_with("stream")),
            OptionError,
            "kernel 'body': a parameter may not be called 'stream', that is the name of an option",
        ),
        (
            lambda: asc.jit(function_with("debug")),
            OptionError,
            "kernel 'body': a parameter may not be called 'debug', that is the name of an option",
        ),
        (
            lambda: asc.jit(function_with("*args")),
            OptionError,
            "kernel 'body': *args and **kwargs are not allowed in a jitted function",
        ),
        (lambda: copy_rows(1, 2, 3), KernelError, "kernel 'copy_rows' must be launched: copy_rows[blocks](...)"),
        (
            lambda: copy_rows["8"],
            InputError,
            "kernel 'copy_rows': core_num must be an integer of at least 1, not str",
        ),
        (lambda: copy_rows[1, 2, 3], OptionError, "kernel[core_num, stream] takes at most two values, not 3"),
        (
            lambda: _launch_in_order([0, 0]),
            InputError,
            "block_order [0, 0]: must name each of the blocks 0..1 once",
        ),
        (lambda: Device(l2="tepid"), InputError, "l2 'tepid': allowed are 'warm', 'cold' and 'keep'"),
    ],
)
def test_refusals(make: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as caught:
        make()
    assert type(caught.value) is kind
    assert str(caught.value) == text


def test_core_num_in_the_call_is_not_an_option() -> None:
    x, y = arrays()
    with Device(), pytest.raises(Exception, match="got an unexpected keyword argument 'core_num'"):
        copy_rows[1](x, y, 8, core_num=2)


# -- platform modules ---------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("_fresh_default")
def test_set_platform_chooses_the_default_device() -> None:
    assert default_device().soc.variant == "Ascend910B3"
    config.set_platform(config.Backend.Model)
    assert rt.get_soc_version() == "Ascend910B1"
    first = default_device()
    config.set_platform("Model", "Ascend910B1")
    assert default_device() is first
    config.set_platform(config.Backend.Model, config.Platform.Ascend910B4_1, device_id=0)
    assert default_device().soc.variant == "Ascend910B4-1"
    with Device("Ascend910_9362"):
        assert rt.get_soc_version() == "Ascend910_9362"


@pytest.mark.usefixtures("_fresh_default")
def test_runtime() -> None:
    x, y = arrays()
    stream = rt.create_stream(priority=1)
    copy_rows[1, stream](x, y, 8)
    rt.synchronize(stream)
    rt.synchronize_device()
    rt.destroy_stream(stream)
    assert rt.current_tick() == default_device().launches[0].timeline.duration_cycles
    rt.reset_device()
    assert default_device().launches == []
    rt.set_device(0)
    assert (rt.current_device(), rt.device_count(), rt.is_model(), rt.is_available()) == (0, 1, True, True)
    assert rt.current_platform() is config.Backend.Model


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (lambda: config.set_platform("NPU"), OptionError, "set_platform: there is no NPU here; use Backend.Model"),
        (
            lambda: config.set_platform("GPU"),
            InputError,
            "set_platform: backend 'GPU', allowed are Backend.Model and Backend.NPU",
        ),
        (
            lambda: config.set_platform("Model", device_id=3),
            InputError,
            "set_platform: device_id 3, there is one simulated device: 0",
        ),
        (lambda: rt.current_stream(1), InputError, "device 1: there is one simulated device, 0"),
        (
            lambda: rt.malloc,
            UnsupportedError,
            "asc.lib.runtime.malloc: device pointers are not simulated; pass arrays to the kernel",
        ),
    ],
)
def test_platform_refusals(make: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value) == text


# -- names --------------------------------------------------------------------------------------------------------


def test_names_that_pyasc_has_and_the_simulator_has_not() -> None:
    with pytest.raises(UnsupportedError) as caught:
        asc.mmad  # noqa: B018
    assert str(caught.value) == "asc.mmad: cube instructions are not simulated yet"
    with pytest.raises(AttributeError) as unknown:
        asc.data_copi  # noqa: B018
    assert str(unknown.value).startswith("asc has no 'data_copi'; did you mean asc.data_copy")
    assert not hasattr(asc, "__wrapped__")
    assert sorted(REASONS.keys() & vars(asc).keys()) == []  # a name that is there needs no excuse


def test_types_survive_pickling() -> None:
    buffer = io.BytesIO()
    pickle.dump((asc.float16, asc.TPosition.VECIN), buffer)
    buffer.seek(0)
    assert pickle.load(buffer)[0] is asc.float16
