"""print, printf and dump_tensor, and whose output is kept."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from asc_bench import refused, session_of

from ascend_sim import asc
from ascend_sim.asc.memory import DeviceArray
from ascend_sim.errors import InputError
from ascend_sim.host.device import Device


def output(body: Any, *args: Any, **options: Any) -> str:
    return session_of(body, *args, **{"echo": False, **options})[1].output


@pytest.mark.parametrize(
    ("fmt", "args", "text"),
    [
        ("%d %i %u", (1, -2, 3), "1 -2 3"),
        ("%5d|%-5d|%05d", (42, 42, 42), "   42|42   |00042"),
        ("%ld %lld %hhu", (1 << 40, 2, 3), "1099511627776 2 3"),
        ("%x %X %o", (255, 255, 8), "ff FF 10"),
        ("%x", (-1,), "ffffffff"),
        ("%.2f %e %g", (1.005, 1000.0, 0.5), "1.00 1.000000e+03 0.5"),
        ("%f", (asc.number(0.1, asc.float32),), "0.100000"),
        ("%s=%c 100%%", ("x", 65), "x=A 100%"),
        ("%p", (4096,), "0x1000"),
        (r"line\n\tend", (), "line\n\tend"),
    ],
)
def test_printf(fmt: str, args: tuple[Any, ...], text: str) -> None:
    assert output(lambda: asc.printf(fmt, *args)) == text


def test_printf_refusals() -> None:
    refused(lambda: asc.printf("%d %d", 1), "asc.printf: the format '%d %d' asks for more than the 1 value given")
    refused(lambda: asc.printf("%d", 1, 2), "asc.printf: the format '%d' takes 1 of the 2 values given")
    refused(
        lambda: asc.printf("%q", 1),
        "asc.printf: unknown conversion %q; allowed are d i u x X o f F e E g G s c p",
    )


def test_dump_tensor() -> None:
    def body(x: asc.GlobalAddress) -> None:
        gm, ub = asc.GlobalTensor(), asc.LocalTensor(asc.float32, asc.TPosition.VECIN, 32, 8)
        gm.set_global_buffer(x)
        ub.set_value(0, 0.5)
        asc.dump_tensor(gm[2:], 7, 4, asc.ShapeInfo([2, 2]))
        asc.dump_tensor(ub, desc=8, dump_size=2)

    assert output(body, np.arange(8, dtype=np.int16)) == (
        "dump_tensor desc=7 block=0 GM 'x'+4 int16 x 4 shape=[2, 2]\n"
        "  2 3\n"
        "  4 5\n"
        "dump_tensor desc=8 block=0 UB[32] float32 x 2\n"
        "  0.5 nan\n"
    )
    text = output(body, DeviceArray((8,), "int16"), values=False)
    assert text.splitlines()[1] == "  not computed in this run (values are off)"


def test_a_tensor_prints_itself() -> None:
    def body() -> None:
        tensor = asc.LocalTensor(asc.uint8, asc.TPosition.VECIN, 64, 4)
        tensor.set_value(1, 7)
        tensor.print()
        tensor.print(2)

    assert output(body) == (
        "dump_tensor desc=0 block=0 UB[64] uint8 x 4\n  255 7 255 255\n"
        "dump_tensor desc=0 block=0 UB[64] uint8 x 2\n  255 7\n"
    )


def test_dump_tensor_refusals() -> None:
    refused(lambda: asc.dump_tensor(3, 0, 1), "asc.dump_tensor takes a LocalTensor or a GlobalTensor, not int")
    refused(
        lambda: asc.dump_tensor(asc.LocalTensor(asc.int8, asc.TPosition.VECIN, 0, 8), 0, 9),
        "asc.dump_tensor: dump_size 9, the tensor holds 1..8",
    )


def speak() -> None:
    print("block", asc.get_block_idx())


def test_output_is_kept_and_echoed(capsys: pytest.CaptureFixture[str]) -> None:
    text = output(speak, blocks=3, echo=True)
    assert text == "block 0\nblock 1\nblock 2\n"
    assert capsys.readouterr().out == text
    output(speak, blocks=3)
    assert capsys.readouterr().out == ""


def test_output_of_chosen_cores() -> None:
    assert output(speak, blocks=4, core_filter=2) == "block 2\n"
    assert output(speak, blocks=4, core_filter=[0, 3]) == "block 0\nblock 3\n"


@pytest.mark.parametrize("core", ["x", -1, [0, -1], 1.5, True])
def test_cores_are_numbers_of_blocks(core: Any) -> None:
    wrong = core[1] if isinstance(core, list) else core
    with pytest.raises(InputError) as refused:
        Device(core_filter=core)
    assert str(refused.value) == f"core {wrong!r}: must be the number of a block, 0 or more"


def test_a_core_that_the_launch_does_not_have_is_warned_about() -> None:
    with Device(core_filter=4, timing=False) as device:
        asc.jit(speak)[4]()
        asc.jit(speak)[5]()
    silent, spoken = device.launches
    assert silent.warnings == ["output is shown of block 4 alone, but the launch has blocks 0..3"]
    assert (spoken.warnings, spoken.output) == ([], "block 4\n")


def test_a_reader_that_left_is_no_error_of_the_kernel() -> None:
    def kernel() -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        session_of(kernel)


def test_stdout_is_given_back_after_an_error() -> None:
    before = sys.stdout
    refused(lambda: asc.trap(), "asc.trap() was called")  # noqa: PLW0108 - a kernel must be a plain function
    assert sys.stdout is before
