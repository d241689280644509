"""Reductions against plain loops: per repeat, per block, per pair, and whole tensors."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any

import elementwise_meanings
import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from isa_bench import Bench, refused, region_bytes

from ascend_sim import asc
from ascend_sim.isa.dtypes import DataType
from ascend_sim.isa.enums import ReduceOrder
from ascend_sim.program import Memory

PICK = {"max": elementwise_meanings.larger, "min": elementwise_meanings.smaller}
QUICK = settings(max_examples=40, deadline=None, database=None, derandomize=True)
SOURCE = 8192
FLOATS = [asc.float16, asc.float32]


def adder(dtype: DataType) -> Callable[[float, float], float]:
    return naive.ieee(lambda a, b: a + b, lambda a, b: a + b, dtype)


def tree(values: list[float], add: Callable[[float, float], float]) -> float:
    """Neighbours first, then neighbours of the sums."""
    while len(values) > 1:
        values = [add(values[i], values[i + 1]) for i in range(0, len(values), 2)]
    return values[0]


def best(values: dict[int, float], kind: str) -> tuple[float, int]:
    """(value, lane) of the first maximum or minimum; the first NaN wins over numbers."""
    for lane, value in values.items():
        if math.isnan(value):
            return value, lane
    chosen = (max if kind == "max" else min)(values.values())
    return next((value, lane) for lane, value in values.items() if value == chosen)


class Drawn:
    """Mask, repeats and strides of one call, and the source that it reads."""

    def __init__(self, draw: Any) -> None:
        self.dtype: DataType = draw(st.sampled_from(FLOATS))
        self.lanes = 256 // self.dtype.itemsize
        self.repeats = draw(st.integers(0, 3))
        words = [draw(st.integers(1, (1 << 64) - 1)) for _ in range(2)]
        self.mask = draw(
            st.sampled_from([self.lanes, draw(st.integers(1, self.lanes)), words, [0x5555555555555555] * 2])
        )
        self.block, self.stride = draw(st.integers(0, 3)), draw(st.integers(0, 10))
        self.out = draw(st.integers(0, 3))
        self.seed = draw(st.integers(0, 50))
        self.source = naive.Operand(self.dtype, SOURCE, self.block, self.stride)

    def fill(self, bench: Bench) -> tuple[Any, Any]:
        source = bench.filled(self.dtype, SOURCE, naive.data(self.dtype, 8192 // self.dtype.itemsize, self.seed))
        return bench.local(self.dtype, 0, 8192 // self.dtype.itemsize), source

    def repeats_of(self, ub: naive.Bytes, touched: naive.Touched) -> list[dict[int, float]]:
        """Active lanes and their values, repeat by repeat."""
        found = []
        for repeat, active in naive.normal_lanes(self.lanes, self.repeats, self.mask):
            values = {}
            for lane in active:
                addr = self.source.at(repeat, lane)
                touched.reads |= set(range(addr, addr + self.dtype.itemsize))
                values[lane] = float(naive.load(ub, addr, self.dtype))
            found.append(values)
        return found


def check(bench: Bench, expected: naive.Bytes, touched: naive.Touched, dtype: DataType) -> None:
    assert naive.same(bench.ub[:SOURCE], expected[:SOURCE], dtype)
    assert (bench.ub[SOURCE:] == expected[SOURCE:]).all()
    assert region_bytes(bench.last.reads) == {(Memory.UB, byte) for byte in touched.reads}
    assert region_bytes(bench.last.writes) == {(Memory.UB, byte) for byte in touched.writes}


def put(ub: naive.Bytes, touched: naive.Touched, addr: int, dtype: DataType, value: float | int) -> None:
    touched.writes |= set(range(addr, addr + dtype.itemsize))
    naive.store(ub, addr, dtype, value)


@QUICK
@given(st.data(), st.sampled_from(["whole", "repeat"]))
def test_sums_per_repeat(data: st.DataObject, which: str) -> None:
    case = Drawn(data.draw)
    if which == "repeat" and isinstance(case.mask, list):
        case.mask = case.lanes
    with Bench() as bench:
        dst, src = case.fill(bench)
        expected, touched = bench.ub.copy(), naive.Touched()
        for repeat, values in enumerate(case.repeats_of(expected, touched)):
            total = tree([values.get(lane, 0.0) for lane in range(case.lanes)], adder(case.dtype))
            put(expected, touched, repeat * case.out * case.dtype.itemsize, case.dtype, total)
        if which == "whole":
            asc.whole_reduce_sum(dst, src, case.mask, case.repeats, case.out, case.block, case.stride)
        else:
            asc.repeat_reduce_sum(dst, src, case.repeats, case.mask, 0, case.block, case.out, case.stride)
        check(bench, expected, touched, case.dtype)


@QUICK
@given(st.data(), st.sampled_from(["max", "min"]), st.sampled_from(list(ReduceOrder)))
def test_extremes_per_repeat(data: st.DataObject, kind: str, order: ReduceOrder) -> None:
    case = Drawn(data.draw)
    size = case.dtype.itemsize
    index_type = asc.uint16 if size == 2 else asc.uint32
    with Bench() as bench:
        dst, src = case.fill(bench)
        expected, touched = bench.ub.copy(), naive.Touched()
        for repeat, values in enumerate(case.repeats_of(expected, touched)):
            value, lane = best(values, kind)
            if order is ReduceOrder.ORDER_ONLY_VALUE:
                put(expected, touched, repeat * case.out * size, case.dtype, value)
            elif order is ReduceOrder.ORDER_ONLY_INDEX:
                put(expected, touched, repeat * case.out * 4, asc.uint32, lane)
            else:
                at = repeat * case.out * 2 * size
                first = order is ReduceOrder.ORDER_VALUE_INDEX
                put(expected, touched, at + (0 if first else size), case.dtype, value)
                put(expected, touched, at + (size if first else 0), index_type, lane)
        call = asc.whole_reduce_max if kind == "max" else asc.whole_reduce_min
        call(dst, src, case.mask, case.repeats, case.out, case.block, case.stride, order=order)
        check(bench, expected, touched, case.dtype)


@QUICK
@given(st.data(), st.sampled_from(["sum", "max", "min"]))
def test_blocks(data: st.DataObject, kind: str) -> None:
    case = Drawn(data.draw)
    size, per_block = case.dtype.itemsize, 32 // case.dtype.itemsize
    with Bench() as bench:
        dst, src = case.fill(bench)
        expected, touched = bench.ub.copy(), naive.Touched()
        for repeat, values in enumerate(case.repeats_of(expected, touched)):
            for block in range(8):
                lanes = range(block * per_block, (block + 1) * per_block)
                inside = {lane: values[lane] for lane in lanes if lane in values}
                if not inside:
                    continue
                at = (repeat * case.out * 8 + block) * size
                if kind == "sum":
                    put(expected, touched, at, case.dtype, tree([values.get(i, 0.0) for i in lanes], adder(case.dtype)))
                else:
                    put(expected, touched, at, case.dtype, reduce(PICK[kind], inside.values()))
        call = getattr(asc, f"block_reduce_{kind}")
        call(dst, src, case.repeats, case.mask, case.out, case.block, case.stride)
        check(bench, expected, touched, case.dtype)


@QUICK
@given(st.data())
def test_pairs(data: st.DataObject) -> None:
    case = Drawn(data.draw)
    with Bench() as bench:
        dst, src = case.fill(bench)
        expected, touched = bench.ub.copy(), naive.Touched()
        add = adder(case.dtype)
        for repeat, values in enumerate(case.repeats_of(expected, touched)):
            for pair in range(case.lanes // 2):
                if 2 * pair in values or 2 * pair + 1 in values:
                    total = add(values.get(2 * pair, 0.0), values.get(2 * pair + 1, 0.0))
                    put(expected, touched, repeat * case.out * 128 + pair * case.dtype.itemsize, case.dtype, total)
        asc.pair_reduce_sum(dst, src, case.repeats, case.mask, case.out, case.block, case.stride)
        check(bench, expected, touched, case.dtype)


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 128, 200, 1000, 4099])
def test_reduce_sum_adds_repeats_in_order(dtype: DataType, count: int) -> None:
    values = np.random.default_rng(count).standard_normal(count).astype(dtype.numpy)
    lanes = 256 // dtype.itemsize
    add = adder(dtype)
    with Bench() as bench:
        src, dst = bench.filled(dtype, 1024, values), bench.filled(dtype, 64, [7.0] * 16)
        asc.reduce_sum(dst, src, bench.local(dtype, 512, 16), count)
        total = None
        for first in range(0, count, lanes):
            part = [float(v) for v in values[first : first + lanes]]
            each = tree(part + [0.0] * (lanes - len(part)), add)
            total = each if total is None else add(total, each)
        assert bench.view(dst)[0] == (7.0 if total is None else total)
        names = [instr.name for instr in bench.core.instrs]
        flags = ["SetFlag", "WaitFlag"]
        assert names == (["ReduceSum", *flags, "SetValue", *flags, *flags] if count else [])


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize(("repeats", "stride"), [(1, 8), (2, 8), (65, 8), (130, 1), (258, 1)])
def test_reduce_sum_of_repeats_is_a_tree(dtype: DataType, repeats: int, stride: int) -> None:
    lanes = 256 // dtype.itemsize
    mask = lanes // 2 + 3
    elements = (repeats - 1) * stride * 32 // dtype.itemsize + lanes
    values = np.random.default_rng(repeats).standard_normal(elements).astype(dtype.numpy)
    add = adder(dtype)
    with Bench() as bench:
        src, dst = bench.filled(dtype, 4096, values), bench.local(dtype, 64, 16)
        asc.reduce_sum(dst, src, bench.local(dtype, 512, 512), mask, repeats, stride)
        level = []
        for repeat in range(repeats):
            first = repeat * stride * 32 // dtype.itemsize
            level.append(tree([float(v) for v in values[first : first + mask]] + [0.0] * (lanes - mask), add))
        while len(level) > 1:
            groups = [level[i : i + lanes] for i in range(0, len(level), lanes)]
            level = [tree(group + [0.0] * (lanes - len(group)), add) for group in groups]
        assert bench.view(dst)[0] == level[0]


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("with_index", [False, True])
@pytest.mark.parametrize("count", [0, 1, 2, 63, 64, 65, 128, 129, 200, 1000, 4160, 8320, 12345, 40001])
def test_reduce_extremes_count_form(dtype: DataType, with_index: bool, count: int) -> None:
    rng = np.random.default_rng(count)
    values = rng.integers(-50 - count // 10, 50 + count // 10, count).astype(dtype.numpy)  # equal extremes occur
    for kind in ("max", "min"):
        with Bench() as bench:
            src, dst = bench.filled(dtype, 16_384, values), bench.filled(dtype, 64, [0.25, 0.25])
            call = asc.reduce_max if kind == "max" else asc.reduce_min
            call(dst, src, bench.local(dtype, 512, 4096), count, with_index)
            if not count:
                assert bench.view(dst).tolist() == [0.25, 0.25]
                continue
            value, index = best({i: float(v) for i, v in enumerate(values)}, kind)
            assert bench.view(dst)[0] == value
            if with_index:
                assert int(bench.view(dst).view(np.uint16 if dtype is asc.float16 else np.uint32)[1]) == index
            else:
                assert bench.view(dst)[1] == 0.25


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize(("repeats", "stride"), [(1, 8), (2, 9), (64, 8), (65, 3), (200, 2), (300, 1)])
def test_reduce_extremes_of_repeats(dtype: DataType, repeats: int, stride: int) -> None:
    lanes, per_block = 256 // dtype.itemsize, 32 // dtype.itemsize
    elements = (repeats - 1) * stride * per_block + lanes
    values = np.random.default_rng(repeats).standard_normal(elements).astype(dtype.numpy)
    mask = [0xF0F0F0F0F0F0F0F0, 0x1]
    active = [lane for lane in range(lanes) if mask[lane // 64] >> lane % 64 & 1]
    with Bench() as bench:
        src, dst = bench.filled(dtype, 16_384, values), bench.local(dtype, 64, 2)
        asc.reduce_min(dst, src, bench.local(dtype, 512, 2048), mask, repeats, stride, cal_index=True)
        seen = {r * stride * per_block + lane: None for r in range(repeats) for lane in active}
        value, index = best({i: float(values[i]) for i in seen}, "min")
        assert bench.view(dst)[0] == value
        assert int(bench.view(dst).view(np.uint16 if dtype is asc.float16 else np.uint32)[1]) == index


def test_half_sums_saturate_at_every_step_when_the_flag_is_on() -> None:
    with Bench() as bench:
        src = bench.filled(asc.float16, 256, [60000.0, 60000.0, -30000.0, 100.0])
        dst = bench.local(asc.float16, 0, 16)
        asc.whole_reduce_sum(dst, src, 4, 1, 1, 1, 8)
        assert bench.view(dst)[0] == math.inf
        asc.set_saturation_flag(asc.SaturationFlag.FLOAT, True)
        asc.whole_reduce_sum(dst, src, 4, 1, 1, 1, 8)
        assert bench.view(dst)[0] == np.float16(65504 - 29904)  # 29900 is not a half


def test_refusals() -> None:
    with Bench() as bench:
        src, dst = bench.local(asc.float32, 1024, 4096), bench.local(asc.float32, 36, 16)
        refused(
            lambda: asc.whole_reduce_max(dst, src, 64, 1, 1, 1, 8),
            "WholeReduceMax: dst starts at UB byte 36, which is not a multiple of 8",
        )
        refused(
            lambda: asc.whole_reduce_sum(dst, src, 64, 1, 70000, 1, 8),
            "WholeReduceSum: dst_rep_stride is 70000, allowed are 0..65535 (in results of 4 B)",
        )
        refused(
            lambda: asc.reduce_max(dst, src, bench.local(asc.float32, 512, 8), 1024),
            "ReduceMax: shared_tmp_buffer has 8 elements of float32, but 16 repeats need 32",
        )
        refused(
            lambda: asc.whole_reduce_max(dst[1], src, 64, 1, 1, 1, 8, order=9),
            "WholeReduceMax: order must be a ReduceOrder, not 9",
        )
        refused(
            lambda: asc.block_reduce_sum(bench.local(asc.int32, 0, 8), src, 1, 64, 1, 1, 8),
            "BlockReduceSum: dst int32, src float32 is not supported on Ascend 910B / 910_93 (arch 2201), allowed are "
            "float16, float32",
        )
        half, tmp = bench.local(asc.float16, 1024, 80_000), bench.local(asc.float16, 161_024, 8192)
        refused(
            lambda: asc.reduce_max(bench.local(asc.float16, 64, 2), half, tmp, 80_000, True),
            "ReduceMax: the index may reach 79999, but with float16 it is stored in 16 bits",
        )
        assert bench.core.instrs == []


def test_lanes_outside_the_mask_never_win() -> None:
    """Extremes of values that all lie on one side of 0."""
    for kind, values in (("min", np.arange(1, 65)), ("max", -np.arange(1, 65))):
        with Bench() as bench:
            src = bench.filled(asc.float32, 0, values.astype(np.float32))
            dst = bench.local(asc.float32, 1024, 8)
            call = getattr(asc, f"whole_reduce_{kind}")
            call(dst, src[8], 16, 1, 1, 1, 8, ReduceOrder.ORDER_ONLY_VALUE)
            assert bench.view(dst)[0] == values[8]
