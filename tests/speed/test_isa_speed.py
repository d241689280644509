"""Recording one vector instruction without values: the hot path is one look-up."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import numpy as np
import pytest

from ascend_sim import asc
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.tensors import LocalTensor, TPosition
from ascend_sim.program import CoreProgram
from tests.speed.yardstick import reference_seconds

CALLS = 20_000


def local(dtype: asc.DataType, addr: int) -> LocalTensor:
    return LocalTensor(dtype, TPosition.VECCALC, addr, 1024)


def seconds(record: Callable[[], None]) -> float:
    begin = process_time()  # other processes do not count
    record()
    return process_time() - begin


def count_form(x: LocalTensor, y: LocalTensor) -> None:
    for _ in range(CALLS):
        asc.add(y, x, y, 1000)


def mask_form(x: LocalTensor, y: LocalTensor) -> None:
    params, mask = asc.UnaryRepeatParams(), [0x5555_5555_5555_5555] * 2
    for _ in range(CALLS):
        asc.muls(y, x, -1.0, mask, 7, params)


def cast_form(x: LocalTensor, y: LocalTensor) -> None:
    narrow = y.reinterpret_cast(asc.int16)
    for _ in range(CALLS):
        asc.cast(narrow, x, asc.RoundMode.CAST_RINT, 1000)


@pytest.mark.parametrize(("form", "least"), [(count_form, 600_000), (mask_form, 450_000), (cast_form, 450_000)])
def test_recording_speed(form: Callable[[LocalTensor, LocalTensor], None], least: int) -> None:
    core = CoreProgram(0)
    RECORDER.clear()
    RECORDER.arch, RECORDER.ub_bytes = "2201", 196_608
    RECORDER.enter(core)
    try:
        x, y = local(asc.float16, 0), local(asc.float16, 2048)
        best = CALLS / reference_seconds(lambda: seconds(lambda: form(x, y)), tries=8)
    finally:
        RECORDER.clear()
    assert len(set(map(id, core.instrs))) == 1
    assert best > least


def test_values_of_a_tile_cost_microseconds() -> None:
    """A warm Add of 8192 float32: the look-up, one ufunc and the guard against numpy's warnings."""
    RECORDER.clear()
    RECORDER.arch, RECORDER.ub_bytes, RECORDER.values = "2201", 196_608, True
    RECORDER.ub = np.zeros(196_608, np.uint8)
    RECORDER.enter(CoreProgram(0))
    try:
        x, y = (
            LocalTensor(asc.float32, TPosition.VECCALC, 0, 8192),
            LocalTensor(asc.float32, TPosition.VECCALC, 65536, 8192),
        )

        def once() -> float:
            begin = process_time()
            for _ in range(100):
                asc.add(y, x, y, 8192)
            return (process_time() - begin) / 100

        assert reference_seconds(once, tries=8) < 60e-6
    finally:
        RECORDER.clear()
