"""Cast: every pair and round mode of 2201 against exact fractions; saturation, ODD, the dequantisation scale, forms."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from isa_bench import Bench, refused, region_bytes

from ascend_sim import asc
from ascend_sim.isa.cast import MODES
from ascend_sim.isa.dtypes import DataType
from ascend_sim.isa.enums import RoundMode
from ascend_sim.program import Memory

PAIRS = [(dst, src, mode) for (dst, src), modes in MODES["2201"].items() for mode in modes]


def limits(dtype: DataType) -> tuple[int, int]:
    info = np.iinfo(dtype.numpy)
    return int(info.min), int(info.max)


def meaning(dst: DataType, src: DataType, mode: RoundMode, scale: float = 1.0, saturate: bool = True) -> Any:
    """One element's cast, on exact fractions."""

    def to_integer(x: float) -> int:
        low, high = limits(dst)
        if math.isnan(x):
            return 0
        if math.isinf(x):
            return (high if x > 0 else low) if saturate else 0
        whole = naive.round_whole(Fraction(x), mode)
        return min(max(whole, low), high) if saturate else whole

    def to_float(x: float) -> float:
        if isinstance(x, float) and not math.isfinite(x):
            return x
        value = Fraction(x)
        zero = float(x) if x == 0 else 0.0
        if dst is src:  # to a whole number
            return math.copysign(float(naive.round_whole(value, mode)), x)
        if src is asc.int32 and dst is asc.float16:
            return naive.round_float(value * Fraction(float(np.float16(scale))), dst)
        return naive.round_float(value, dst, RoundMode.CAST_RINT if mode is RoundMode.CAST_NONE else mode, zero)

    return to_float if dst.is_float else to_integer


def edges(dst: DataType, src: DataType) -> list[float]:
    """Values at which roundings part: halves, neighbours of representable values, the ends of the range."""
    if not src.is_float:
        low, high = limits(src)
        found = [
            0,
            1,
            -1,
            127,
            128,
            -128,
            -129,
            255,
            256,
            32767,
            32768,
            2049,
            2**24 + 1,
            2**31,
            -(2**31) - 1,
            2**53 + 1,
        ]
        return [value for value in (*found, low, high, high - 1) if low <= value <= high]
    halves = [k + 0.5 for k in range(-5, 5)]
    ends = [
        127.5,
        128.0,
        -128.5,
        255.5,
        256.0,
        32767.4,
        32768.0,
        -32769.0,
        65504.0,
        65519.0,
        65520.0,
        65536.0,
        1e9,
        4e9,
    ]
    close = [
        1 + 2.0**-11,
        1 + 3 * 2.0**-11,
        1 + 2.0**-8,
        2.0**-24,
        2.0**-25,
        3 * 2.0**-26,
        1e-30,
        1e30,
        2.0**31,
        -(2.0**63),
    ]
    return [0.0, -0.0, *halves, *ends, *(-x for x in ends), *close, *(-x for x in close), math.inf, -math.inf, math.nan]


@pytest.mark.parametrize(("dst", "src", "mode"), PAIRS, ids=lambda value: getattr(value, "name", None))
def test_every_pair_and_mode(dst: DataType, src: DataType, mode: RoundMode) -> None:
    with np.errstate(all="ignore"):
        special = np.array(edges(dst, src), dtype=object).astype(src.numpy)
    values = np.concatenate([special, naive.data(src, 300, 7)])
    with Bench() as bench:
        source = bench.filled(src, 0, values)
        target = bench.local(dst, 8192, len(values))
        expected = bench.ub.copy()
        lanes = 256 // max(dst.itemsize, src.itemsize, 2)
        steps = [
            naive.Operand(dtype, addr, 1, 8 * dtype.itemsize // max(dst.itemsize, src.itemsize))
            for dtype, addr in ((dst, 8192), (src, 0))
        ]
        naive.elementwise(
            expected, naive.counted_lanes(lanes, len(values)), steps[0], steps[1:], meaning(dst, src, mode)
        )
        asc.cast(target, source, mode, len(values))
        assert naive.same(bench.ub[8192:16384], expected[8192:16384], dst)


@pytest.mark.parametrize("dst", [asc.int8, asc.uint8, asc.int16, asc.int32], ids=lambda dtype: dtype.name)
def test_without_saturation_casts_keep_the_low_bits(dst: DataType) -> None:
    values = [v for v in edges(dst, asc.float16) if math.isfinite(v) and abs(v) <= 65504]
    with Bench() as bench:
        source = bench.filled(asc.float16, 0, values)
        target = bench.local(dst, 8192, len(values))
        asc.set_saturation_flag(asc.SaturationFlag.CAST, False)
        asc.cast(target, source, RoundMode.CAST_RINT, len(values))
        compute = meaning(dst, asc.float16, RoundMode.CAST_RINT, saturate=False)
        expected = bench.ub[8192:16384].copy()
        for i, value in enumerate(bench.view(source)):
            naive.store(expected, i * dst.itemsize, dst, compute(float(value)))
        assert (bench.ub[8192:16384] == expected).all()


def test_int64_to_int32_without_saturation() -> None:
    with Bench() as bench:
        source = bench.filled(asc.int64, 0, [2**31, -(2**31) - 1, 2**40 + 5, -1])
        target = bench.local(asc.int32, 8192, 4)
        asc.cast(target, source, RoundMode.CAST_NONE, 4)
        assert bench.view(target).tolist() == [2**31 - 1, -(2**31), 2**31 - 1, -1]
        asc.set_saturation_flag(asc.SaturationFlag.CAST, False)
        asc.cast(target, source, RoundMode.CAST_NONE, 4)
        assert bench.view(target).tolist() == [-(2**31), 2**31 - 1, 5, -1]


def test_dequantisation_scale_is_a_half() -> None:
    with Bench() as bench:
        source = bench.filled(asc.int32, 0, [1, 3, -1000, 2**30])
        target = bench.local(asc.float16, 8192, 4)
        asc.set_deq_scale(0.1)
        for mode in (RoundMode.CAST_NONE, RoundMode.CAST_FLOOR):  # the mode has no effect
            asc.cast(target, source, mode, 4)
            compute = meaning(asc.float16, asc.int32, mode, 0.1)
            assert bench.view(target).tolist() == [compute(x) for x in (1, 3, -1000, 2**30)]


@settings(max_examples=60, deadline=None, database=None, derandomize=True)
@given(st.data())
def test_mask_forms_follow_the_wider_type(data: st.DataObject) -> None:
    draw = data.draw
    dst, src, mode = draw(st.sampled_from(PAIRS))
    width = max(dst.itemsize, src.itemsize)
    lanes = 256 // width
    repeats, mask = draw(st.integers(0, 3)), draw(st.integers(1, lanes))
    bits = [draw(st.integers(1, (1 << 64) - 1)) for _ in range(2)]
    if lanes < 64:
        bits[0] |= 1
    by_bits = draw(st.booleans())
    strides = [draw(st.integers(1, 3)), draw(st.integers(0, 3)), draw(st.integers(0, 10)), draw(st.integers(0, 10))]
    steps = [naive.Operand(dst, 8192, strides[0], strides[2]), naive.Operand(src, 0, strides[1], strides[3])]
    with Bench() as bench:
        source = bench.filled(src, 0, naive.data(src, 8192 // src.itemsize, 3))
        target = bench.local(dst, 8192, 8192 // dst.itemsize)
        expected = bench.ub.copy()
        active = naive.normal_lanes(lanes, repeats, bits if by_bits else mask)
        touched = naive.elementwise(expected, active, steps[0], steps[1:], meaning(dst, src, mode))
        asc.cast(target, source, mode, bits if by_bits else mask, repeats, asc.UnaryRepeatParams(*strides))
        assert naive.same(bench.ub[8192:16384], expected[8192:16384], dst)
        assert region_bytes(bench.last.reads) == {(Memory.UB, byte) for byte in touched.reads}
        assert region_bytes(bench.last.writes) == {(Memory.UB, byte) for byte in touched.writes}


def test_refusals() -> None:
    with Bench() as bench:
        x, y = bench.local(asc.float32, 0, 64), bench.local(asc.int32, 256, 64)
        refused(
            lambda: asc.cast(y, x, RoundMode.CAST_NONE, 64),
            "Cast: float32 to int32 with CAST_NONE is not supported on Ascend 910B / 910_93 (arch 2201), allowed round "
            "modes are CAST_RINT, CAST_FLOOR, CAST_CEIL, CAST_ROUND, CAST_TRUNC",
        )
        refused(lambda: asc.cast(y, x, 9, 64), "Cast: round_mode must be a RoundMode, not 9")
        refused(
            lambda: asc.cast(bench.local(asc.uint32, 256, 64), x, RoundMode.CAST_RINT, 64),
            "Cast: dst uint32, src float32 is not supported on Ascend 910B / 910_93 (arch 2201), float32 can become "
            "int16, float16, bfloat16, int32, float32, int64; uint32 can be made from nothing",
        )
        refused(
            lambda: asc.cast(bench.local(asc.int8, 256, 64), x, RoundMode.CAST_RINT, 64),
            "Cast: dst int8, src float32 is not supported on Ascend 910B / 910_93 (arch 2201), float32 can become "
            "int16, float16, bfloat16, int32, float32, int64; int8 can be made from float16",
        )
        refused(lambda: asc.set_deq_scale("x"), "SetDeqScale: scale must be a number, not str")
