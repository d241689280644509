"""The count and mask forms end to end, by values known beforehand."""

from __future__ import annotations

import numpy as np
import pytest

from ascend_sim import asc
from ascend_sim.errors import KernelError
from ascend_sim.isa.dtypes import bfloat16, float16, float32
from tests.isa.harness import block


def test_count_forms() -> None:
    with block() as b:
        x = b.tensor(float16, 0, 1000, np.arange(1000))
        y = b.tensor(float16, 2048, 1000, np.arange(1000) * 3)
        wide = b.tensor(float32, 8192, 1000)
        asc.add(y, x, y, 1000)
        assert b.read(y).tolist() == [float(np.float16(4 * i)) for i in range(1000)]
        asc.cast(wide, x, asc.RoundMode.CAST_NONE, 1000)
        assert b.read(wide).tolist() == [float(i) for i in range(1000)]


def test_mask_list_flips_even_lanes() -> None:
    with block() as b:
        x = b.tensor(float16, 0, 128, np.ones(128))
        asc.muls(x, x, -1.0, [0x5555555555555555] * 2, 1, asc.UnaryRepeatParams(1, 1, 8, 8))
        assert b.read(x).tolist() == [-1.0, 1.0] * 64


def test_widening_in_place_from_the_upper_half() -> None:
    with block() as b:
        low = b.tensor(float32, 0, 640)
        high = b.tensor(bfloat16, 640 * 2, 640, np.arange(640))
        asc.cast(low, high, asc.RoundMode.CAST_NONE, 640)
        assert b.read(low).tolist() == [float(bfloat16.numpy.type(i)) for i in range(640)]


def test_equal_calls_are_one_object() -> None:
    with block(values=False) as b:
        x = b.tensor(float16, 0, 128)
        for _ in range(3):
            asc.adds(x, x, 1.0, 128)
        assert len(b.core.instrs) == 3
        assert len(set(map(id, b.core.instrs))) == 1


def test_bfloat16_arithmetic_is_refused() -> None:
    with block() as b:
        x = b.tensor(bfloat16, 0, 128)
        with pytest.raises(KernelError) as error:
            asc.add(x, x, x, 128)
    assert str(error.value) == (
        "Add: dst asc.bfloat16, src0 asc.bfloat16, src1 asc.bfloat16 is not supported on arch 2201 (ascend910b, "
        "ascend910_93); allowed are int16, float16, int32, float32; this chip has no bfloat16 arithmetic: cast to "
        "float32 first"
    )
