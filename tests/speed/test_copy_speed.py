"""Copies alone: how many a second are recorded without values, and what their values cost."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import numpy as np

from ascend_sim import asc
from ascend_sim.asc.memory import GlobalMemory
from ascend_sim.asc.params import DataCopyExtParams, DataCopyPadExtParams
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.tensors import GlobalTensor, LocalTensor, TPosition
from ascend_sim.isa.dtypes import float16
from ascend_sim.program import CoreProgram
from tests.speed.yardstick import reference_seconds

COPIES = 20_000
RATE = 500_000  # copies a second, recorded without values
ROWS_US = 10.0  # recording and values of 64 rows of 128 B; 2.6 on an idle machine
UB_BYTES = 196_608

Issue = Callable[[LocalTensor, GlobalTensor], None]


def best_seconds(issue: Issue, values: bool) -> float:
    """Processor time of COPIES copies."""

    def once() -> float:
        RECORDER.clear()
        RECORDER.arch, RECORDER.values, RECORDER.ub_bytes = "2201", values, UB_BYTES
        RECORDER.ub = np.zeros(UB_BYTES, np.uint8) if values else None
        RECORDER.enter(CoreProgram(0))
        source = GlobalTensor()
        data = np.zeros(1 << 16, np.float16)
        source.allocation = GlobalMemory().alloc("x", data.nbytes, data)
        source.dtype, source.offset = float16, 0
        target = LocalTensor(float16, TPosition.VECIN, 0, 8192)
        gc.disable()  # as launches do
        try:
            start = time.process_time()
            issue(target, source)
            return time.process_time() - start
        finally:
            gc.enable()
            RECORDER.clear()

    return reference_seconds(once, tries=8)


def by_count(target: LocalTensor, source: GlobalTensor) -> None:
    for _ in range(COPIES):
        asc.data_copy(target, source, 2048)


def rows(target: LocalTensor, source: GlobalTensor) -> None:
    params, padding = DataCopyExtParams(64, 128, 1024, 0), DataCopyPadExtParams(float16)
    for _ in range(COPIES):
        asc.data_copy_pad(target, source, params, padding)


def test_copies_a_second() -> None:
    rate = COPIES / best_seconds(by_count, values=False)
    assert rate >= RATE, f"{rate:,.0f} copies a second"


def test_values_of_strided_rows() -> None:
    us = best_seconds(rows, values=True) / COPIES * 1e6
    assert us <= ROWS_US, f"{us:.1f} us a copy"
