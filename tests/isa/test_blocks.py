"""brcb, gatherb and scatter against plain loops, and their refusals."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from isa_bench import Bench, random_bytes, refused, region_bytes, some

from ascend_sim import asc
from ascend_sim.asc.params import BrcbRepeatParams, GatherRepeatParams
from ascend_sim.isa import dtypes as t
from ascend_sim.isa.dtypes import DataType
from ascend_sim.program import Memory, VectorWork

UB_BYTES = 1 << 14
MOVED = (t.int16, t.uint16, t.float16, t.bfloat16, t.int32, t.uint32, t.float32)


@some(30)
@given(st.sampled_from(MOVED), st.integers(0, 5), st.integers(0, 3), st.integers(0, 20))
def test_brcb(dtype: DataType, repeats: int, block: int, stride: int) -> None:
    size = dtype.itemsize
    with Bench(ub_bytes=UB_BYTES) as bench:
        bench.ub[:] = random_bytes(UB_BYTES, 4)
        dst, src = bench.local(dtype, 1024, 8192 // size), bench.local(dtype, 0, 64)
        expected = bytearray(bench.ub.tobytes())
        written = set()
        for repeat in range(repeats):
            for i in range(8):
                element = bench.ub[(repeat * 8 + i) * size :][:size].tobytes()
                at = 1024 + repeat * stride * 32 + i * (block or 1) * 32
                expected[at : at + 32] = element * (32 // size)
                written |= {(int(Memory.UB), at + k) for k in range(32)}
        asc.brcb(dst, src, repeats, BrcbRepeatParams(block, stride))
        assert bench.ub.tobytes() == bytes(expected)
        assert region_bytes(bench.last.writes) == written
        assert region_bytes(bench.last.reads) == {(int(Memory.UB), i) for i in range(repeats * 8 * size)}
        work = bench.last.work
        assert isinstance(work, VectorWork)
        assert (work.repeats, work.lanes) == (repeats, 256 // size)


@some(30)
@given(st.sampled_from((t.uint16, t.uint32)), st.integers(0, 4), st.integers(0, 2), st.integers(8, 17))
def test_gatherb(dtype: DataType, repeats: int, block: int, stride: int) -> None:
    with Bench(ub_bytes=UB_BYTES) as bench:
        bench.ub[:] = random_bytes(UB_BYTES, 5)
        dst = bench.local(dtype, 4096, 4096 // dtype.itemsize)
        src = bench.local(dtype, 0, 4096 // dtype.itemsize)
        picks = np.random.default_rng(repeats).integers(0, 128, 40)
        offsets = bench.filled(t.uint32, 8192, picks * 32)
        expected = bytearray(bench.ub.tobytes())
        for i in range(repeats * 8):
            at = 4096 + i // 8 * stride * 32 + i % 8 * (block or 1) * 32
            expected[at : at + 32] = bench.ub[picks[i] * 32 :][:32].tobytes()
        asc.gatherb(dst, src, offsets, repeats, GatherRepeatParams(block, stride))
        assert bench.ub.tobytes() == bytes(expected)


@some(30)
@given(st.sampled_from((t.int8, *MOVED, t.int64)), st.integers(0, 300), st.integers(0, 9))
def test_scatter_on_950(dtype: DataType, count: int, base: int) -> None:
    size = dtype.itemsize
    with Bench(arch="3510", ub_bytes=UB_BYTES) as bench:
        bench.ub[:] = random_bytes(UB_BYTES, 6)
        dst, src = bench.local(dtype, 0, 512), bench.local(dtype, 4096, 512)
        places = np.random.default_rng(count).permutation(500)[:count]
        offsets = bench.local(t.uint32, 12288, 512)
        bench.view(offsets)[:count] = places * size
        expected = bytearray(bench.ub.tobytes())
        for i, place in enumerate(places):
            at = base * size + place * size
            expected[at : at + size] = bench.ub[4096 + i * size :][:size].tobytes()
        asc.scatter(dst, src, offsets, base * size, count)
        assert bench.ub.tobytes() == bytes(expected)


def test_scatter_by_mask_on_950() -> None:
    with Bench(arch="3510") as bench:
        dst, src = bench.filled(t.float32, 0, np.zeros(128)), bench.filled(t.float32, 512, np.arange(1, 129))
        offsets = bench.filled(t.uint32, 1024, np.arange(128)[::-1] * 4)
        asc.scatter(dst, src, offsets, 0, [0b101], 2, 8)
        assert {i: v for i, v in enumerate(bench.view(dst).tolist()) if v} == {127: 1, 125: 3, 63: 65, 61: 67}


def test_refusals() -> None:
    with Bench() as bench:
        x, y = bench.local(t.uint16, 0, 256), bench.local(t.uint16, 1024, 1024)
        offsets = bench.filled(t.uint32, 4096, np.arange(8) * 32)
        refused(
            lambda: asc.scatter(y, x, offsets, 0, 8),
            "Scatter: Ascend 910B / 910_93 (arch 2201) does not have this instruction",
        )
        refused(
            lambda: asc.brcb(x[16:], x, 3, BrcbRepeatParams(1, 1)),
            "Brcb: src0 (UB byte 0 on) and dst (UB byte 32 on) overlap, they must not",
        )
        refused(
            lambda: asc.brcb(y, x, 1, GatherRepeatParams()),
            "Brcb: repeat_params must be BrcbRepeatParams, not GatherRepeatParams",
        )
        refused(
            lambda: asc.gatherb(y, x, offsets, 256, GatherRepeatParams()),
            "Gatherb: repeat_times is 256, allowed are 0..255 (an 8-bit field of the instruction)",
        )
        bench.view(offsets)[3] = 100
        refused(
            lambda: asc.gatherb(y, x, offsets, 1, GatherRepeatParams()),
            "Gatherb: offset[3] (of the active ones) is 100 B, allowed are multiples of 32 B",
        )
        bench.view(offsets)[3] = 512
        refused(
            lambda: asc.gatherb(y, x, offsets, 1, GatherRepeatParams()),
            "Gatherb: offset[3] (of the active ones) is 512 B, allowed are 0..480: the tensor holds 512 B from its "
            "base on",
        )
        refused(
            lambda: asc.gatherb(bench.local(t.float16, 0, 256), x, offsets, 1, GatherRepeatParams()),
            "Gatherb: dst float16, src0 uint16, offset uint32 is not supported on Ascend 910B / 910_93 (arch 2201), "
            "allowed are uint16 <- uint16, uint32, uint32 <- uint32, uint32",
        )
