"""Run-time scalars: C's integers, rounded floats, casts, and what they cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from asc_bench import calls, record, refused
from hypothesis import given
from hypothesis import strategies as st

from ascend_sim import asc
from ascend_sim.errors import ArgumentError, KernelError

INT32 = st.integers(-(2**31), 2**31 - 1)


def c_divide(a: int, b: int) -> tuple[int, int]:
    """Quotient towards zero and the remainder that goes with it."""
    quotient = int(abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1)
    return quotient, a - quotient * b


def wrapped(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


@given(INT32, INT32.filter(bool))
def test_int32_arithmetic(a: int, b: int) -> None:
    left = asc.number(a, asc.int32)
    quotient, remainder = c_divide(a, b)
    assert left + b == wrapped(a + b)
    assert left - b == wrapped(a - b)
    assert left * b == wrapped(a * b)
    assert left / b == left // b == wrapped(quotient)
    assert left % b == remainder
    assert a + asc.number(b, asc.int32) == wrapped(a + b)
    assert a - asc.number(b, asc.int32) == wrapped(a - b)
    assert a // asc.number(b, asc.int32) == wrapped(quotient)
    assert a % asc.number(b, asc.int32) == remainder
    assert left & b == a & b
    assert left | b == a | b
    assert left ^ b == a ^ b
    assert -left == wrapped(-a)
    assert left << 3 == wrapped(a << 3)
    assert left >> 2 == a >> 2


def test_the_left_operand_gives_the_type() -> None:
    n = asc.number(7, asc.int32)
    assert (n + np.int64(1)).dtype is asc.int32
    assert (n + asc.number(1, asc.int64)).dtype is asc.int32
    assert (1 + asc.number(1, asc.int64)).dtype is asc.int64
    assert n * 2.5 == 14  # the float is converted first
    assert type(n * 2.5 + 1) is type(n)
    assert asc.number(200, asc.uint8) + 100 == 44
    assert asc.number(5, asc.uint16) - 6 == 65535
    assert asc.number(-7, asc.int32).ceildiv(2) == -3
    assert n.ceildiv(2) == asc.ceildiv(n, 2) == 4
    assert asc.ceildiv(9, 4) == 3
    assert len([0] * n) == 7
    assert isinstance(n, int)


def test_floats_round_after_every_operation() -> None:
    third = asc.number(1.0, asc.float32) / 3
    assert third == float(np.float32(1) / np.float32(3))
    assert third * 3 == float(np.float32(third) * np.float32(3))
    assert asc.number(2049.0, asc.float16) + 1 == 2048  # 2049 is not a half: 2048, then 2049 ties to 2048
    assert asc.number(7.0, asc.float32) // 2 == 3.5
    assert 1 - asc.number(0.5, asc.float32) == 0.5
    assert asc.number(1.0, asc.float32) / 0 == float("inf")
    assert asc.number(-1.0, asc.float32) / 0 == float("-inf")
    assert np.isnan(asc.number(0.0, asc.float32) / 0)
    assert asc.number(1.00390625, asc.bfloat16) == 1.0


def test_casts() -> None:
    assert asc.number(300, asc.int32).cast(asc.int8) == 44
    assert asc.number(3, asc.int32).cast(asc.float32).dtype is asc.float32
    assert asc.number(-2.7, asc.float32).cast(asc.int32) == -2
    assert asc.number(1.1, asc.float32).cast(asc.float16) == float(np.float16(1.1))
    with pytest.raises(KernelError) as caught:
        asc.number(3, asc.int32).cast(asc.float16)
    assert str(caught.value) == (
        "cast of a run-time scalar from asc.int32 to asc.float16: between integers and floats only equal widths can be "
        "cast (pyasc has no other)"
    )


@pytest.mark.parametrize(
    ("use", "text"),
    [
        (lambda n: n // 0, "division of 7 by zero (asc.int32)"),
        (lambda n: 5 % (n - 7), "division of 5 by zero (asc.int32)"),
        (lambda n: n**2, "run-time scalars have no **: multiply instead (pyasc rejects it too)"),
        (lambda n: ~n, "run-time scalars have no ~: write value ^ -1 instead (pyasc rejects it too)"),
        (lambda n: asc.number(1.0, asc.float32) % n, "run-time scalars of asc.float32 have no %"),
        (lambda n: asc.number(n, "int32"), "asc.number takes a numeric data type such as asc.float32, not 'int32'"),
    ],
)
def test_refusals(use: Any, text: str) -> None:
    with pytest.raises(KernelError) as caught:
        use(asc.number(7, asc.int32))
    assert str(caught.value) == text


def test_scalar_work_is_charged() -> None:
    def body(n: int) -> None:
        offset = asc.get_block_idx() * n + 4
        asc.LocalTensor(asc.int32, asc.TPosition.VECCALC, 0, 8).set_value(offset / 4 % 2, 0)

    (instr,) = record(body, 3).blocks[0].instrs
    assert calls(instr) == {"ALU": 2, "DIVISION": 2}


def test_a_long_scalar_loop_does_not_spill_into_other_kinds() -> None:
    def body(n: int) -> None:
        total = n
        for _ in range(70_000):
            total = total + 1
        asc.LocalTensor(asc.int32, asc.TPosition.VECCALC, 0, 8).set_value(0, total)

    (instr,) = record(body, 0).blocks[0].instrs
    assert calls(instr) == {"ALU": 1 << 15}


def test_loops() -> None:
    assert list(asc.range(3)) == [0, 1, 2]
    assert list(asc.range(1, 6, 2)) == [1, 3, 5]
    assert all(i.dtype is asc.int32 for i in asc.range(2, 4))  # type: ignore[attr-defined]
    assert [type(i) for i in asc.static_range(2)] == [int, int]
    assert len(asc.range(asc.number(4, asc.int32))) == 4
    refused(lambda: asc.range(0, 4, 0), "asc.range: step is 0, must be at least 1")
    refused(lambda: asc.range(2.0), "asc.range: a bound must be an integer, not float (write // to divide)")
    refused(lambda: asc.range(*()), "asc.range takes (stop), (start, stop) or (start, stop, step), not 0 values")


def test_arrays() -> None:
    words = asc.array(asc.uint16, 3, 7)
    words[1] += 65535
    assert list(words) == [7, 6, 7]
    assert len(words) == 3
    assert list(asc.array(asc.int8, [1, 200])) == [1, -56]
    assert list(asc.array(asc.float32, 2)) == [0, 0]
    refused(lambda: words[3], "asc.array: index 3 is outside the array, allowed are 0..2")
    refused(lambda: asc.array(asc.int8, 0), "asc.array: length is 0, must be at least 1")
    refused(lambda: asc.array("int8", 3), "asc.array takes a numeric data type such as asc.float32, not 'int8'")


def test_compile_time_checks_and_constants() -> None:
    asc.static_assert(True, "never seen")
    refused(lambda: asc.static_assert(False, "too big"), "static_assert failed: too big")
    refused(lambda: asc.static_assert(False), "static_assert failed")
    assert asc.property(asc.ONE_BLK_SIZE) == 32
    refused(
        lambda: asc.property(3),
        "asc.property takes one of asc.DEFAULT_C0_SIZE, asc.ONE_BLK_SIZE, asc.TOTAL_L0C_SIZE, asc.TOTAL_L1_SIZE, not 3",
    )


@pytest.mark.parametrize(
    ("value", "one", "zero", "ones", "leading", "same"),
    [
        (0, -1, 0, 0, 64, -1),
        (-1, 0, -1, 64, 0, -1),
        (8, 3, 0, 1, 60, 59),
        (-8, 3, 0, 61, 0, 60),
        (1 << 63, 63, 0, 1, 0, 0),
    ],
)
def test_bit_counts(value: int, one: int, zero: int, ones: int, leading: int, same: int) -> None:
    assert asc.scalar_get_sff_value(value, 1) == one
    assert asc.scalar_get_sff_value(value, 0) == zero
    assert asc.scalar_get_count_of_value(value, 1) == ones
    assert asc.scalar_get_count_of_value(value, 0) == 64 - ones
    assert asc.scalar_count_leading_zero(value) == leading
    assert asc.count_bits_cnt_same_as_sign_bit(value) == same


@pytest.mark.parametrize(
    ("value", "mode", "expected"),
    [
        (2.5, asc.RoundMode.CAST_RINT, 2),
        (2.5, asc.RoundMode.CAST_ROUND, 3),
        (-2.5, asc.RoundMode.CAST_ROUND, -3),
        (-2.1, asc.RoundMode.CAST_FLOOR, -3),
        (2.1, asc.RoundMode.CAST_CEIL, 3),
        (1e20, asc.RoundMode.CAST_RINT, 2**31 - 1),
    ],
)
def test_scalar_cast_to_int32(value: float, mode: asc.RoundMode, expected: int) -> None:
    assert asc.scalar_cast(value, asc.int32, mode) == expected


@given(st.floats(-65504, 65504, width=32))
def test_scalar_cast_to_half_rounds_to_odd(value: float) -> None:
    result = float(asc.scalar_cast(value, asc.float16, asc.RoundMode.CAST_ODD))
    bits = int(np.float16(result).view(np.uint16))
    if float(np.float16(value)) == value:
        assert result == value
    else:
        assert bits & 1
        assert abs(result - value) <= 2.0 ** max(np.floor(np.log2(abs(value))) - 10, -24)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: asc.number("5", asc.int32), "asc.number: value must be a number, not str"),
        (lambda: asc.get_shape_size((2, 3)), "asc.get_shape_size takes a ShapeInfo, not tuple"),
        (
            lambda: asc.scalar_cast("1", asc.int32, asc.RoundMode.CAST_RINT),
            "scalar_cast: value_in must be a number, not str",
        ),
        (lambda: asc.set_pad_value("1"), "SetPadValue: padding_value must be a number, not str"),
        (lambda: asc.set_saturation_flag(7, True), "SetSaturationFlag: flag must be a SaturationFlag, not 7"),
        (
            lambda: asc.data_cache_preload(asc.GlobalTensor(), 1.5),
            "data_cache_preload: cache_offset must be an integer, not float (write // to divide)",
        ),
    ],
)
def test_arguments_that_make_no_sense(call: Any, text: str) -> None:
    def kernel() -> None:  # a kernel must be a plain function
        call()

    refused(kernel, text)


def test_ceildiv_takes_integers() -> None:
    with pytest.raises(ArgumentError, match=r"asc\.ceildiv takes two integers, not str and int"):
        asc.ceildiv("9", 2)


def test_scalar_cast_refusal() -> None:
    refused(
        lambda: asc.scalar_cast(1.0, asc.float16, asc.RoundMode.CAST_RINT),
        "scalar_cast to asc.float16 with <RoundMode.CAST_RINT: 1>: allowed are asc.int32 with CAST_RINT, CAST_FLOOR, "
        "CAST_CEIL or CAST_ROUND, and asc.float16 with CAST_ODD",
    )
