"""The decorator: options, signatures, arguments, traces."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ascend_sim
from ascend_sim.asc.memory import DeviceArray
from ascend_sim.frontends import pypto
from ascend_sim.frontends.pypto import options
from ascend_sim.frontends.pypto.errors import FeError, PyptoError
from ascend_sim.host.device import Device, set_default_device

FP32, FP16 = pypto.DT_FP32, pypto.DT_FP16


@pypto.frontend.jit
def doubled(x: pypto.Tensor([pypto.DYNAMIC, 64], FP32), y: pypto.Tensor([pypto.DYNAMIC, 64], FP32)):
    pypto.set_vec_tile_shapes(8, 64)
    for i in pypto.loop((x.shape[0] + 7) // 8, name="ROWS", idx_name="i"):
        rows = (x.shape[0] - i * 8).min(8)
        pypto.assemble(pypto.view(x, [8, 64], [i * 8, 0], valid_shape=[rows, 64]) * 2.0, [i * 8, 0], y)


def rows(count: int) -> Any:
    return np.arange(count * 64, dtype=np.float32).reshape(count, 64)


def test_a_dynamic_dim_needs_no_new_trace() -> None:
    kernel = pypto.frontend.jit(doubled.function)
    for count in (1, 8, 20):
        x = rows(count)
        y = np.zeros_like(x)
        with Device(timing=False):
            kernel(x, y)
        assert np.array_equal(y, 2 * x)
    assert kernel.traces == 1


def test_a_static_dim_or_another_type_does() -> None:
    @pypto.frontend.jit
    def kernel(x: pypto.Tensor([pypto.STATIC, ...]), y: pypto.Tensor()):
        pypto.set_vec_tile_shapes(8, 64)
        y[:] = x + x

    for array in (rows(8), rows(16), rows(8).astype(np.float16), rows(8)):
        y = np.zeros_like(array)
        with Device(timing=False):
            kernel(array, y)
        assert np.array_equal(y, 2 * array)
    assert kernel.traces == 3


def test_other_parameters_go_by_position_name_or_default() -> None:
    @pypto.frontend.jit()
    def kernel(x: pypto.Tensor[[8, 64], FP32], y: pypto.Tensor([8, 64], FP32), factor: float, shift: float = 0.0):
        pypto.set_vec_tile_shapes(8, 64)
        y[:] = x * factor + shift

    x, y = rows(8), np.zeros((8, 64), np.float32)
    with Device(timing=False):
        kernel(x, y, 3.0)
        assert np.array_equal(y, 3 * x)
        kernel(x, y, shift=1.0, factor=2.0)
        assert np.array_equal(y, 2 * x + 1)
        kernel(x, y=y, factor=0.5)
        assert np.array_equal(y, x / 2)
    assert kernel.traces == 3


def test_the_same_array_twice_is_one_tensor() -> None:
    """In place: what is read lies where it is written."""
    x = rows(24)
    before = x.copy()
    with Device(timing=False):
        doubled(x, x)
    assert np.array_equal(x, 2 * before)


def test_bfloat16_and_strided_arrays() -> None:
    @pypto.frontend.jit
    def kernel(x: pypto.Tensor(), y: pypto.Tensor()):
        pypto.set_vec_tile_shapes(8, 64)
        y[:] = pypto.neg(x)

    x = rows(8).astype(ml_dtypes.bfloat16)
    wide = np.zeros((8, 128), ml_dtypes.bfloat16)
    with Device(timing=False):
        kernel(x, wide[:, ::2])
    assert np.array_equal(wide[:, ::2], -x)
    assert not wide[:, 1::2].any()


def test_without_values_and_on_another_chip() -> None:
    arrays = DeviceArray((4096, 64), "float32"), DeviceArray((4096, 64), "float32")
    durations = []
    for chip in ("Ascend910B3", "Ascend910B4"):
        with ascend_sim.device(chip, values=False) as device:
            doubled(*arrays)
        durations.append(device.runs[-1].duration_us)
        assert device.runs[-1].op == "doubled"
    assert durations[0] != durations[1]


def test_the_default_device_is_an_ascend910b() -> None:
    before = set_default_device(None)
    try:
        x = rows(8)
        doubled(x, x)
        assert doubled.lowered().chip == "Ascend910B3"
    finally:
        set_default_device(before)


def test_a_launch_is_like_any_other(tmp_path: Any) -> None:
    """Summary and trace, and the lines of the kernel's own file in them."""
    x = rows(64)
    with ascend_sim.device() as device:
        doubled(x, np.zeros_like(x))
    run = device.runs[-1]
    assert "test_jit.py:" in run.summary()
    run.write_trace(tmp_path / "trace.json")
    first_line = doubled.function.__code__.co_firstlineno
    lines = {i.place.line - first_line for b in run.program.blocks for i in b.instrs if i.name in ("Muls", "DataCopy")}
    assert lines == {5}
    functions = {i.place.function for b in run.program.blocks for i in b.instrs if i.name == "Muls"}
    assert functions == {"doubled"}


def test_blocks_in_any_order_and_twice_give_the_same() -> None:
    x = rows(100)
    results = []
    for order in (None, list(range(13))[::-1]):
        y = np.zeros_like(x)
        with Device(block_order=order) as device:
            doubled(x, y)
        (launch,) = device.launches
        results.append((y.tobytes(), launch.timeline.duration_cycles, launch.program.instructions))
    assert results[0] == results[1]


def test_both_run_modes_run_here_and_say_so_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options, "_NOTED", set())
    x = rows(8)
    for mode in (pypto.RunMode.NPU, pypto.RunMode.NPU, pypto.RunMode.SIM, 0, 1):
        kernel = pypto.frontend.jit(runtime_options={"run_mode": mode})(doubled.function)
        with Device(timing=False):
            kernel(x, np.zeros_like(x))
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "note: run_mode NPU: NPU and SIM both run on the simulator (ascend-sim)",
        "note: run_mode SIM: NPU and SIM both run on the simulator (ascend-sim)",
    ]


@pytest.mark.parametrize(
    ("environment", "given", "mode"),
    [
        ({}, {}, pypto.RunMode.SIM),
        ({"ASCEND_HOME_PATH": "/usr/local/Ascend"}, {}, pypto.RunMode.NPU),
        ({"ASCEND_HOME_PATH": "/usr/local/Ascend"}, {"run_mode": 1}, pypto.RunMode.SIM),
        ({"CAMODEL_LOG_PATH": "/tmp"}, {"run_mode": 0}, pypto.RunMode.SIM),
    ],
)
def test_the_run_mode_comes_from_options_and_environment(
    environment: dict[str, str], given: dict[str, int], mode: pypto.RunMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ASCEND_HOME_PATH", "CAMODEL_LOG_PATH"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert options.run_mode({"runtime_options": given}) is mode


def test_the_device_id_is_read_and_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    x = rows(8)
    monkeypatch.setenv("TILE_FWK_DEVICE_ID", "2")
    with Device(timing=False):
        doubled(x, np.zeros_like(x))
    monkeypatch.setenv("TILE_FWK_DEVICE_ID", "npu:2")
    with pytest.raises(FeError, match=r"TILE_FWK_DEVICE_ID is 'npu:2'; it must be a device number such as 0"):
        doubled(x, np.zeros_like(x))


def test_documented_options_are_taken() -> None:
    kernel = pypto.frontend.jit(
        host_options={},
        runtime_options={
            "run_mode": 1,
            "device_sched_mode": 3,
            "stitch_function_max_num": 512,
            "max_workspace_kb": 0,
            "valid_shape_optimize": 1,
            "ready_on_host_tensors": ["x"],
            "device_sched_parallelism": 8,
            "launch_sched_aicpu_num": 5,
            "launch_early_mode": 2,
        },
        codegen_options={},
        pass_options={"cube_l1_reuse_setting": {-1: 4}, "vec_nbuffer_setting": {"DEFAULT": 8}, "combine_axis": True},
        verify_options={"pass_verify_error_tol": [0.008, 0.001]},
        debug_options={"runtime_debug_mode": 0},
    )(doubled.function)
    assert kernel.options["runtime_options"]["stitch_function_max_num"] == 512


OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown group": (
        {"run_options": {}},
        "pypto.frontend.jit has no option 'run_options'; there are host_options, runtime_options, codegen_options, "
        "pass_options, verify_options, debug_options",
    ),
    "no dict": (
        {"pass_options": 3},
        "pypto.frontend.jit: pass_options is 3; it must be a dict with option names as keys",
    ),
    "run mode": (
        {"runtime_options": {"run_mode": 2}},
        "pypto.frontend.jit: Invalid run mode 2; allowed are pypto.RunMode.NPU (0) and SIM (1)",
    ),
    "schedule mode": (
        {"runtime_options": {"device_sched_mode": 4}},
        "pypto.frontend.jit: device_sched_mode is 4; allowed are 0..3",
    ),
    "stitching": (
        {"runtime_options": {"stitch_function_max_num": 0}},
        "pypto.frontend.jit: stitch_function_max_num is 0; allowed are 1..1024",
    ),
    "unknown runtime option": (
        {"runtime_options": {"speed": 11}},
        "pypto.frontend.jit: runtime_options has no 'speed'; there are device_sched_mode, device_sched_parallelism, "
        "launch_early_mode, launch_sched_aicpu_num, max_workspace_kb, ready_on_host_tensors, run_mode, "
        "stitch_function_inner_memory, stitch_function_max_num, stitch_function_outcast_memory, valid_shape_optimize",
    ),
    "names": (
        {"runtime_options": {"ready_on_host_tensors": "x"}},
        "pypto.frontend.jit: ready_on_host_tensors is 'x'; it must be a list of names",
    ),
    "merge counts": (
        {"pass_options": {"vec_nbuffer_setting": {-1: 0}}},
        "pypto.frontend.jit: vec_nbuffer_setting is {-1: 0}; it must be a dict from sub-graph (-1 or a name) to a "
        "count of at least 1",
    ),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_that_are_refused(name: str) -> None:
    groups, text = OPTIONS[name]
    with pytest.raises(FeError, match=f"^{re.escape(text)}$"):
        pypto.frontend.jit(**groups)


def test_schedulers_of_a2_and_a3() -> None:
    x = rows(8)
    kernel = pypto.frontend.jit(runtime_options={"launch_sched_aicpu_num": 7})(doubled.function)
    text = "kernel 'doubled': launch_sched_aicpu_num is 7; Ascend910B3 takes 1..5"
    with Device(), pytest.raises(FeError, match=f"^{re.escape(text)}$"):
        kernel(x, x)
    with Device("ascend950", timing=False):
        kernel(x, x)
    assert np.array_equal(x, 2 * rows(8))


def test_options_set_by_calls_are_read_back_and_forgotten() -> None:
    pypto.set_pass_options(sg_set_scope=1, vec_nbuffer_setting={"DEFAULT": 4})
    pypto.set_verify_options(enable_pass_verify=True, pass_verify_error_tol=[0.008, 0.001])
    pypto.set_runtime_options(stitch_function_max_num=128)
    assert pypto.get_pass_options() == {"sg_set_scope": 1, "vec_nbuffer_setting": {"DEFAULT": 4}}
    assert pypto.get_verify_options()["pass_verify_error_tol"] == [0.008, 0.001]
    pypto.reset_options()
    assert pypto.get_pass_options() == pypto.get_runtime_options() == pypto.get_verify_options() == {}
    with pytest.raises(FeError, match=r"^set_runtime_options: stitch_function_max_num is 0; allowed are 1\.\.1024$"):
        pypto.set_runtime_options(stitch_function_max_num=0)


def test_the_platform_is_the_current_devices() -> None:
    with Device():
        assert pypto.platform.npuarch == "DAV_2201"
    with Device("ascend950"):
        assert pypto.platform.npuarch == "DAV_3510"


def no_tensors(n: int) -> None: ...


def after_a_number(n: int, x: pypto.Tensor()) -> None: ...


def many(*x: pypto.Tensor()) -> None: ...


def odd_dim(x: pypto.Tensor(["S", 64], FP32)) -> None: ...


def unreadable(x: pypto.Tensor([UNKNOWN_NAME], FP32)) -> None: ...  # noqa: F821


SIGNATURES = {
    no_tensors: "kernel 'no_tensors' has no tensor parameter: annotate them, as in x: pypto.Tensor([S, 128], "
    "pypto.DT_FP16)",
    after_a_number: "kernel 'after_a_number': tensor 'x' stands after 'n', which is none; tensors come first",
    many: "kernel 'many': *args and **kwargs are not allowed",
    odd_dim: "kernel 'odd_dim': dim 0 of x is 'S'; allowed are positive integers, pypto.DYNAMIC, pypto.STATIC and a "
    "last ...",
    unreadable: "kernel 'unreadable': the annotation 'pypto.Tensor([UNKNOWN_NAME], FP32)' cannot be read: name "
    "'UNKNOWN_NAME' is not defined",
}


@pytest.mark.parametrize("function", SIGNATURES, ids=lambda f: f.__name__)
def test_signatures_that_are_refused(function: Any) -> None:
    with pytest.raises(FeError, match=f"^{re.escape(SIGNATURES[function])}$"):
        pypto.frontend.jit(function)


X = np.zeros((8, 64), np.float32)
CALLS: dict[str, tuple[tuple[Any, ...], dict[str, Any], str]] = {
    "missing": ((X,), {}, "kernel 'doubled': argument 'y' is missing"),
    "too many": ((X, X, X), {}, "kernel 'doubled' takes 2 arguments, 3 were given"),
    "unknown": ((X, X), {"z": X}, "kernel 'doubled' has no parameter 'z'; it has x, y"),
    "twice": ((X, X), {"y": X}, "kernel 'doubled': 'y' is given twice"),
    "no array": (
        (X, [1, 2]),
        {},
        "kernel 'doubled': y is a list; allowed are arrays (numpy, ml_dtypes, CPU torch)",
    ),
    "dtype": ((X, X.astype(np.float16)), {}, "kernel 'doubled': y is DT_FP16, annotated DT_FP32"),
    "rank": (
        (X, X[0]),
        {},
        "kernel 'doubled': y has 1 dim [64], annotated [pypto.DYNAMIC, 64]",
    ),
    "fixed dim": ((X, X[:, :32]), {}, "kernel 'doubled': y: dim 1 is 32, annotated 64"),
    "empty": (
        (X[:0], X),
        {},
        "kernel 'doubled': x has shape [0, 64]; empty tensors and numbers without dims are not allowed",
    ),
    "strange dtype": (
        (X.astype(complex), X),
        {},
        "kernel 'doubled': x has dtype complex128; allowed are int8, int16, int32, int64, float16, float32, bfloat16, "
        "uint8, uint16, uint32, uint64",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_arguments_that_are_refused(name: str) -> None:
    args, kwargs, text = CALLS[name]
    with pytest.raises(FeError, match=f"^{re.escape(text)}$"):
        doubled(*args, **kwargs)


def test_results_are_not_returned_and_kernels_not_nested() -> None:
    @pypto.frontend.jit
    def returning(x: pypto.Tensor(), y: pypto.Tensor()):
        pypto.set_vec_tile_shapes(8, 64)
        y[:] = x
        return 3

    @pypto.frontend.jit
    def nesting(x: pypto.Tensor(), y: pypto.Tensor()):
        doubled(X, X)

    with pytest.raises(FeError, match=r"^kernel 'returning' returns 3; results go to output parameters in place$"):
        returning(X, X.copy())
    text = (
        "kernel 'doubled' is called inside kernel 'nesting': a jitted function cannot call another one; leave "
        "@pypto.frontend.jit away from helpers"
    )
    with pytest.raises(FeError, match=f"^{re.escape(text)}$"):
        nesting(X, X.copy())


def test_operations_work_in_kernels_only() -> None:
    text = "pypto.set_vec_tile_shapes works inside a kernel: in a function with @pypto.frontend.jit"
    with pytest.raises(FeError, match=f"^{re.escape(text)}$"):
        pypto.set_vec_tile_shapes(8, 64)
    annotation = pypto.Tensor([8], FP32)
    with pytest.raises(FeError, match=r"^neg: this pypto.Tensor is an annotation, not a tensor of the running kernel$"):
        pypto.neg(annotation)


def test_errors_are_the_builtin_ones_too() -> None:
    @pypto.frontend.jit
    def kernel(x: pypto.Tensor()):
        pypto.set_vec_tile_shapes(0)

    with pytest.raises(ValueError, match="every dim must be above 0") as refused:
        kernel(X)
    assert isinstance(refused.value, PyptoError)
    assert refused.value.code == 0xF00002
