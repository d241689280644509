"""gather against plain loops, in place included, and its refusals."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from isa_bench import Bench, random_bytes, refused, region_bytes, some

from ascend_sim import asc
from ascend_sim.isa import dtypes as t
from ascend_sim.isa.dtypes import DataType
from ascend_sim.program import Memory, PipeID, VectorWork

MOVED = (t.int16, t.uint16, t.float16, t.bfloat16, t.int32, t.uint32, t.float32)
UB_BYTES = 1 << 15


@some(30)
@given(st.sampled_from(MOVED), st.integers(0, 600), st.integers(0, 20), st.integers(0, 1000))
def test_count_form(dtype: DataType, count: int, base: int, seed: int) -> None:
    size, base = dtype.itemsize, base * dtype.itemsize
    with Bench(ub_bytes=UB_BYTES) as bench:
        bench.ub[:] = random_bytes(UB_BYTES, 1)
        src, dst = bench.local(dtype, 0, 1024), bench.local(dtype, 4096, 1024)
        picks = np.random.default_rng(seed).integers(0, (1024 * size - base) // size, count)
        offsets = bench.filled(t.uint32, 8192, picks * size) if count else bench.local(t.uint32, 8192, 8)
        expected = bytearray(bench.ub.tobytes())
        for i, pick in enumerate(picks):
            for k in range(size):
                expected[4096 + i * size + k] = bench.ub[base + int(pick) * size + k]
        asc.gather(dst, src, offsets, base, count)
        assert bench.ub.tobytes() == bytes(expected)
        work = bench.last.work
        assert isinstance(work, VectorWork)
        assert (work.width, work.elements, work.repeats) == (dtype.name, count, -(-count * size // 256))
        assert bench.last.pipe is PipeID.PIPE_V
        if count:
            read = {(int(Memory.UB), i) for i in range(base, 1024 * size)}
            assert region_bytes(bench.last.reads) == read | {(int(Memory.UB), 8192 + i) for i in range(count * 4)}
            assert region_bytes(bench.last.writes) == {(int(Memory.UB), 4096 + i) for i in range(count * size)}


@some(30)
@given(
    st.sampled_from(MOVED),
    st.one_of(st.integers(1, 64), st.lists(st.integers(1, (1 << 64) - 1), min_size=2, max_size=2)),
    st.integers(0, 5),
    st.integers(8, 12),
)
def test_mask_form(dtype: DataType, mask: int | list[int], repeats: int, stride: int) -> None:
    size, lanes = dtype.itemsize, 256 // dtype.itemsize
    with Bench(ub_bytes=UB_BYTES) as bench:
        bench.ub[:] = random_bytes(UB_BYTES, 2)
        src, dst = bench.local(dtype, 0, 1024), bench.local(dtype, 4096, 4096 // size)
        picks = np.random.default_rng(repeats).integers(0, 1024, 5 * lanes)
        offsets = bench.filled(t.uint32, 8192, picks * size)
        expected = bytearray(bench.ub.tobytes())
        for repeat in range(repeats):
            for lane in range(lanes):
                on = lane < mask if isinstance(mask, int) else mask[lane // 64] >> lane % 64 & 1
                if on:
                    to = 4096 + repeat * stride * 32 + lane * size
                    at = int(picks[repeat * lanes + lane]) * size
                    expected[to : to + size] = bench.ub[at : at + size].tobytes()
        asc.gather(dst, src, offsets, 0, mask, repeats, stride)
        assert bench.ub.tobytes() == bytes(expected)


def test_swaps_neighbours_in_place_and_follows_changed_offsets() -> None:
    with Bench() as bench:
        x = bench.filled(t.float32, 0, np.arange(192))
        offsets = bench.filled(t.uint32, 1024, (np.arange(192) ^ 1) * 4)
        asc.gather(x, x, offsets, 0, 192)
        assert bench.view(x).tolist() == [i ^ 1 for i in range(192)]
        for _ in range(2):
            bench.view(offsets)[:] = np.arange(192)[::-1] * 4
            bench.view(offsets)[64:] = np.arange(64, 192) * 4
            bench.view(offsets)[:64] = np.arange(64)[::-1] * 4
            asc.gather(x, x, offsets, 0, 192)
        assert bench.view(x).tolist() == [i ^ 1 for i in range(192)]


def test_refusals_of_offsets() -> None:
    with Bench() as bench:
        x = bench.filled(t.float32, 0, np.arange(128))
        y = bench.local(t.float32, 512, 128)
        offsets = bench.filled(t.uint32, 1024, np.arange(128) * 4)
        bench.view(offsets)[70] = 0
        refused(
            lambda: asc.gather(x, x, offsets, 0, 128),
            "Gather: dst overlaps its source, and repeat 1 reads what repeat 0 has written (active element 70): gather "
            "into another buffer",
        )
        bench.view(offsets)[70] = 6
        refused(
            lambda: asc.gather(y, x, offsets, 0, 128),
            "Gather: src_offset[70] (of the active ones) is 6 B, allowed are multiples of 4 B",
        )
        bench.view(offsets)[70] = 500
        refused(
            lambda: asc.gather(y, x, offsets, 16, 128),
            "Gather: src_offset[70] (of the active ones) is 500 B, allowed are 0..492: the tensor holds 496 B from its "
            "base on",
        )


def test_refusals() -> None:
    with Bench() as bench:
        x, y = bench.local(t.float32, 0, 128), bench.local(t.float32, 512, 128)
        offsets = bench.local(t.uint32, 1024, 128)
        refused(
            lambda: asc.gather(y, x, offsets, 0, 16384),
            "Gather: count is 16384, allowed are 0..16383 (below 256 repeats: the hardware's repeat has 8 bits)",
        )
        refused(
            lambda: asc.gather(y, x, offsets, 2, 8),
            "Gather: src_base is 2 B, allowed are multiples of 4 B, the size of float32",
        )
        refused(
            lambda: asc.gather(y, x, offsets, 516, 8),
            "Gather: src_base is 516, allowed are 0..512 (bytes, within src)",
        )
        refused(
            lambda: asc.gather(y, x, bench.local(t.int32, 1024, 128), 0, 8),
            "Gather: dst float32, src float32, src_offset int32 is not supported on Ascend 910B / 910_93 (arch 2201), "
            "allowed are int16 <- int16, uint32, uint16 <- uint16, uint32, float16 <- float16, uint32, bfloat16 <- "
            "bfloat16, uint32, int32 <- int32, uint32, uint32 <- uint32, uint32, float32 <- float32, uint32",
        )
        asc.set_mask_count()
        refused(
            lambda: asc.gather(y, x, offsets, 0, 8),
            "Gather: the count form works with masks of Normal mode: call set_mask_norm() first",
        )
        assert not bench.core.instrs
