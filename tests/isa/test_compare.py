"""Compare, CompareScalar, the compare-mask register and Select against plain loops."""

from __future__ import annotations

import operator
from typing import Any

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from isa_bench import Bench, refused, region_bytes

from ascend_sim import asc
from ascend_sim.isa.enums import CMPMODE, SelMode
from ascend_sim.program import Memory

FUNCTIONS = {
    CMPMODE.LT: operator.lt,
    CMPMODE.GT: operator.gt,
    CMPMODE.EQ: operator.eq,
    CMPMODE.LE: operator.le,
    CMPMODE.GE: operator.ge,
    CMPMODE.NE: operator.ne,
}
QUICK = settings(max_examples=40, deadline=None, database=None, derandomize=True)
ZONE = 4096


def bit(ub: naive.Bytes, addr: int, index: int) -> int:
    return int(ub[addr + index // 8]) >> index % 8 & 1


def set_bit(ub: naive.Bytes, addr: int, index: int, value: bool) -> None:
    ub[addr + index // 8] = int(ub[addr + index // 8]) & ~(1 << index % 8) | value << index % 8


def filled(bench: Bench, dtype: Any, zone: int, seed: int) -> Any:
    values = naive.data(dtype, ZONE // dtype.itemsize, seed)
    values[::3] = 1  # equal elements now and then
    return bench.filled(dtype, zone * ZONE, values)


@QUICK
@given(st.data())
def test_compare_forms(data: st.DataObject) -> None:
    draw = data.draw
    dtype = draw(st.sampled_from([asc.float16, asc.float32, asc.int32]))
    mode = CMPMODE.EQ if dtype is asc.int32 else draw(st.sampled_from(list(CMPMODE)))
    lanes = 256 // dtype.itemsize
    repeats, scalar, by_count = draw(st.integers(0, 3)), draw(st.booleans()), draw(st.booleans())
    blocks = [1, 1] if by_count else [draw(st.integers(0, 3)) for _ in range(2)]
    strides = [8, 8] if by_count else [draw(st.integers(0, 9)) for _ in range(2)]
    value = 1 if dtype is asc.int32 else draw(st.sampled_from([1.0, -0.5, 0.0]))
    with Bench() as bench:
        out = bench.local(asc.uint8, 0, ZONE)
        x, y = filled(bench, dtype, 1, 5), filled(bench, dtype, 2, 6)
        expected, touched = bench.ub.copy(), naive.Touched()
        for repeat in range(repeats):
            for lane in range(lanes):
                at = [naive.Operand(dtype, ZONE * (i + 1), blocks[i], strides[i]).at(repeat, lane) for i in range(2)][
                    : 1 if scalar else 2
                ]
                touched.reads |= {byte for addr in at for byte in range(addr, addr + dtype.itemsize)}
                pair = [naive.load(expected, addr, dtype) for addr in at] + ([value] if scalar else [])
                set_bit(expected, 0, repeat * lanes + lane, FUNCTIONS[mode](*pair))
        first = (out, x, value, mode) if scalar else (out, x, y, mode)
        function = asc.compare_scalar if scalar else asc.compare
        if by_count:
            function(*first, lanes * repeats)
        elif scalar:
            params = asc.UnaryRepeatParams(1, blocks[0], 8, strides[0])
            function(*first, lanes // 2, repeats, params)  # the mask has no effect on this chip
        else:
            function(*first, [1, 0], repeats, asc.BinaryRepeatParams(1, *blocks, 8, *strides))
        assert (bench.ub == expected).all()
        assert region_bytes(bench.last.reads) == {(Memory.UB, byte) for byte in touched.reads}
        assert region_bytes(bench.last.writes) == {(Memory.UB, byte) for byte in range(lanes * repeats // 8)}


def test_compare_to_register_obeys_the_mask() -> None:
    with Bench() as bench:
        x, y = filled(bench, asc.float32, 1, 5), filled(bench, asc.float32, 2, 6)
        out = bench.local(asc.uint8, 0, 128)
        params = asc.BinaryRepeatParams(1, 2, 1, 8, 8, 8)
        asc.compare(x, y, CMPMODE.LE, [0b1011, 0], params)
        asc.compare(src0=x, src1=y, cmp_mode=CMPMODE.GT, mask=[0b0100], repeat_params=params)
        asc.get_cmp_mask(out)
        left, right = bench.view(x), bench.view(y)
        bits = [left[i] > right[i] if i == 2 else left[i] <= right[i] for i in range(4)]
        assert bench.view(out)[:16].tolist() == [sum(bool(b) << i for i, b in enumerate(bits))] + [0] * 15
        asc.set_cmp_mask(bench.filled(asc.uint16, 256, np.arange(8)))
        asc.get_cmp_mask(out)
        assert bench.view(out)[:16].view(np.uint16).tolist() == list(range(8))
        assert [instr.name for instr in bench.core.instrs] == [
            "Compare", "Compare", "GetCmpMask", "SetCmpMask", "GetCmpMask",
        ]  # fmt: skip


@QUICK
@given(st.data())
def test_select_forms(data: st.DataObject) -> None:
    draw = data.draw
    dtype, bits_type = draw(st.sampled_from([asc.float16, asc.float32])), draw(st.sampled_from([asc.uint8, asc.uint64]))
    mode = draw(st.sampled_from(list(SelMode)))
    lanes = 256 // dtype.itemsize
    form = draw(st.sampled_from(["count", "mask", "bits", "registers"]))
    count, repeats, mask = draw(st.integers(0, 3 * lanes)), draw(st.integers(0, 3)), draw(st.integers(1, lanes))
    words = [draw(st.integers(1, (1 << 64) - 1)) for _ in range(2)]
    blocks, strides = [1, 1, 1], [8, 8, 8]
    if form != "count":
        blocks = [draw(st.integers(1, 3)), draw(st.integers(0, 3)), draw(st.integers(0, 3))]
        strides = [draw(st.integers(0, 9)) for _ in range(3)]
    scalar = 2.5
    with Bench() as bench:
        out, x, y = (filled(bench, dtype, zone, zone) for zone in (0, 1, 2))
        chosen = bench.filled(bits_type, 3 * ZONE, naive.data(bits_type, 512 // bits_type.itemsize, 9))
        expected, touched = bench.ub.copy(), naive.Touched()
        places = [naive.Operand(dtype, ZONE * i, blocks[i], strides[i]) for i in range(3)]
        active = naive.counted_lanes(lanes, count) if form == "count" else naive.normal_lanes(
            lanes, repeats, mask if form == "mask" else words
        )  # fmt: skip
        for repeat, each in active:
            for lane in each:
                index = lane if mode is SelMode.VSEL_CMPMASK_SPR else repeat * lanes + lane
                first, other = (naive.load(expected, place.at(repeat, lane), dtype) for place in places[1:])
                if mode is SelMode.VSEL_TENSOR_SCALAR_MODE:
                    other = scalar
                value = first if bit(expected, 3 * ZONE, index) else other
                touched.writes |= set(range(places[0].at(repeat, lane), places[0].at(repeat, lane) + dtype.itemsize))
                naive.store(expected, places[0].at(repeat, lane), dtype, value)
        select(bench, (out, chosen, x, y), mode, scalar, form, count, repeats, mask, words, (blocks, strides))
        assert naive.same(bench.ub[:ZONE], expected[:ZONE], dtype)
        written = [instr for instr in bench.core.instrs if instr.name == "Select"][-1].writes
        assert region_bytes(written) == {(Memory.UB, byte) for byte in touched.writes}


def select(
    bench: Bench, tensors: Any, mode: SelMode, scalar: float, form: str, count: int, repeats: int, mask: int,
    words: list[int], walk: Any,
) -> None:  # fmt: skip
    """Call `asc.select` in the drawn form; the register form fills the registers first."""
    out, chosen, x, y = tensors
    blocks, strides = walk
    params = asc.BinaryRepeatParams(*blocks, *strides)
    by_scalar = mode is SelMode.VSEL_TENSOR_SCALAR_MODE
    other = scalar if by_scalar else y
    if form == "count":
        asc.select(out, chosen, x, other, mode, count)
    elif form == "registers":
        asc.set_vector_mask(words[1], words[0], dtype=out.dtype, mode=asc.MaskMode.NORMAL)
        if by_scalar:
            asc.set_cmp_mask(bench.filled(out.dtype, 100_000, [scalar] * 16))
            asc.select(out, chosen, x, repeat_times=repeats, repeat_params=params)
            return
        if mode is SelMode.VSEL_TENSOR_TENSOR_MODE:
            asc.set_cmp_mask(bench.filled(asc.uint32, 100_000, [chosen.addr] * 8))
        else:
            asc.set_cmp_mask(chosen)
        asc.select(out, x, y, repeat_times=repeats, repeat_params=params, sel_mode=mode)
    else:
        asc.select(out, chosen, x, other, mode, mask if form == "mask" else words, repeats, params)


SCRATCH = 196_608 - 8192


def test_select_leaves_its_scalar_in_the_scratch_and_keeps_operands_out_of_it() -> None:
    mode = SelMode.VSEL_TENSOR_SCALAR_MODE
    with Bench() as bench:
        x = bench.filled(asc.float32, 0, np.zeros(64))
        chosen = bench.filled(asc.uint8, 1024, np.zeros(32))
        asc.select(x, chosen, x, 2.5, mode, 64)
        assert (bench.ub[SCRATCH : SCRATCH + 32].view(np.float32) == 2.5).all()
        assert (bench.ub[SCRATCH + 32 :] == 0xFF).all()
        late = bench.local(asc.uint8, SCRATCH - 32, 64)
        text = f"Select: {mode.name} works in the last 8192 B of UB (from byte 188416 on), but sel_mask ends at byte "
        refused(lambda: asc.select(x, late, x, 2.5, mode, 64), f"{text}188448")
        asc.select(x, late, x, x, SelMode.VSEL_CMPMASK_SPR, 64)
    with Bench("3510", ub_bytes=262_144) as bench:
        x = bench.filled(asc.float32, SCRATCH, np.zeros(64))
        asc.select(x, bench.filled(asc.uint8, 0, np.zeros(32)), x, 2.5, mode, 64)
        assert (bench.view(x) == 2.5).all()


def test_select_is_recorded_as_the_library_does_it() -> None:
    with Bench() as bench:
        out, x = bench.local(asc.float32, 0, 64), bench.filled(asc.float32, 256, [1.0] * 64)
        chosen = bench.filled(asc.uint8, 512, [0] * 32)
        asc.select(out, chosen, x, asc.number(3.0, asc.float32), SelMode.VSEL_TENSOR_SCALAR_MODE, 64)
        names = [instr.name for instr in bench.core.instrs]
        assert names == ["Duplicate", "PipeBarrier", "SetCmpMask", "PipeBarrier", "Select"]
        assert bench.view(out).tolist() == [3.0] * 64


def test_refusals() -> None:
    with Bench() as bench:
        x, out = bench.local(asc.float32, 0, 128), bench.local(asc.uint8, 1024, 128)
        whole = bench.local(asc.int32, 2048, 128)
        refused(
            lambda: asc.compare(out, x, x, CMPMODE.LT, 100),
            "Compare: count is 100, but it must be a multiple of 64 (256 B of float32)",
        )
        refused(
            lambda: asc.compare(out, whole, whole, CMPMODE.LT, 64),
            "Compare: int32 can only be compared with EQ on this chip, not with LT",
        )
        refused(lambda: asc.compare(out, x, x, 7, 64), "Compare: cmp_mode must be a CMPMODE, not 7")
        refused(
            lambda: asc.compare_scalar(whole, x, 1.0, CMPMODE.LT, 64),
            "CompareScalar: dst int32, src0 float32 is not supported on Ascend 910B / 910_93 (arch 2201), allowed are "
            "uint8 <- float16, uint8 <- float32, uint8 <- int32",
        )
        refused(
            lambda: asc.select(x, out, x, 1, SelMode.VSEL_TENSOR_SCALAR_MODE, 64),
            "Select: src1 must be a float or a run-time scalar; pyasc takes no Python int here",
        )
        refused(
            lambda: asc.select(x, out, x, x, SelMode.VSEL_TENSOR_SCALAR_MODE, 64),
            "Select: VSEL_TENSOR_SCALAR_MODE takes a scalar as src1, not LocalTensor",
        )
        refused(
            lambda: asc.get_cmp_mask(bench.local(asc.uint8, 1024, 64)),
            "GetCmpMask: dst has 64 B, it must have room for 128 B",
        )
        refused(
            lambda: asc.get_cmp_mask(bench.local(asc.uint8, 1032, 128)),
            "GetCmpMask: dst starts at UB byte 1032, which is not a multiple of 16",
        )


@pytest.mark.parametrize("mode", list(CMPMODE), ids=lambda mode: mode.name)
def test_nan_compares_as_ieee_754_says(mode: CMPMODE) -> None:
    with Bench() as bench:
        x = bench.filled(asc.float32, 0, [np.nan] * 64)
        out = bench.local(asc.uint8, 256, 32)
        asc.compare(out, x, x, mode, 64)
        assert bench.view(out)[:8].tolist() == [255 if mode is CMPMODE.NE else 0] * 8
