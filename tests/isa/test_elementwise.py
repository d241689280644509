"""Every element-wise instruction against the naive reference, over forms, masks, repeats, strides and dtypes."""

from __future__ import annotations

from typing import Any

import elementwise_meanings
import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from isa_bench import Bench, region_bytes

from ascend_sim import asc
from ascend_sim.isa.dtypes import DataType
from ascend_sim.isa.row import TABLE, Row
from ascend_sim.program import Memory, PipeID

FORMS = ("binary", "binary_dst", "scalar", "scalar_dst", "unary")
ROWS = [row for row in TABLE.values() if row.form in FORMS and row.pipe is PipeID.PIPE_V]
# one zone of UB per operand: 3 repeats of stride 12 with blocks of stride 4 stay inside
ZONE_BYTES = 4096
ROLES = ("dst", "src0", "src1")


def test_the_table_has_every_instruction_of_the_language() -> None:
    assert {row.call for row in ROWS} == {
        *("add", "sub", "mul", "div", "max", "min", "add_relu", "sub_relu", "bitwise_and", "bitwise_or", "bitwise_not"),
        *("mul_add_dst", "fused_mul_add", "fused_mul_add_relu", "axpy", "leaky_relu", "shift_left", "shift_right"),
        *("adds", "muls", "maxs", "mins", "abs", "exp", "ln", "sqrt", "rsqrt", "reciprocal", "relu"),
    }


class Case:
    """One call drawn by hypothesis: operands in zones of their own, filled with every kind of value."""

    def __init__(self, draw: Any, row: Row) -> None:
        self.row = row
        self.dtypes: tuple[DataType, ...] = draw(st.sampled_from(row.dtypes["2201"]))
        self.lanes = 256 // max(*(dtype.itemsize for dtype in self.dtypes), 2)
        self.seed = draw(st.integers(0, 1000))
        source = self.dtypes[1]
        self.scalar = elementwise_meanings.scalar_for(row.call, source, self.seed) if "scalar" in row.form else None
        self.form = draw(st.sampled_from(["count", "mask", "bits", "counter", "registers"]))
        self.count = draw(st.integers(0, 3 * self.lanes))
        self.repeats = draw(st.integers(0, 3))
        self.mask = draw(st.integers(1, self.lanes))
        words = st.integers(1, (1 << 64) - 1)
        regular = st.sampled_from([[0x5555555555555555] * 2, [0xAAAAAAAAAAAAAAAA] * 2, [0x1111111111111110] * 2])
        self.bits = draw(st.one_of(st.tuples(words, words).map(list), regular))
        blocks = [draw(st.integers(1, 4))] + [draw(st.integers(0, 4)) for _ in self.dtypes[1:]]
        strides = [draw(st.integers(0, 12)) for _ in self.dtypes]
        if row.form.endswith("_dst") and strides[0] < 32:
            strides[0] = max(strides[0], 8 * blocks[0])  # reading dst again in a later repeat is not defined
        if self.form == "count":
            width = max(dtype.itemsize for dtype in self.dtypes)
            blocks = [1] * len(self.dtypes)
            strides = [8 * dtype.itemsize // max(width, 2) for dtype in self.dtypes]
        self.operands = [
            naive.Operand(dtype, ZONE_BYTES * i, block, stride)
            for i, (dtype, block, stride) in enumerate(zip(self.dtypes, blocks, strides, strict=True))
        ]

    def params(self) -> Any:
        kind = asc.BinaryRepeatParams if "binary" in self.row.form else asc.UnaryRepeatParams
        return kind(*(o.block for o in self.operands), *(o.repeat for o in self.operands))

    def active(self) -> Any:
        if self.form in ("count", "counter"):
            return naive.counted_lanes(self.lanes, self.count)
        mask = self.mask if self.form == "mask" else self.bits
        return naive.normal_lanes(self.lanes, self.repeats, mask)

    def call(self, tensors: list[Any]) -> None:
        function = getattr(asc, self.row.call)
        first = (*tensors, *(() if self.scalar is None else (self.scalar,)))
        if self.form == "count":
            function(*first, self.count)
        elif self.form == "counter":
            asc.set_mask_count()
            function(*first, self.count, self.repeats, self.params())
            asc.set_mask_norm()
        elif self.form == "registers":
            asc.set_vector_mask(self.bits[1], self.bits[0], dtype=self.dtypes[0], mode=asc.MaskMode.NORMAL)
            function(*first, 1, self.repeats, self.params(), is_set_mask=False)
        else:
            mask = self.mask if self.form == "mask" else self.bits
            function(*first, mask=mask, repeat_times=self.repeats, repeat_params=self.params())


def run(case: Case) -> None:
    """The simulator and the naive reference agree on every byte and on the bytes touched."""
    row = case.row
    with Bench() as bench:
        tensors = []
        for i, dtype in enumerate(case.dtypes):
            values = naive.data(dtype, ZONE_BYTES // dtype.itemsize, case.seed + i)
            tensors.append(bench.filled(dtype, ZONE_BYTES * i, values))
        expected = bench.ub.copy()
        meaning = elementwise_meanings.meaning(row.call, case.dtypes[0], case.dtypes[1], case.scalar)
        sources = case.operands[1:] + ([case.operands[0]] if row.form.endswith("_dst") else [])
        touched = naive.elementwise(expected, case.active(), case.operands[0], sources, meaning)
        case.call(tensors)
        assert naive.same(bench.ub[:ZONE_BYTES], expected[:ZONE_BYTES], case.dtypes[0])
        assert (bench.ub[ZONE_BYTES:] == expected[ZONE_BYTES:]).all()
        instr = bench.last
    assert region_bytes(instr.reads) == {(Memory.UB, byte) for byte in touched.reads}
    assert region_bytes(instr.writes) == {(Memory.UB, byte) for byte in touched.writes}
    assert (instr.name, instr.row.cost, instr.pipe) == (row.name, row.cost, asc.PipeID.PIPE_V)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.call)
def test_against_the_naive_reference(row: Row) -> None:
    @settings(max_examples=40, deadline=None, database=None, derandomize=True)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        run(Case(data.draw, row))

    check()


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.call)
def test_against_the_naive_reference_at_length(row: Row) -> None:
    @settings(max_examples=40, deadline=None, database=None)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        run(Case(data.draw, row))

    check()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.call)
def test_the_dtypes_that_only_the_950_has(row: Row) -> None:
    """In the count form; no value is 0, subnormal or the inverse of a subnormal."""
    draw = np.random.default_rng(7)
    for dtypes in set(row.dtypes.get("3510", ())) - set(row.dtypes["2201"]):
        values = [(draw.integers(1, 100, 32) * draw.choice([1, -1] if t.name[0] != "u" else [1], 32)) for t in dtypes]
        scalar = (3,) if "scalar" in row.form else ()
        meaning = elementwise_meanings.meaning(row.call, dtypes[0], dtypes[1], *scalar)
        with Bench("3510") as bench:
            tensors = [bench.filled(t, 1024 * i, v) for i, (t, v) in enumerate(zip(dtypes, values, strict=True))]
            sources = [*values[1:], *(values[:1] if row.form.endswith("_dst") else [])]
            kind = float if dtypes[0].is_float else int
            expected = np.zeros(32 * dtypes[0].itemsize, np.uint8)
            for i, operands in enumerate(zip(*sources, strict=True)):
                naive.store(expected, i * dtypes[0].itemsize, dtypes[0], meaning(*map(kind, operands)))
            getattr(asc, row.call)(*tensors, *scalar, 32)
            assert naive.same(bench.ub[: len(expected)], expected, dtypes[0]), dtypes


@pytest.mark.parametrize("call", ["add", "sub", "mul", "max", "min"])
@pytest.mark.parametrize("dtype", [asc.float16, asc.int32, asc.float32], ids=lambda dtype: dtype.name)
def test_dst_as_src1_with_repeat_stride_0_accumulates(call: str, dtype: DataType) -> None:
    lanes = 256 // dtype.itemsize
    with Bench() as bench:
        total = bench.filled(dtype, 0, naive.data(dtype, lanes, 1))
        source = bench.filled(dtype, 256, naive.data(dtype, 3 * lanes, 2))
        expected = bench.ub.copy()
        naive.elementwise(
            expected,
            naive.normal_lanes(lanes, 3, lanes),
            naive.Operand(dtype, 0, 1, 0),
            [naive.Operand(dtype, 256), naive.Operand(dtype, 0, 1, 0)],
            elementwise_meanings.meaning(call, dtype, dtype),
        )
        getattr(asc, call)(total, source, total, lanes, 3, asc.BinaryRepeatParams(1, 1, 1, 0, 8, 0))
        assert naive.same(bench.ub[:256], expected[:256], dtype)


def test_in_place_and_a_scalar_of_the_kernel() -> None:
    with Bench() as bench:
        x = bench.filled(asc.float16, 0, np.arange(200))
        for factor in (2.0, 0.5, 3.0):
            asc.muls(x, x, asc.number(factor, asc.float16), 200)
        assert bench.view(x).tolist() == [3.0 * i for i in range(200)]
        assert len(set(map(id, bench.core.instrs))) == 1
    with Bench(values=False) as bench:
        x = bench.local(asc.float16, 0, 200)
        for i in range(3):
            asc.adds(x, x, asc.number(i, asc.float16), 200)
        assert len(set(map(id, bench.core.instrs))) == 1


def test_half_saturation_flag() -> None:
    with Bench() as bench:
        x = bench.filled(asc.float16, 0, [60000.0, -60000.0, np.inf, np.nan])
        y = bench.local(asc.float16, 256, 4)
        asc.add(y, x, x, 4)
        assert bench.view(y)[:3].tolist() == [np.inf, -np.inf, np.inf]
        assert np.isnan(bench.view(y)[3])
        asc.set_saturation_flag(asc.SaturationFlag.FLOAT, True)
        asc.add(y, x, x, 4)
        assert bench.view(y).tolist() == [65504.0, -65504.0, 65504.0, 0.0]


def test_negative_zero_is_not_zero() -> None:
    with Bench() as bench:
        x = bench.filled(asc.float32, 0, [1.0] * 8)
        signs = []
        for scalar in (0.0, -0.0):
            asc.muls(x, bench.filled(asc.float32, 256, [1.0] * 8), scalar, 8)
            signs.append(bool(np.signbit(bench.view(x)[0])))
        assert signs == [False, True]
