"""data_copy and data_copy_pad against plain loops over bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from isa_bench import Bench, random_bytes, refused, region_bytes, some

from ascend_sim import asc
from ascend_sim.asc.params import (
    DataCopyExtParams,
    DataCopyPadExtParams,
    DataCopyPadParams,
    DataCopyParams,
)
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.isa import dtypes as t
from ascend_sim.isa.dtypes import DataType
from ascend_sim.isa.moves import ALL_MOVABLE
from ascend_sim.program import CopyWork, Memory, PipeID, VectorWork

DTYPES = st.sampled_from(ALL_MOVABLE)
GM_BYTES = 1 << 12
UB_BYTES = 1 << 13


def gm_array(dtype: DataType, seed: int = 1) -> Any:
    return random_bytes(GM_BYTES, seed).view(dtype.numpy)


@some(30)
@given(DTYPES, st.integers(0, 40), st.integers(0, 50), st.integers(0, 100))
def test_count_from_gm_moves_the_elements(dtype: DataType, blocks: int, addr_block: int, offset: int) -> None:
    data = gm_array(dtype)
    nbytes = blocks * 32
    with Bench(ub_bytes=UB_BYTES) as bench:
        src = bench.gm(data, offset=offset)
        dst = bench.local(dtype, addr_block * 32, 2048 // dtype.itemsize)
        asc.data_copy(dst, src, nbytes // dtype.itemsize)
        expected = bytearray(b"\xff" * UB_BYTES)
        start = offset * dtype.itemsize
        expected[addr_block * 32 : addr_block * 32 + nbytes] = data.tobytes()[start : start + nbytes]
        assert bench.ub.tobytes() == bytes(expected)
        assert len(bench.core.instrs) == len(bench.core.gm_addresses) == (blocks > 0)
        if blocks:
            assert bench.core.gm_addresses[0] == 512 + start
            assert bench.last.pipe is PipeID.PIPE_MTE2
            assert bench.last.work == CopyWork(True, 1, nbytes, nbytes)
            assert region_bytes(bench.last.reads) == {(Memory.GM, i) for i in range(nbytes)}
            assert region_bytes(bench.last.writes) == {(Memory.UB, addr_block * 32 + i) for i in range(nbytes)}


@some(30)
@given(DTYPES, st.integers(1, 40), st.integers(0, 50), st.integers(0, 100))
def test_count_to_gm_moves_the_elements(dtype: DataType, blocks: int, addr_block: int, offset: int) -> None:
    data = np.zeros(GM_BYTES // dtype.itemsize, dtype.numpy)
    nbytes = blocks * 32
    with Bench(ub_bytes=UB_BYTES) as bench:
        bench.ub[:] = random_bytes(UB_BYTES)
        dst = bench.gm(data, offset=offset)
        src = bench.local(dtype, addr_block * 32, 2048 // dtype.itemsize)
        asc.data_copy(dst, src, nbytes // dtype.itemsize)
        expected = bytearray(GM_BYTES)
        start = offset * dtype.itemsize
        expected[start : start + nbytes] = bench.ub.tobytes()[addr_block * 32 : addr_block * 32 + nbytes]
        assert data.tobytes() == bytes(expected)
        assert bench.last.pipe is PipeID.PIPE_MTE3
        assert bench.last.work == CopyWork(False, 1, nbytes, nbytes)
        assert list(bench.core.gm_addresses) == [512 + start]


@some(30)
@given(st.integers(0, 5), st.integers(0, 4), st.integers(0, 4), st.integers(0, 4), st.booleans())
def test_bursts_with_gaps(count: int, length: int, src_gap: int, dst_gap: int, to_ub: bool) -> None:
    data = gm_array(t.float16)
    before = data.tobytes()
    with Bench(ub_bytes=UB_BYTES) as bench:
        bench.ub[:] = random_bytes(UB_BYTES, 7)
        old_ub = bench.ub.tobytes()
        gm, local = bench.gm(data, offset=3), bench.local(t.float16, 64, 2048)
        params = DataCopyParams(count, length, src_gap, dst_gap)
        asc.data_copy(*((local, gm) if to_ub else (gm, local)), params)
        gm_bytes, ub_bytes = bytearray(before), bytearray(old_ub)
        touched_gm, touched_ub = set(), set()
        for i in range(count):
            gm_gap, ub_gap = (src_gap, dst_gap) if to_ub else (dst_gap, src_gap)
            for k in range(length * 32):
                g, u = i * (length + gm_gap) * 32 + k, 64 + i * (length + ub_gap) * 32 + k
                touched_gm.add((int(Memory.GM), g))
                touched_ub.add((int(Memory.UB), u))
                if to_ub:
                    ub_bytes[u] = before[6 + g]
                else:
                    gm_bytes[6 + g] = old_ub[u]
        assert bench.ub.tobytes() == bytes(ub_bytes)
        assert data.tobytes() == bytes(gm_bytes)
        if count and length:
            pitch = (length + (src_gap if to_ub else dst_gap)) * 32
            assert bench.last.work == CopyWork(to_ub, count, length * 32, pitch)
            reads, writes = (touched_gm, touched_ub) if to_ub else (touched_ub, touched_gm)
            assert region_bytes(bench.last.reads) == reads
            assert region_bytes(bench.last.writes) == writes
        else:
            assert not bench.core.instrs


@some(30)
@given(st.integers(0, 6), st.integers(0, 10), st.integers(0, 4), st.integers(0, 4))
def test_bursts_inside_ub(count: int, length: int, src_gap: int, dst_gap: int) -> None:
    with Bench(ub_bytes=UB_BYTES) as bench:
        bench.ub[:] = random_bytes(UB_BYTES, 3)
        old = bench.ub.tobytes()
        dst, src = bench.local(t.bfloat16, 0, 2048), bench.local(t.bfloat16, 4096, 2048)
        asc.data_copy(dst, src, DataCopyParams(count, length, src_gap, dst_gap))
        expected = bytearray(old)
        written = set()
        for i in range(count):
            for k in range(length * 32):
                to = i * (length + dst_gap) * 32 + k
                expected[to] = old[4096 + i * (length + src_gap) * 32 + k]
                written.add((int(Memory.UB), to))
        assert bench.ub.tobytes() == bytes(expected)
        assert not bench.core.gm_addresses
        if count and length:
            assert bench.last.pipe is PipeID.PIPE_V
            assert region_bytes(bench.last.writes) == written
            work = bench.last.work
            assert isinstance(work, VectorWork)
            assert work.elements == count * length * 16
            assert work.repeats == count * -(-length // 8)


def test_broadcast_rows_inside_one_buffer() -> None:
    """Rows that interleave with their copies are disjoint, byte for byte, and allowed."""
    with Bench() as bench:
        row = bench.local(t.float32, 0, 8 * 32)
        bench.view(row)[:] = np.arange(256)
        asc.data_copy(row[8:], row, DataCopyParams(4, 1, 7, 7))
        grid = bench.view(row).reshape(4, 8, 8)
        assert (grid[:, 1] == grid[:, 0]).all()


def pad_reference(
    ub: bytearray, gm: bytes, at: int, base: int, params: Any, left: int, right: int, filler: bytes | None, size: int
) -> None:
    """data_copy_pad GM -> UB, byte by byte; `filler` None repeats the row's first element."""
    for i in range(params.block_count):
        row = gm[base + i * (params.block_len + params.src_stride) :][: params.block_len]
        unit = row[:size] if filler is None else filler
        body = unit * left + row + unit * right
        while len(body) % 32:
            body += unit
        start = at + i * (len(body) + params.dst_stride * 32)
        ub[start : start + len(body)] = body


@some(60)
@given(
    DTYPES,
    st.tuples(st.integers(1, 5), st.integers(1, 40), st.integers(0, 70), st.integers(0, 3)),
    st.tuples(st.integers(0, 32), st.integers(0, 32)),
    st.sampled_from(["first", "value", "register", "undefined"]),
    st.booleans(),
)
def test_pad_from_gm(
    dtype: DataType, shape: tuple[int, int, int, int], paddings: tuple[int, int], kind: str, wide: bool
) -> None:
    size = dtype.itemsize
    count, length, src_gap, dst_gap = shape
    left, right = (0, 0) if kind == "first" else (p // size for p in paddings)
    value = 0 if size == 8 or not wide else 5
    unit = np.array([value], np.float64).astype(dtype.numpy).tobytes()
    data = gm_array(dtype, 11)
    with Bench(ub_bytes=UB_BYTES) as bench:
        src, dst = bench.gm(data, offset=5), bench.local(dtype, 96, 4096 // size)
        if wide:
            params: Any = DataCopyExtParams(count, length * size, src_gap, dst_gap)
            pad: Any = DataCopyPadExtParams(dtype, kind == "value", left, right, value)
        else:
            params = DataCopyParams(count, length * size, src_gap, dst_gap)
            pad = DataCopyPadParams(kind == "value", left, right, 0)
        if kind == "register":
            asc.set_pad_value(value)
        asc.data_copy_pad(dst, src, params, pad)
        filler = {"first": None, "value": unit, "register": unit, "undefined": b"\xff" * size}[kind]
        if left == right == 0:
            filler = None
        expected = bytearray(b"\xff" * UB_BYTES)
        pad_reference(expected, data.tobytes(), 96, 5 * size, params, left, right, filler, size)
        assert bench.ub.tobytes() == bytes(expected)
        row = -(-(left + length + right) * size // 32) * 32
        assert bench.last.work == CopyWork(True, count, length * size, length * size + src_gap)
        assert region_bytes(bench.last.writes) == {
            (int(Memory.UB), 96 + i * (row + dst_gap * 32) + k) for i in range(count) for k in range(row)
        }
        assert region_bytes(bench.last.reads) == {
            (int(Memory.GM), i * (length * size + src_gap) + k) for i in range(count) for k in range(length * size)
        }


@some(30)
@given(
    DTYPES,
    st.tuples(st.integers(1, 5), st.integers(1, 40), st.integers(0, 3), st.integers(0, 70)),
    st.booleans(),
)
def test_pad_to_gm_drops_the_filler(dtype: DataType, shape: tuple[int, int, int, int], wide: bool) -> None:
    size = dtype.itemsize
    count, length, src_gap, dst_gap = shape
    data = np.zeros(GM_BYTES // size, dtype.numpy)
    with Bench(ub_bytes=UB_BYTES) as bench:
        bench.ub[:] = random_bytes(UB_BYTES, 5)
        dst, src = bench.gm(data, offset=2), bench.local(dtype, 32, 4096 // size)
        make: Any = DataCopyExtParams if wide else DataCopyParams
        asc.data_copy_pad(dst, src, make(count, length * size, src_gap, dst_gap))
        expected = bytearray(GM_BYTES)
        nbytes = length * size
        row = -(-nbytes // 32) * 32
        read = set()
        for i in range(count):
            for k in range(nbytes):
                at = 32 + i * (row + src_gap * 32) + k
                read.add((int(Memory.UB), at))
                expected[2 * size + i * (nbytes + dst_gap) + k] = bench.ub[at]
        assert data.tobytes() == bytes(expected)
        assert bench.last.work == CopyWork(False, count, nbytes, nbytes + dst_gap)
        assert region_bytes(bench.last.reads) == read


def test_is_pad_leaves_its_value_in_the_register() -> None:
    with Bench() as bench:
        src, dst = bench.gm(np.arange(64, dtype=np.int32)), bench.local(t.int32, 0, 64)
        params = DataCopyExtParams(1, 8, 0, 0)
        asc.data_copy_pad(dst, src, params, DataCopyPadExtParams(t.int32, True, 0, 1, 9))
        asc.data_copy_pad(dst[8:], src, params, DataCopyPadExtParams(t.int32, False, 1, 0))
        assert bench.view(dst)[:16].tolist() == [0, 1, 9, 9, 9, 9, 9, 9, 9, 0, 1, 9, 9, 9, 9, 9]


@pytest.mark.parametrize("by_register", [False, True])
def test_signed_zeros_pad_with_their_sign(by_register: bool) -> None:
    with Bench() as bench:
        src, dst = bench.gm(np.ones(64, np.float32)), bench.local(t.float32, 0, 8)
        found = []
        for value in (0.0, -0.0, 0.0, -0.0):
            if by_register:
                asc.set_pad_value(value)
            pad = DataCopyPadExtParams(t.float32, not by_register, 0, 1, value)
            asc.data_copy_pad(dst, src, DataCopyExtParams(1, 4), pad)
            found.append(bool(np.signbit(bench.view(dst)[1])))
        assert found == [False, True, False, True]


def test_equal_copies_are_one_instruction_with_their_own_addresses() -> None:
    with Bench() as bench:
        src, dst = bench.gm(np.arange(256, dtype=np.float32)), bench.local(t.float32, 0, 64)
        for i in range(4):
            asc.data_copy(dst, src[i * 8 :], 64)
            assert bench.view(dst)[0] == i * 8
        assert len({id(instr) for instr in bench.core.instrs}) == 1
        assert list(bench.core.gm_addresses) == [512 + i * 32 for i in range(4)]


def test_pending_scalar_calls_go_to_the_copy_once() -> None:
    with Bench() as bench:
        src, dst = bench.gm(np.arange(256, dtype=np.float32)), bench.local(t.float32, 0, 64)
        RECORDER.pending = 3
        asc.data_copy(dst, src, 64)
        asc.data_copy(dst, src, 64)
        assert [instr.scalar_calls for instr in bench.core.instrs] == [3, 0]


def test_hint_and_place_are_recorded() -> None:
    with Bench() as bench:
        src, dst = bench.gm(np.arange(256, dtype=np.float32)), bench.local(t.float32, 0, 64)
        src.l2_bypass = True
        asc.data_copy(dst, src, 64)
        assert bench.last.work == CopyWork(True, 1, 256, 256, l2_bypass=True)
        place = bench.last.place
        assert place is not None
        assert place.function == "test_hint_and_place_are_recorded"
        assert place.file == __file__


def test_without_values_nothing_but_the_record_is_made() -> None:
    with Bench(values=False) as bench:
        src, dst = bench.gm(np.arange(256, dtype=np.float32)), bench.local(t.float32, 0, 64)
        asc.data_copy(dst, src, 64)
        asc.data_copy(src, dst, 64)
        asc.data_copy(dst, dst[0], 64)
        assert [instr.pipe.name for instr in bench.core.instrs] == ["PIPE_MTE2", "PIPE_MTE3", "PIPE_V"]


def test_run_time_scalars_count_and_index_without_a_trace() -> None:
    """Indices may pass 2**31 bytes whatever their width, and nothing but the address is charged."""
    with Bench(values=False) as bench:
        src, dst = bench.gm(np.zeros(1, np.int16)), bench.local(t.int16, 0, 64)
        src.allocation.nbytes = 6 << 30
        count, index = asc.number(64, t.int32), asc.number(1_500_000_000, t.int32)
        view = src[index]
        address_only = RECORDER.pending
        asc.data_copy(dst, view, count)
        assert (bench.last.scalar_calls, RECORDER.pending) == (address_only, 0)
        assert bench.core.gm_addresses[0] == 512 + 3_000_000_000


def test_set_pad_value_of_64_bit_types_is_zero() -> None:
    with Bench() as bench:
        src, dst = bench.gm(np.arange(8)), bench.local(t.int64, 0, 8)
        params = DataCopyExtParams(1, 16)
        asc.set_pad_value(0)
        asc.data_copy_pad(dst, src, params, DataCopyPadExtParams(t.int64, False, 0, 1))
        assert bench.view(dst)[:4].tolist() == [0, 1, 0, 0]
        asc.set_pad_value(3)
        refused(
            lambda: asc.data_copy_pad(dst, src, params, DataCopyPadExtParams(t.int64, False, 0, 1)),
            "DataCopyPad: set_pad_value set 3, allowed is 0 for 64-bit types such as int64",
        )


def test_pad_value_that_is_no_number_of_the_type() -> None:
    with Bench() as bench:
        src, dst = bench.gm(np.arange(8, dtype=np.int32)), bench.local(t.int32, 0, 8)
        refused(
            lambda: asc.data_copy_pad(
                dst, src, DataCopyExtParams(1, 16), DataCopyPadExtParams(t.int32, True, 0, 1, float("inf"))
            ),
            "inf cannot be an element of int32",
        )
