"""gather_mask against plain loops: fixed patterns and tensors of bits, both modes, in place, counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from isa_bench import Bench, random_bytes, refused, region_bytes, some

from ascend_sim import asc
from ascend_sim.asc.params import GatherMaskParams
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.scalars import UnknownScalar
from ascend_sim.isa import dtypes as t
from ascend_sim.isa.dtypes import DataType
from ascend_sim.program import Memory, PipeID, ScalarWork, VectorWork

DTYPES = (t.int16, t.uint16, t.float16, t.bfloat16, t.int32, t.uint32, t.float32)
KEEPS = {
    1: lambda i: i % 2 == 0,
    2: lambda i: i % 2 == 1,
    3: lambda i: i % 4 == 0,
    4: lambda i: i % 4 == 1,
    5: lambda i: i % 4 == 2,
    6: lambda i: i % 4 == 3,
    7: lambda i: True,
}
UB_BYTES = 1 << 14


@some(60)
@given(
    st.sampled_from(DTYPES),
    st.one_of(st.integers(1, 7), st.integers(0, 9).map(lambda seed: ("bits", seed))),
    st.one_of(st.none(), st.integers(1, 150)),
    st.tuples(st.integers(1, 2), st.integers(0, 4), st.integers(0, 9), st.integers(0, 2)),
)
def test_packs_the_chosen_elements(
    dtype: DataType, pattern: Any, mask: int | None, strides: tuple[int, int, int, int]
) -> None:
    size = dtype.itemsize
    block, repeats, src_stride, bits_stride = strides
    width = mask or 256 // size
    with Bench(ub_bytes=UB_BYTES) as bench:
        bench.ub[:] = random_bytes(UB_BYTES, 1)
        dst, src = bench.local(dtype, 0, 4096 // size), bench.local(dtype, 4096, 8192 // size)
        bits_type = t.uint16 if size == 2 else t.uint32
        bits = bench.local(bits_type, 12800, 1024 // size)
        if not isinstance(pattern, int):
            bench.view(bits)[:] = random_bytes(1024, pattern[1]).view(bits_type.numpy)
        expected = bytearray(bench.ub.tobytes())
        kept, read = 0, set()
        for repeat in range(repeats):
            for i in range(width):
                at = 4096 + repeat * src_stride * 32 + i * size // 32 * block * 32 + i * size % 32
                read |= {at + k for k in range(size)}
                if isinstance(pattern, int):
                    keep = KEEPS[pattern](i)
                else:
                    at_bit = 12800 + repeat * bits_stride * 32 + i // 8
                    read.add(at_bit)
                    keep = bench.ub[at_bit] >> i % 8 & 1
                if keep:
                    expected[kept * size : kept * size + size] = bench.ub[at : at + size].tobytes()
                    kept += 1
        chosen = pattern if isinstance(pattern, int) else bits
        params = GatherMaskParams(block, repeats, src_stride, bits_stride)
        count = asc.gather_mask(dst, src, chosen, mask is not None, mask or 0, params)
        assert (int(count), int(asc.get_gather_mask_remain_count())) == (kept, kept)
        assert bench.ub.tobytes() == bytes(expected)
        instr = bench.core.instrs[0]
        work = instr.work
        assert isinstance(work, VectorWork)
        assert (work.elements, work.repeats) == (width * repeats, repeats * -(-width * size // 256))
        assert region_bytes(instr.reads) == {(int(Memory.UB), at) for at in read}
        most = kept if isinstance(pattern, int) else width * repeats
        assert region_bytes(instr.writes) == {(int(Memory.UB), at) for at in range(most * size)}


def test_documents_example_two_repeats_of_70() -> None:
    with Bench() as bench:
        src = bench.filled(t.uint32, 0, np.arange(256))
        bits = bench.filled(t.uint32, 2048, np.full(32, 0xFFFFFFFF))
        dst = bench.local(t.uint32, 4096, 256)
        assert asc.gather_mask(dst, src, bits, True, 70, GatherMaskParams(1, 2, 4, 0)) == 140
        assert bench.view(dst)[:140].tolist() == [*range(70), *range(32, 102)]


def test_in_place_and_registers_after_it() -> None:
    with Bench() as bench:
        x = bench.filled(t.float16, 0, np.arange(256))
        asc.set_mask_count()
        assert asc.gather_mask(x, x, 2, False, 0, GatherMaskParams(1, 2, 8, 0)) == 128
        assert bench.view(x)[:128].tolist() == list(range(1, 256, 2))
        assert RECORDER.state.mask_mode is asc.MaskMode.NORMAL
        assert RECORDER.state.mask == (0, 0)


def test_the_scalar_unit_reads_the_count_behind_the_instruction() -> None:
    with Bench() as bench:
        x, y = bench.filled(t.float16, 0, np.arange(128)), bench.local(t.float16, 512, 128)
        asc.gather_mask(y, x, 1, False, 0, GatherMaskParams())
        squeeze, count = bench.core.instrs
        assert (squeeze.pipe, count.pipe) == (PipeID.PIPE_V, PipeID.PIPE_S)
        assert count.work == ScalarWork(Memory.UB, 8, store=False)
        assert count.reads == squeeze.writes
        assert count.name == "GetGatherMaskRemainCount"


def test_without_values_a_fixed_pattern_still_counts() -> None:
    with Bench(values=False) as bench:
        x, y = bench.local(t.float16, 0, 128), bench.local(t.float16, 512, 128)
        bits = bench.local(t.uint16, 1024, 16)
        assert asc.gather_mask(y, x, 3, False, 0, GatherMaskParams()) == 32
        assert isinstance(asc.gather_mask(y, x, bits, False, 0, GatherMaskParams()), UnknownScalar)


def test_refusals() -> None:
    with Bench() as bench:
        x, y = bench.local(t.float16, 0, 256), bench.local(t.float16, 1024, 64)
        bits = bench.local(t.uint32, 2048, 64)

        def call(*arguments: Any) -> Any:
            return lambda: asc.gather_mask(*arguments)

        params = GatherMaskParams(1, 2, 8, 0)
        refused(
            call(y, x, 8, False, 0, params),
            "GatherMask: src1_pattern is 8, allowed are 1..7 (or a LocalTensor of bits)",
        )
        refused(
            call(y, x, bits, False, 0, params),
            "GatherMask: dst float16, src0 float16, src1_pattern uint32 is not supported on Ascend 910B / 910_93 (arch "
            "2201), allowed are int16 <- int16, uint16, uint16 <- uint16, uint16, float16 <- float16, uint16, bfloat16 "
            "<- bfloat16, uint16, int32 <- int32, uint32, uint32 <- uint32, uint32, float32 <- float32, uint32",
        )
        refused(
            call(y, x, 1, False, 0, params),
            "GatherMask: dst needs 256 B from UB byte 1024 on, but the tensor holds 64 elements of float16 (128 B)",
        )
        refused(call(y, x, 3, True, 0, params), "GatherMask: mask is 0, allowed are 1..4294967295")
        refused(
            call(x[16:], x, 1, False, 0, params),
            "GatherMask: src0 overlaps dst so that elements are overwritten before they are read; keep them apart",
        )
        refused(
            call(y, x, 1, False, 0, GatherMaskParams(1, 1, 65536, 0)),
            "GatherMask: GatherMaskParams.src0_repeat_stride is 65536, allowed are 0..65535",
        )
        refused(call(y, x, 1, 1, 0, params), "GatherMask: reduce_mode must be True or False, not 1")
        assert not bench.core.instrs


@pytest.mark.parametrize("pattern", [1, 2, 3, 4, 5, 6, 7])
def test_no_repeat_does_nothing(pattern: int) -> None:
    with Bench() as bench:
        x, y = bench.filled(t.float32, 0, np.arange(64)), bench.local(t.float32, 512, 64)
        before = bench.ub.tobytes()
        assert asc.gather_mask(y, x, pattern, False, 0, GatherMaskParams(1, 0, 8, 0)) == 0
        assert bench.ub.tobytes() == before


def test_a_repeat_of_many_elements_is_read_256_bytes_at_a_time() -> None:
    """The bank model sees the same reads, whether one repeat holds all elements or each holds 256 B of them."""
    with Bench(ub_bytes=UB_BYTES) as bench:
        dst, src = bench.local(t.float32, 0, 512), bench.local(t.float32, 4096, 1024)
        works = []
        for mode, mask, params in ((True, 1024, (1, 1, 0, 0)), (False, 0, (1, 16, 8, 0))):
            asc.gather_mask(dst, src, 1, mode, mask, GatherMaskParams(*params))
            works.append(bench.core.instrs[-2].work)  # the reading of the count follows
        assert works[0] == works[1]
        assert [access.blocks for access in works[0].accesses] == [8, 8]
