"""What register instructions compute, against plain numpy on the same lanes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from reg_bench import VfBench, same_bits

from ascend_sim import asc
from ascend_sim.asc import reg
from ascend_sim.errors import KernelError
from ascend_sim.isa.numeric import flush_subnormals

RNG = np.random.default_rng(7)
F32, F16, BF16 = asc.float32, asc.float16, asc.bfloat16


def halves(n: int) -> Any:
    """Random halves, subnormals, infinities and NaN among them."""
    data = RNG.normal(0, 3, n).astype(np.float16)
    data[:6] = [np.inf, -np.inf, np.nan, 6e-8, -3e-5, 0.0]
    return data


@asc.vf
def binary_vf(call: Any, dst: Any, a: Any, b: Any, dtype: Any, count: int, merging: bool) -> None:
    x, y = reg.RegTensor(dtype), reg.RegTensor(dtype)
    mask = reg.update_mask(dtype, reg.Counter(count))
    reg.load_align(x, a)
    reg.load_align(y, b)
    mode = reg.MaskMergeMode.MERGING if merging else reg.MaskMergeMode.ZEROING
    call(y, x, y, mask, mode)
    reg.store_align(dst, y, reg.create_mask(dtype))


@pytest.mark.parametrize("dtype", [F32, F16, BF16, asc.int32, asc.int16, asc.uint16], ids=str)
@pytest.mark.parametrize(
    ("call", "ufunc"),
    [(reg.add, np.add), (reg.sub, np.subtract), (reg.mul, np.multiply), (reg.max, np.maximum), (reg.min, np.minimum)],
)
@pytest.mark.parametrize("merging", [False, True])
def test_binary(dtype: Any, call: Any, ufunc: Any, merging: bool) -> None:
    lanes = 256 // dtype.itemsize
    if dtype.is_float:
        a, b = (RNG.normal(0, 100, lanes).astype(dtype.numpy) for _ in range(2))
        a[:3] = [np.inf, np.nan, 0.0]
    else:
        info = np.iinfo(dtype.numpy)
        a, b = (RNG.integers(info.min, info.max, lanes, dtype.numpy, endpoint=True) for _ in range(2))
    wide = np.float32 if dtype.itemsize == 2 and dtype.is_float else dtype.numpy
    with np.errstate(all="ignore"):
        wanted = ufunc(a.astype(wide), b.astype(wide)).astype(dtype.numpy)
    wanted = np.where(np.arange(lanes) < 21, wanted, b if merging else np.zeros(lanes, dtype.numpy))
    with VfBench() as bench:
        operands = [bench.local(dtype, 512 * i, data) for i, data in enumerate((a, a, b))]
        binary_vf(call, *operands, dtype, 21, merging)
        assert same_bits(bench.of(operands[0]), wanted)


@asc.vf
def round_trip_vf(dst: Any, src: Any, dtype: Any, factor: float, count: int, layout: Any) -> None:
    narrow, wide = reg.RegTensor(dtype), reg.RegTensor(F32)
    left = reg.Counter(count)
    up = reg.CastTrait(round_mode=asc.RoundMode.CAST_NONE)
    down = reg.CastTrait(layout=layout)
    for i in asc.range(asc.ceildiv(count, 64)):
        mask = reg.update_mask(F32, left)
        reg.load_align(narrow, src + i * 64, dist=reg.LoadDist.DIST_UNPACK_B16)
        reg.cast(wide, narrow, mask, up)
        reg.muls(wide, wide, factor, mask)
        reg.cast(narrow, wide, mask, down)
        reg.store_align(dst + i * 64, narrow, mask, dist=reg.StoreDist.DIST_PACK_B32)


@pytest.mark.parametrize("dtype", [F16, BF16], ids=str)
def test_widen_compute_narrow(dtype: Any) -> None:
    data = halves(200).astype(dtype.numpy)
    with VfBench() as bench:
        src, dst = bench.local(dtype, 0, data), bench.local(dtype, 1024, np.full(224, 9))
        round_trip_vf(dst, src, dtype, 1 / 3, 200, reg.RegLayout.ZERO)
        flushed = flush_subnormals(data).astype(np.float32)
        wanted = flush_subnormals((flushed * np.float32(1 / 3)).astype(dtype.numpy))
        assert same_bits(bench.of(dst)[:200], wanted)
        assert (bench.of(dst)[200:] == 9).all()


def test_the_upper_layout_lands_between_the_packed_lanes() -> None:
    with VfBench() as bench:
        src, dst = bench.local(F16, 0, halves(64)), bench.local(F16, 1024, np.full(64, 9))
        round_trip_vf(dst, src, F16, 1.0, 64, reg.RegLayout.ONE)
        assert (bench.of(dst) == 0).all()


def interleaved(x: Any, cos: Any, sin: Any) -> Any:
    """Rotation of neighbours with the rounding of the instructions."""
    turned = np.empty_like(x)
    turned[:, ::2], turned[:, 1::2] = -x[:, 1::2], x[:, ::2]
    return x * cos + turned * sin


@asc.vf
def rope_vf(out: Any, x: Any, cos: Any, sin: Any, rows: int, heads: int, width: int) -> None:
    one, two, even, odd = (reg.RegTensor(F32) for _ in range(4))
    c0, c1, s0, s1 = (reg.RegTensor(F32) for _ in range(4))
    everything = reg.create_mask(F32)
    for row in asc.range(rows):
        for head in asc.range(heads):
            for pair in asc.range(width // 128):
                at = (row * heads + head) * width + pair * 128
                table = row * width + pair * 128
                for register, source in ((one, x + at), (c0, cos + table), (s0, sin + table)):
                    reg.load_align(register, source)
                for register, source in ((two, x + at), (c1, cos + table), (s1, sin + table)):
                    reg.load_align(register, source + 64)
                reg.mul(c0, c0, one, everything)
                reg.mul(c1, c1, two, everything)
                reg.de_interleave(even, odd, one, two)
                reg.muls(odd, odd, -1.0, everything)
                reg.interleave(one, two, odd, even)
                reg.mul(s0, s0, one, everything)
                reg.add(c0, c0, s0, everything)
                reg.mul(s1, s1, two, everything)
                reg.add(c1, c1, s1, everything)
                reg.store_align(out + at, c0, everything)
                reg.store_align(out + at + 64, c1, everything)


def test_rotation_of_neighbours_over_three_loops() -> None:
    rows, heads, width = 3, 5, 256
    x = RNG.normal(size=(rows * heads, width)).astype(np.float32)
    cos, sin = (RNG.normal(size=(rows, width)).astype(np.float32) for _ in range(2))
    with VfBench() as bench:
        tensors = [bench.local(F32, 40_000 * i // 32 * 32, data) for i, data in enumerate((x, x, cos, sin))]
        rope_vf(*tensors, rows, heads, width)
        wanted = interleaved(x, np.repeat(cos, heads, 0), np.repeat(sin, heads, 0))
        assert same_bits(bench.of(tensors[0]), wanted.reshape(-1))
        assert bench.last.name == "rope_vf"
        work: Any = bench.last.work
        assert work.instructions == 1 + rows * heads * (width // 128) * 17


@asc.vf
def load_vf(dst: Any, src: Any, dtype: Any, dist: Any, two: bool) -> None:
    x, y = reg.RegTensor(dtype), reg.RegTensor(dtype)
    everything = reg.create_mask(dtype)
    if two:
        reg.load_align(x, y, src, dist=dist)
        reg.store_align(dst + x.lanes, y, everything)
    else:
        reg.load_align(x, src, dist=dist)
    reg.store_align(dst, x, everything)


def blocks(x: Any) -> Any:
    return x.reshape(-1, 32 // x.itemsize)


LOADS: dict[Any, tuple[Any, Any]] = {
    reg.LoadDist.DIST_NORM: (F32, lambda x, n: x[:n]),
    reg.LoadDist.DIST_BRC_B16: (F16, lambda x, n: np.full(n, x[0])),
    reg.LoadDist.DIST_BRC_B32: (F32, lambda x, n: np.full(n, x[0])),
    reg.LoadDist.DIST_US_B16: (F16, lambda x, n: np.repeat(x[: n // 2], 2)),
    reg.LoadDist.DIST_DS_B16: (F16, lambda x, n: x[: 2 * n : 2]),
    reg.LoadDist.DIST_UNPACK_B16: (asc.uint16, lambda x, n: np.stack([x[: n // 2], np.zeros(n // 2)], -1).reshape(-1)),
    reg.LoadDist.DIST_UNPACK4_B8: (asc.uint8, lambda x, n: np.pad(x[: n // 4, None], ((0, 0), (0, 3))).reshape(-1)),
    reg.LoadDist.DIST_BLK: (F32, lambda x, n: np.tile(x[:8], 8)),
    reg.LoadDist.DIST_E2B_B32: (F32, lambda x, n: np.repeat(x[:8], 8)),
    reg.LoadDist.DIST_E2B_B16: (F16, lambda x, n: np.repeat(x[:8], 16)),
    reg.LoadDist.DIST_DINTLV_B32: (F32, lambda x, n: np.concatenate([x[: 2 * n : 2], x[1 : 2 * n : 2]])),
    reg.LoadDist.DIST_BDINTLV: (
        F16,
        lambda x, n: np.concatenate([blocks(x[: 2 * n])[::2].reshape(-1), blocks(x[: 2 * n])[1::2].reshape(-1)]),
    ),
}


@pytest.mark.parametrize("dist", LOADS, ids=lambda dist: dist.name)
def test_load_distributions(dist: Any) -> None:
    dtype, wanted = LOADS[dist]
    lanes = 256 // dtype.itemsize
    data = RNG.integers(0, 200, 2 * lanes).astype(dtype.numpy)
    with VfBench() as bench:
        src, dst = bench.local(dtype, 4096, data), bench.local(dtype, 0, np.zeros(2 * lanes))
        load_vf(dst, src, dtype, dist, "INTLV" in dist.name)
        expected = wanted(data, lanes).astype(dtype.numpy)
        assert same_bits(bench.of(dst)[: len(expected)], expected)


@asc.vf
def store_vf(dst: Any, a: Any, b: Any, dtype: Any, count: int, dist: Any, two: bool) -> None:
    x, y = reg.RegTensor(dtype), reg.RegTensor(dtype)
    reg.load_align(x, a)
    reg.load_align(y, b)
    mask = reg.update_mask(dtype, reg.Counter(count))
    if two:
        reg.store_align(dst, x, y, mask, dist=dist)
    else:
        reg.store_align(dst, x, mask, dist=dist)


STORES: dict[Any, tuple[Any, int, Any]] = {
    reg.StoreDist.DIST_NORM: (F32, 37, lambda a, b: a[:37].view(np.uint8)),
    reg.StoreDist.DIST_FIRST_ELEMENT_B32: (F32, 37, lambda a, b: a[:1].view(np.uint8)),
    reg.StoreDist.DIST_PACK_B32: (asc.uint32, 37, lambda a, b: a[:37].astype(np.uint16).view(np.uint8)),
    reg.StoreDist.DIST_PACK_B16: (asc.uint16, 37, lambda a, b: a[:37].astype(np.uint8)),
    reg.StoreDist.DIST_PACK4_B32: (asc.uint32, 37, lambda a, b: a[:37].astype(np.uint8)),
    reg.StoreDist.DIST_INTLV_B16: (asc.uint16, 128, lambda a, b: np.stack([a, b], -1).reshape(-1).view(np.uint8)),
}


@pytest.mark.parametrize("dist", STORES, ids=lambda dist: dist.name)
def test_store_distributions(dist: Any) -> None:
    dtype, count, wanted = STORES[dist]
    lanes = 256 // dtype.itemsize
    a, b = (RNG.integers(0, 2**31, lanes).astype(dtype.numpy) for _ in range(2))
    with VfBench() as bench:
        sources = [bench.local(dtype, 4096 * (i + 1), data) for i, data in enumerate((a, b))]
        dst = bench.local(dtype, 0, np.zeros(2 * lanes))
        bench.ub[:512] = 0x5A
        store_vf(dst, *sources, dtype, count, dist, "INTLV" in dist.name)
        expected = wanted(a, b)
        assert (bench.ub[: len(expected)] == expected).all()
        assert (bench.ub[len(expected) : 512] == 0x5A).all()


@asc.vf
def block_copy_vf(dst: Any, src: Any, rows: int, stride: int) -> None:
    x = reg.RegTensor(F16)
    everything = reg.create_mask(F16)
    for row in asc.range(rows):
        reg.load_align(x, src + row * 128)
        reg.store_align(dst + row * 16, x, everything, block_stride=stride)


def test_block_stores_turn_rows_into_columns_of_blocks() -> None:
    data = RNG.normal(size=(6, 128)).astype(np.float16)
    with VfBench() as bench:
        src, dst = bench.local(F16, 8192, data), bench.local(F16, 0, np.zeros(8 * 9 * 16))
        block_copy_vf(dst, src, 6, 9)
        got = bench.of(dst).reshape(8, 9, 16)
        assert (got[:, :6] == data.reshape(6, 8, 16).transpose(1, 0, 2)).all()
        assert (got[:, 6:] == 0).all()


@asc.vf
def softmax_vf(dst: Any, src: Any, rows: int) -> None:
    x, top, total = (reg.RegTensor(F32) for _ in range(3))
    everything = reg.create_mask(F32)
    for row in asc.range(rows):
        reg.load_align(x, src + row * 64)
        reg.reduce(top, x, everything, reg.ReduceType.MAX)
        reg.duplicate(top, top, everything)
        reg.exp_sub(x, x, top, everything)
        reg.reduce(total, x, everything)
        reg.duplicate(total, total, everything)
        reg.div(x, x, total, everything)
        reg.store_align(dst + row * 64, x, everything)


def test_softmax_of_rows() -> None:
    data = RNG.normal(size=(9, 64)).astype(np.float32)
    with VfBench() as bench:
        tensor = bench.local(F32, 0, data)
        softmax_vf(tensor, tensor, 9)
        exps = np.exp((data - data.max(1, keepdims=True)).astype(np.float64))
        np.testing.assert_allclose(bench.of(tensor).reshape(9, 64), exps / exps.sum(1, keepdims=True), rtol=3e-7)


@asc.vf
def column_sum_vf(dst: Any, src: Any, rows: int, columns: int) -> None:
    total, x = reg.RegTensor(F32), reg.RegTensor(F32)
    everything = reg.create_mask(F32)
    for column in asc.range(columns):
        reg.duplicate(total, 0.0, everything)
        for row in asc.range(rows):
            reg.load_align(x, src + (row * columns + column) * 64)
            reg.add(total, total, x, everything)
        reg.store_align(dst + column * 64, total, everything)


def test_a_register_that_is_carried_round_by_round() -> None:
    data = RNG.normal(size=(7, 3 * 64)).astype(np.float32)
    wanted = np.zeros(3 * 64, np.float32)
    for row in data:
        wanted = wanted + row
    with VfBench() as bench:
        src, dst = bench.local(F32, 0, data), bench.local(F32, 8192, np.zeros(3 * 64))
        column_sum_vf(dst, src, 7, 3)
        assert same_bits(bench.of(dst), wanted)


@asc.vf
def running_vf(data: Any, rounds: int) -> None:
    x, y = reg.RegTensor(F32), reg.RegTensor(F32)
    everything = reg.create_mask(F32)
    for i in asc.range(rounds):
        reg.load_align(x, data + i * 64)
        reg.load_align(y, data + (i + 1) * 64)
        reg.add(y, x, y, everything)
        reg.store_align(data + (i + 1) * 64, y, everything)
        reg.local_mem_bar(reg.MemType.VEC_STORE, reg.MemType.VEC_LOAD)


def test_a_round_that_reads_what_the_one_before_wrote() -> None:
    data = RNG.normal(size=(6, 64)).astype(np.float32)
    with VfBench() as bench:
        tensor = bench.local(F32, 0, data)
        running_vf(tensor, 5)
        for i in range(5):
            data[i + 1] = data[i] + data[i + 1]
        assert same_bits(bench.of(tensor), data.reshape(-1))


@asc.vf
def clip_vf(dst: Any, src: Any, limit: float) -> None:
    x, y = reg.RegTensor(F32), reg.RegTensor(F32)
    everything = reg.create_mask(F32)
    reg.load_align(x, src)
    above = reg.compares(x, limit, everything, asc.CMPMODE.GT)
    reg.duplicate(y, limit, everything)
    reg.select(x, y, x, above)
    reg.store_align(dst, x, reg.mask_not(above, everything))


def test_compare_select_and_masks_that_data_decides() -> None:
    data = RNG.normal(size=64).astype(np.float32)
    with VfBench() as bench:
        src, dst = bench.local(F32, 0, data), bench.local(F32, 256, np.full(64, 9))
        clip_vf(dst, src, 0.5)
        assert same_bits(bench.of(dst), np.where(data > 0.5, np.float32(9), data))


@asc.vf
def permute_vf(dst: Any, src: Any, numbers: Any, rounds: int) -> None:
    x, index = reg.RegTensor(F32), reg.RegTensor(asc.uint32)
    everything = reg.create_mask(F32)
    for i in asc.range(rounds):
        reg.load_align(index, numbers + i * 64)
        reg.gather(x, src, index, everything)
        reg.adds(x, x, 1.0, everything)
        reg.scatter(dst, x, index, everything)


def test_gather_and_scatter() -> None:
    data = RNG.normal(size=256).astype(np.float32)
    order = RNG.permutation(256)
    with VfBench() as bench:
        src, dst = bench.local(F32, 0, data), bench.local(F32, 1024, np.zeros(256))
        permute_vf(dst, src, bench.local(asc.uint32, 2048, order), 4)
        assert same_bits(bench.of(dst), data + np.float32(1))


def test_subnormals_are_zero_with_their_sign() -> None:
    tiny = np.array([1e-40, -1e-40, 2e-38, 0.0, -0.0, 1.5], ml_dtypes.bfloat16)
    with VfBench() as bench:
        a = bench.local(BF16, 0, np.resize(tiny, 128))
        b = bench.local(BF16, 512, np.full(128, 1.0))
        binary_vf(reg.mul, a, a, b, BF16, 128, False)
        wanted = np.array([0.0, -0.0, 2e-38, 0.0, -0.0, 1.5], ml_dtypes.bfloat16)
        assert same_bits(bench.of(a)[:6], wanted)
        assert tiny.tobytes() != wanted.tobytes()


@asc.vf
def store_behind_vf(dst: Any, count: int) -> None:
    x = reg.RegTensor(F32)
    reg.load_align(x, dst)
    reg.store_align(dst + 64, x, reg.update_mask(F32, reg.Counter(count)))


def test_a_store_with_an_empty_mask_may_point_behind_its_tensor() -> None:
    with VfBench() as bench:
        one, other = bench.local(F32, 0, np.ones(64)), bench.local(F32, 256, np.zeros(64))
        store_behind_vf(one, 0)
        assert not bench.of(other).any()
        with pytest.raises(KernelError, match=r"writes UB bytes 256\.\.259, but its tensor holds bytes 0\.\.255 "):
            store_behind_vf(one, 1)


@asc.vf
def pack_vf(dst: Any, src: Any, part: Any) -> None:
    wide, narrow = reg.RegTensor(asc.int32), reg.RegTensor(asc.uint16)
    reg.load_align(wide, src)
    reg.pack(narrow, wide, part)
    reg.store_align(dst, narrow, reg.create_mask(asc.uint16))


@asc.vf
def unpack_vf(dst: Any, src: Any, part: Any) -> None:
    wide, narrow = reg.RegTensor(asc.int32), reg.RegTensor(asc.int16)
    reg.load_align(narrow, src)
    reg.unpack(wide, narrow, part)
    reg.store_align(dst, wide, reg.create_mask(asc.int32))


@pytest.mark.parametrize("part", list(reg.HighLowPart))
def test_pack_and_unpack(part: Any) -> None:
    words = RNG.integers(-(2**31), 2**31 - 1, 64).astype(np.int32)
    shorts = RNG.integers(-(2**15), 2**15 - 1, 128).astype(np.int16)
    high = part is reg.HighLowPart.HIGHEST
    with VfBench() as bench:
        dst = bench.local(asc.uint16, 0, np.full(128, 7))
        pack_vf(dst, bench.local(asc.int32, 1024, words), part)
        low, zeros = words.astype(np.uint16), np.zeros(64, np.uint16)
        assert (bench.of(dst) == np.concatenate([zeros, low] if high else [low, zeros])).all()
        wide = bench.local(asc.int32, 2048, np.zeros(64))
        unpack_vf(wide, bench.local(asc.int16, 4096, shorts), part)
        assert (bench.of(wide) == shorts[64 if high else 0 :][:64]).all()
