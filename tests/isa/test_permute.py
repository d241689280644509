"""transpose and trans_data_to_5hd in all their forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from isa_bench import Bench, random_bytes, refused, region_bytes, some

from ascend_sim import asc
from ascend_sim.asc.params import TransDataTo5HDParams, TransposeParamsExt
from ascend_sim.isa import dtypes as t
from ascend_sim.isa.dtypes import DataType
from ascend_sim.program import BarrierWork, Memory, VectorWork

UB_BYTES = 1 << 15
LAYOUT = (t.int8, t.uint8, t.int16, t.uint16, t.float16, t.int32, t.uint32, t.float32)


@pytest.mark.parametrize("dtype", [t.int16, t.uint16, t.float16])
@pytest.mark.parametrize("in_place", [False, True])
def test_square(dtype: DataType, in_place: bool) -> None:
    with Bench() as bench:
        src = bench.filled(dtype, 0, np.arange(256))
        dst = src if in_place else bench.local(dtype, 512, 256)
        asc.transpose(dst, src)
        assert (bench.view(dst).reshape(16, 16) == np.arange(256).reshape(16, 16).T).all()
        work = bench.last.work
        assert isinstance(work, VectorWork)
        assert (work.elements, work.repeats) == (256, 2)


def turned(
    ub: bytes, dtype: DataType, dst: list[int], src: list[int], dst_high: bool, src_high: bool
) -> dict[int, int]:
    """Byte address -> byte written by one repeat."""
    size = dtype.itemsize
    found = {}
    for j in range(8 if size == 4 else 16):
        for k in range(16):
            at = src[k] + j * size + (16 if src_high else 0)
            to = dst[2 * j + k // 8] + k % 8 * 4 if size == 4 else dst[j] + k * size + (16 if dst_high else 0)
            for byte in range(size):
                found[to + byte] = ub[at + byte]
    return found


@some(60)
@given(
    st.sampled_from(LAYOUT),
    st.integers(1, 4),
    st.tuples(st.integers(16, 20), st.integers(0, 20)),
    st.booleans(),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_5hd(dtype: DataType, repeats: int, strides: tuple[int, int], high: bool, low: bool, random: Any) -> None:
    high, low = high and dtype.itemsize == 1, low and dtype.itemsize == 1
    with Bench(ub_bytes=UB_BYTES) as bench:
        bench.ub[:] = random_bytes(UB_BYTES, 8)
        before = bench.ub.tobytes()
        whole = bench.local(dtype, 0, UB_BYTES // dtype.itemsize)
        per_block = 32 // dtype.itemsize
        dst_blocks, src_blocks = random.sample(range(16), 16), random.sample(range(512, 900), 16)
        expected = bytearray(before)
        written = set()
        for repeat in range(repeats):
            move = repeat if repeats > 1 else 1
            to = [(block + move * strides[0]) * 32 for block in dst_blocks]
            at = [(block + move * strides[1]) * 32 for block in src_blocks]
            for address, value in turned(before, dtype, to, at, high, low).items():
                expected[address] = value
                written.add((int(Memory.UB), address))
        asc.trans_data_to_5hd(
            [whole[block * per_block] for block in dst_blocks],
            [whole[block * per_block] for block in src_blocks],
            TransDataTo5HDParams(high, low, repeats, *strides),
        )
        assert bench.ub.tobytes() == bytes(expected)
        assert region_bytes(bench.last.writes) == written


@pytest.mark.parametrize("form", ["tensors", "addresses", "address tensors"])
def test_nchw_to_nc1hwc0(form: str) -> None:
    """The documents' second use: (2, 32, 16, 16) into blocks of 16 channels, four calls of 16 repeats."""
    x = np.random.default_rng(1).integers(0, 999, (2, 32, 16, 16)).astype(np.int16)
    with Bench() as bench:
        src, dst = bench.filled(t.int16, 0, x.reshape(-1)), bench.local(t.int16, 32768, x.size)
        params = TransDataTo5HDParams(False, False, 16, 16, 1)
        for j in range(4):
            to = [dst[j * 4096 + i * 16] for i in range(16)]
            at = [src[j * 4096 + i * 256] for i in range(16)]
            if form == "tensors":
                asc.trans_data_to_5hd(to, at, params)
                continue
            to_bytes, at_bytes = [view.get_phy_addr() for view in to], [view.get_phy_addr() for view in at]
            if form == "addresses":
                asc.trans_data_to_5hd(to_bytes, at_bytes, params)
            else:
                asc.trans_data_to_5hd(
                    bench.filled(t.uint64, 131072, to_bytes), bench.filled(t.uint64, 131200, at_bytes), params
                )
        expected = x.reshape(2, 2, 16, 16, 16).transpose(0, 1, 3, 4, 2)
        assert (bench.view(dst) == expected.reshape(-1)).all()


SHAPES = ((1, 16, 4, 8), (2, 3, 8, 4), (1, 5, 8, 5))
WHOLE_BLOCKS = [(d, shape) for d in LAYOUT for shape in SHAPES if shape[2] * shape[3] * d.itemsize % 32 == 0]


@pytest.mark.parametrize("to_nhwc", [True, False])
@pytest.mark.parametrize(("dtype", "shape"), WHOLE_BLOCKS)
def test_layouts(dtype: DataType, to_nhwc: bool, shape: tuple[int, int, int, int]) -> None:
    n, c, h, w = shape
    with Bench() as bench:
        raw = random_bytes(n * c * h * w * dtype.itemsize, 3).view(f"u{dtype.itemsize}")
        src = bench.local(dtype, 0, raw.size)
        bench.view(src)[:] = raw.view(dtype.numpy)
        dst, temporary = bench.local(dtype, 8192, raw.size), bench.local(t.uint8, 32768, 64000)
        kind = asc.TransposeType.TRANSPOSE_NCHW2NHWC if to_nhwc else asc.TransposeType.TRANSPOSE_NHWC2NCHW
        asc.transpose(dst, src, temporary, TransposeParamsExt(n, c, h, w, kind))
        expected = (
            raw.reshape(n, c, h, w).transpose(0, 2, 3, 1) if to_nhwc else raw.reshape(n, h, w, c).transpose(0, 3, 1, 2)
        )
        assert (bench.view(dst).view(raw.dtype) == expected.reshape(-1)).all()
        names = {instr.name for instr in bench.core.instrs}
        assert names == {"TransDataTo5HD", "DataCopy", "PipeBarrier"}
        barriers = sum(isinstance(instr.work, BarrierWork) for instr in bench.core.instrs)
        assert 2 * barriers == len(bench.core.instrs)
        assert {instr.place.file for instr in bench.core.instrs if instr.place} == {__file__}


def test_layout_of_many_channels_takes_several_spreads() -> None:
    n, c, h, w = 1, 260, 4, 4
    with Bench() as bench:
        raw = random_bytes(c * h * w * 2, 3).view(np.uint16)
        src, dst = bench.filled(t.uint16, 0, raw), bench.local(t.uint16, 16384, raw.size)
        temporary = bench.local(t.uint8, 32768, 140000)
        kind = asc.TransposeType.TRANSPOSE_NCHW2NHWC
        asc.transpose(dst, src, temporary, TransposeParamsExt(n, c, h, w, kind))
        assert (bench.view(dst).reshape(h, w, c) == raw.reshape(c, h, w).transpose(1, 2, 0)).all()


def test_square_by_params_and_empty_layout() -> None:
    with Bench() as bench:
        src, dst = bench.filled(t.uint16, 0, np.arange(256)), bench.local(t.uint16, 512, 256)
        temporary = bench.local(t.uint8, 4096, 64)
        asc.transpose(dst, src, temporary, TransposeParamsExt(0, 0, 16, 16, asc.TransposeType.TRANSPOSE_ND2ND_B16))
        assert (bench.view(dst).reshape(16, 16) == np.arange(256).reshape(16, 16).T).all()
        issued = len(bench.core.instrs)
        asc.transpose(dst, src, temporary, TransposeParamsExt(1, 0, 4, 4, asc.TransposeType.TRANSPOSE_NCHW2NHWC))
        assert len(bench.core.instrs) == issued


def test_transpose_refusals() -> None:
    with Bench() as bench:
        x, y = bench.local(t.float16, 0, 256), bench.local(t.float16, 512, 256)
        temporary = bench.local(t.uint8, 4096, 1024)
        kind = asc.TransposeType.TRANSPOSE_NCHW2NHWC
        refused(
            lambda: asc.transpose(x[16:], y),
            "Transpose: dst needs 512 B from UB byte 32 on, but the tensor holds 240 elements of float16 (480 B)",
        )
        refused(
            lambda: asc.transpose(bench.local(t.float16, 32, 256), x),
            "Transpose: src (UB byte 0 on) and dst (UB byte 32 on) must be equal or disjoint",
        )
        refused(
            lambda: asc.transpose(bench.local(t.float32, 2048, 256), bench.local(t.float32, 0, 256)),
            "Transpose: dst float32, src float32 is not supported on Ascend 910B / 910_93 (arch 2201), allowed are "
            "int16, uint16, float16",
        )
        refused(
            lambda: asc.transpose(y, x, temporary, TransposeParamsExt(1, 16, 4, 4, kind)),
            "Transpose: shared_tmp_buffer needs 9216 B from UB byte 4096 on, but the tensor holds 1024 elements of "
            "uint8 (1024 B)",
        )
        refused(
            lambda: asc.transpose(y, x, temporary, TransposeParamsExt(1, 16, 3, 4, kind)),
            "Transpose: h_size * w_size is 12 elements of float16 (24 B), allowed are multiples of 32 B",
        )
        refused(
            lambda: asc.transpose(
                y, x, temporary, TransposeParamsExt(1, 16, 4, 4, asc.TransposeType.TRANSPOSE_ND_UB_GM)
            ),
            "Transpose: transpose_type is TRANSPOSE_ND_UB_GM, allowed are TRANSPOSE_ND2ND_B16, TRANSPOSE_NCHW2NHWC, "
            "TRANSPOSE_NHWC2NCHW",
        )
        refused(lambda: asc.transpose(y, x, temporary, 3), "Transpose: params must be TransposeParamsExt, not int")
        assert not bench.core.instrs


def test_5hd_refusals() -> None:
    with Bench() as bench:
        x = bench.local(t.float16, 0, 4096)
        sources, targets = [x[i * 16] for i in range(16)], [x[1024 + i * 16] for i in range(16)]
        refused(
            lambda: asc.trans_data_to_5hd(targets[:3], sources, TransDataTo5HDParams()),
            "TransDataTo5HD: dst_list must be a list of 16 LocalTensors or addresses, given: 3 items",
        )
        refused(
            lambda: asc.trans_data_to_5hd(targets, sources, TransDataTo5HDParams(True, False, 1, 0, 0)),
            "TransDataTo5HD: dst_high_half is for 8-bit types, the tensors hold float16",
        )
        refused(
            lambda: asc.trans_data_to_5hd([x[64 + i * 16] for i in range(16)], sources, TransDataTo5HDParams()),
            "TransDataTo5HD: in repeat 0 src and dst share some blocks, allowed are all 16 or none",
        )
        refused(
            lambda: asc.trans_data_to_5hd(targets, sources, TransDataTo5HDParams(False, False, 4, 1, 64)),
            "TransDataTo5HD: repeat 1 reads blocks that an earlier repeat has written: keep src and dst apart",
        )
        refused(
            lambda: asc.trans_data_to_5hd(list(range(0, 512, 32)), list(range(512, 1024, 32)), TransDataTo5HDParams()),
            "TransDataTo5HD: the element type at address 0 is not known: take addresses from get_phy_addr() of a "
            "tensor",
        )
        refused(
            lambda: asc.trans_data_to_5hd(x, x, TransDataTo5HDParams()),
            "TransDataTo5HD: dst is float16: a tensor of addresses is uint64 (else give lists of tensors)",
        )
        refused(
            lambda: asc.trans_data_to_5hd(targets, sources, None),
            "TransDataTo5HD: params must be TransDataTo5HDParams, not NoneType",
        )
        assert not bench.core.instrs
    with Bench(values=False) as bench:
        addresses = bench.local(t.uint64, 0, 16)
        refused(
            lambda: asc.trans_data_to_5hd(addresses, addresses, TransDataTo5HDParams()),
            "TransDataTo5HD: dst holds addresses, which a run without values does not know: pass lists of tensors",
        )
