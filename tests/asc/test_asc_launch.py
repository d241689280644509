"""Launching: arguments, blocks, options, SyncAll, errors."""

from __future__ import annotations

import numpy as np
import pytest

from ascend_sim import asc
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.errors import ArgumentError, InputError, KernelError, OptionError
from ascend_sim.host.device import Device


@asc.jit
def double_all(x: asc.GlobalAddress, n: asc.ConstExpr[int]) -> None:
    tensor = asc.GlobalTensor()
    tensor.set_global_buffer(x + asc.get_block_idx() * n, n)
    for i in asc.range(n):
        tensor.set_value(i, tensor.get_value(i) * 2)


def test_works_on_the_arrays_memory() -> None:
    x = np.arange(12, dtype=np.int32)
    with Device() as device:
        double_all[3](x, 4)
    assert x.tolist() == [2 * i for i in range(12)]
    (launch,) = device.launches
    assert launch.program.block_dim == 3
    assert launch.program.instructions == 24


@pytest.mark.parametrize("blocks", [0, -1, 65536])
def test_a_launch_has_1_to_65535_blocks(blocks: int) -> None:
    with pytest.raises(InputError) as caught:
        double_all[blocks]
    assert str(caught.value) == f"kernel 'double_all': core_num is {blocks}, allowed are 1..65535 blocks"


def test_other_arguments_are_refused() -> None:
    with Device(), pytest.raises(ArgumentError) as caught:
        double_all[1]("text", 4)
    assert str(caught.value) == (
        "kernel 'double_all': argument 'x' is a str; allowed are arrays (numpy, ml_dtypes, CPU torch), int, float, "
        "bool, numpy scalars, asc.Struct and (for parameters annotated asc.ConstExpr) any Python value"
    )


def test_constexpr_is_type_checked() -> None:
    with Device(), pytest.raises(ArgumentError) as caught:
        double_all[1](np.zeros(4, np.int32), 4.0)
    assert str(caught.value) == "kernel 'double_all': ConstExpr parameter 'n' takes int, not float (4.0)"


def test_unknown_option() -> None:
    with pytest.raises(OptionError, match=r"^asc\.jit has no option 'speed'; allowed are always_compile, auto_sync, "):
        asc.jit(speed=3)


def test_an_error_in_a_kernel_names_block_and_line_and_leaves_the_recorder_clean() -> None:
    with Device() as device, pytest.raises(KernelError) as caught:
        double_all[3](np.zeros(9, np.int32), 4)
    line = double_all.function.__code__.co_firstlineno + 5
    assert str(caught.value) == (
        f"kernel 'double_all', block 2, {__file__}:{line} in double_all: get_value: element 1 of the GlobalTensor is "
        "outside its array 'x' (bytes 36..39 of 36)"
    )
    assert isinstance(caught.value.__cause__, KernelError)
    assert RECORDER.launch is None
    assert not device.launches
    with pytest.raises(KernelError, match="can only be called inside a kernel"):
        asc.set_flag(asc.HardEvent.MTE2_V, 0)
