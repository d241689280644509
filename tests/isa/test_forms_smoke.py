"""The count and mask forms end to end, by values known beforehand."""

from __future__ import annotations

import numpy as np
from isa_bench import Bench, refused

from ascend_sim import asc
from ascend_sim.isa.dtypes import bfloat16, float16, float32


def test_count_forms() -> None:
    with Bench() as bench:
        x = bench.filled(float16, 0, np.arange(1000))
        y = bench.filled(float16, 2048, np.arange(1000) * 3)
        wide = bench.local(float32, 8192, 1000)
        asc.add(y, x, y, 1000)
        assert bench.view(y).tolist() == [float(np.float16(4 * i)) for i in range(1000)]
        asc.cast(wide, x, asc.RoundMode.CAST_NONE, 1000)
        assert bench.view(wide).tolist() == [float(i) for i in range(1000)]


def test_mask_list_flips_even_lanes() -> None:
    with Bench() as bench:
        x = bench.filled(float16, 0, np.ones(128))
        asc.muls(x, x, -1.0, [0x5555555555555555] * 2, 1, asc.UnaryRepeatParams(1, 1, 8, 8))
        assert bench.view(x).tolist() == [-1.0, 1.0] * 64


def test_widening_in_place_from_the_upper_half() -> None:
    with Bench() as bench:
        low = bench.local(float32, 0, 640)
        high = bench.filled(bfloat16, 640 * 2, np.arange(640))
        asc.cast(low, high, asc.RoundMode.CAST_NONE, 640)
        assert bench.view(low).tolist() == [float(bfloat16.numpy.type(i)) for i in range(640)]


def test_equal_calls_are_one_object() -> None:
    with Bench(values=False) as bench:
        x = bench.local(float16, 0, 128)
        for _ in range(3):
            asc.adds(x, x, 1.0, 128)
        assert len(bench.core.instrs) == 3
        assert len(set(map(id, bench.core.instrs))) == 1


def test_bfloat16_arithmetic_is_refused() -> None:
    with Bench() as bench:
        x = bench.local(bfloat16, 0, 128)
        refused(
            lambda: asc.add(x, x, x, 128),
            "Add: dst bfloat16, src0 bfloat16, src1 bfloat16 is not supported on Ascend 910B / 910_93 (arch 2201), "
            "allowed are int16, float16, int32, float32; bfloat16 has no vector arithmetic there: cast it to float32 "
            "first",
        )
