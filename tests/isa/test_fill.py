"""duplicate and copy against plain loops over lanes, in both mask modes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from isa_bench import Bench, random_bytes, refused, region_bytes, some

from ascend_sim import asc
from ascend_sim.asc.params import CopyRepeatParams, UnaryRepeatParams
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.isa import dtypes as t
from ascend_sim.isa.dtypes import DataType
from ascend_sim.program import Memory, PipeID, VectorWork

MOVED = (t.int16, t.uint16, t.float16, t.bfloat16, t.int32, t.uint32, t.float32)
UB_BYTES = 1 << 15


def lane_addresses(dtype: DataType, start: int, lanes: list[int], block: int, at: int) -> Iterator[int]:
    """Byte addresses of the given lanes of a repeat that starts at `start + at`; `block` in bytes."""
    per_block = 32 // dtype.itemsize
    for lane in lanes:
        yield start + at + lane // per_block * block + lane % per_block * dtype.itemsize


def active(mask: int | list[int], lanes: int) -> list[int]:
    if isinstance(mask, int):
        return list(range(mask))
    return [lane for lane in range(lanes) if mask[lane // 64] >> lane % 64 & 1]


MASKS = st.one_of(st.integers(1, 64), st.lists(st.integers(1, (1 << 64) - 1), min_size=2, max_size=2))


@some(30)
@given(st.sampled_from(MOVED), st.integers(0, 700), st.integers(-40000, 40000))
def test_duplicate_by_count(dtype: DataType, count: int, value: int) -> None:
    with Bench(ub_bytes=UB_BYTES) as bench:
        dst = bench.local(dtype, 64, 2048)
        asc.duplicate(dst, value, count)
        expected = bytearray(b"\xff" * UB_BYTES)
        raw = np.array([value]).astype(dtype.numpy).tobytes()
        expected[64 : 64 + count * dtype.itemsize] = raw * count
        assert bench.ub.tobytes() == bytes(expected)
        work = bench.last.work
        assert isinstance(work, VectorWork)
        assert (work.elements, work.count_form, bench.last.pipe) == (count, True, PipeID.PIPE_V)
        assert len(region_bytes(bench.last.writes)) == count * dtype.itemsize


@some(30)
@given(st.sampled_from(MOVED), MASKS, st.integers(0, 5), st.integers(1, 3), st.integers(0, 20))
def test_duplicate_by_mask(
    dtype: DataType, mask: int | list[int], repeats: int, block_stride: int, repeat_stride: int
) -> None:
    lanes = 256 // dtype.itemsize
    with Bench(ub_bytes=UB_BYTES) as bench:
        dst = bench.local(dtype, 32, 8192 // dtype.itemsize * 2)
        asc.duplicate(dst, 7, mask, repeats, block_stride, repeat_stride)
        expected = bytearray(b"\xff" * UB_BYTES)
        raw = np.array([7]).astype(dtype.numpy).tobytes()
        written = set()
        for repeat in range(repeats):
            for at in lane_addresses(dtype, 32, active(mask, lanes), block_stride * 32, repeat * repeat_stride * 32):
                expected[at : at + dtype.itemsize] = raw
                written |= {(int(Memory.UB), at + k) for k in range(dtype.itemsize)}
        assert bench.ub.tobytes() == bytes(expected)
        assert region_bytes(bench.last.writes) == written


@some(30)
@given(
    st.sampled_from(MOVED),
    MASKS,
    st.integers(0, 5),
    st.tuples(st.integers(1, 3), st.integers(0, 3), st.integers(0, 20), st.integers(0, 20)),
)
def test_copy_by_mask(dtype: DataType, mask: int | list[int], repeats: int, strides: tuple[int, int, int, int]) -> None:
    lanes = 256 // dtype.itemsize
    dst_block, src_block, dst_repeat, src_repeat = (32 * stride for stride in strides)
    with Bench(ub_bytes=UB_BYTES) as bench:
        bench.ub[:] = random_bytes(UB_BYTES, 9)
        dst, src = bench.local(dtype, 0, 16384 // dtype.itemsize), bench.local(dtype, 16384, 16384 // dtype.itemsize)
        expected = bytearray(bench.ub.tobytes())
        read, written = set(), set()
        for repeat in range(repeats):
            chosen = active(mask, lanes)
            to = list(lane_addresses(dtype, 0, chosen, dst_block, repeat * dst_repeat))
            at = list(lane_addresses(dtype, 16384, chosen, src_block, repeat * src_repeat))
            for into, out_of in zip(to, at, strict=True):
                for k in range(dtype.itemsize):
                    expected[into + k] = bench.ub[out_of + k]
                    read.add((int(Memory.UB), out_of + k))
                    written.add((int(Memory.UB), into + k))
        asc.copy(dst, src, mask, repeats, CopyRepeatParams(*strides))
        assert bench.ub.tobytes() == bytes(expected)
        assert region_bytes(bench.last.reads) == read
        assert region_bytes(bench.last.writes) == written


def test_copy_in_counter_mode_counts_per_repeat() -> None:
    """18 rows of 64 int32, the first 8 of each, as one repeat of 144 elements (the documents' third example)."""
    with Bench() as bench:
        src = bench.filled(t.int32, 0, np.arange(18 * 64))
        dst = bench.local(t.int32, 8192, 144)
        asc.set_mask_count()
        asc.set_vector_mask(144, dtype=t.int32, mode=asc.MaskMode.COUNTER)
        asc.copy(dst, src, 1, 1, CopyRepeatParams(1, 8, 8, 8), False)
        asc.set_mask_norm()
        asc.reset_mask()
        rows = np.arange(18 * 64).reshape(18, 64)[:, :8]
        assert (bench.view(dst) == rows.reshape(-1)).all()
        work = bench.last.work
        assert isinstance(work, VectorWork)
        assert (work.lanes, work.repeats, work.elements) == (64, 3, 144)


def test_broadcast_of_one_row_over_heads() -> None:
    with Bench() as bench:
        row = bench.filled(t.bfloat16, 0, np.arange(128))
        heads = bench.local(t.bfloat16, 256, 5 * 128)
        asc.copy(heads, row, 128, 5, CopyRepeatParams(1, 1, 8, 0))
        assert (bench.view(heads).reshape(5, 128) == np.arange(128).astype(ml_dtypes.bfloat16)).all()


def test_masked_forms_leave_their_mask_in_the_registers() -> None:
    with Bench() as bench:
        dst = bench.local(t.float32, 0, 128)
        asc.duplicate(dst, 1.0, 5, 1, 1, 8)
        asc.duplicate(dst, 2.0, 64, 1, 1, 8, False)
        assert (bench.view(dst)[:6] == np.array([2, 2, 2, 2, 2, np.nan], np.float32))[:5].all()
        assert np.isnan(bench.view(dst)[5])
        asc.duplicate(dst, 3.0, 2)
        assert RECORDER.state.mask == ((1 << 64) - 1, (1 << 64) - 1)


def test_negative_zero_is_not_zero() -> None:
    with Bench() as bench:
        dst = bench.local(t.float32, 0, 8)
        for value in (0.0, -0.0):
            asc.duplicate(dst, value, 8)
            assert np.signbit(bench.view(dst)).all() == (str(value) == "-0.0")


@pytest.mark.parametrize("dtype", [t.int8, t.int64])
def test_dtypes(dtype: DataType) -> None:
    allowed = "int16, uint16, float16, bfloat16, int32, uint32, float32"
    with Bench() as bench:
        x, y = bench.local(dtype, 0, 64), bench.local(dtype, 1024, 64)
        refused(
            lambda: asc.duplicate(x, 1, 8),
            f"Duplicate: dst {dtype.name} is not supported on Ascend 910B / 910_93 (arch 2201), allowed are {allowed}",
        )
        refused(
            lambda: asc.copy(x, y, 8, 1, CopyRepeatParams(1, 1, 8, 8)),
            f"Copy: dst {dtype.name}, src {dtype.name} is not supported on Ascend 910B / 910_93 (arch 2201), allowed "
            f"are {allowed}",
        )


def test_refusals() -> None:
    with Bench() as bench:
        x, y = bench.local(t.float16, 0, 256), bench.local(t.float16, 1024, 256)
        params = CopyRepeatParams(1, 1, 8, 8)

        def copy(*arguments: Any) -> Any:
            return lambda: asc.copy(x, *arguments)

        refused(copy(y, 129, 1, params), "Copy: mask is 129, allowed are 1..128 (128 lanes a repeat)")
        refused(
            copy(y, 128, 256, params),
            "Copy: repeat_time is 256, allowed are 0..255 (an 8-bit field of the instruction)",
        )
        refused(
            copy(y, 128, 1, CopyRepeatParams(1, 1, 4096, 8)),
            "Copy: dst_repeat_size is 4096, allowed are 0..4095 (in blocks of 32 B)",
        )
        refused(
            copy(y, 128, 1, UnaryRepeatParams()), "Copy: repeat_params must be CopyRepeatParams, not UnaryRepeatParams"
        )
        refused(
            copy(y, 128, 3, params),
            "Copy: dst needs 768 B from UB byte 0 on, but the tensor holds 256 elements of float16 (512 B)",
        )
        refused(
            copy(x[16:], 128, 1, params),
            "Copy: src overlaps dst in part; within a repeat they must coincide or not touch",
        )
        refused(
            lambda: asc.duplicate(x, 1, 8, 1, 1, 256),
            "Duplicate: dst_repeat_stride is 256, allowed are 0..255 (in blocks of 32 B)",
        )
        assert not bench.core.instrs
