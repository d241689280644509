"""Run-time scalars as arguments: a call costs and does what it does with plain ints, whichever argument they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from asc_bench import calls, record

from ascend_sim import asc
from ascend_sim.program import CopyWork, Instr, VectorWork

Wrap = Callable[[int], int]
UB = asc.TPosition.VECCALC


def plain(value: int) -> int:
    return value


def runtime(value: int) -> int:
    return asc.number(value, asc.int32)


def half(n: Wrap, addr: int, size: int = 256) -> asc.LocalTensor:
    return asc.LocalTensor(asc.float16, UB, n(addr), n(size))


def single(n: Wrap, addr: int, size: int = 128) -> asc.LocalTensor:
    return asc.LocalTensor(asc.float32, UB, n(addr), n(size))


def binary(n: Wrap, _: Any) -> None:
    strides = asc.BinaryRepeatParams(*(n(v) for v in (1, 1, 1, 8, 8, 8)))
    asc.add(half(n, 0), half(n, 512), half(n, 1024), n(128), n(2), strides)
    asc.add(half(n, 0)[n(16) :], half(n, 512)[n(16)], half(n, 1024), n(100))


def bits(n: Wrap, _: Any) -> None:
    asc.mul(half(n, 0), half(n, 512), half(n, 1024), [n(21), n(255)], n(2), asc.BinaryRepeatParams())


def scalars(n: Wrap, _: Any) -> None:
    asc.adds(half(n, 0), half(n, 512), 2.0, n(100))
    asc.leaky_relu(half(n, 0), half(n, 512), 0.5, n(64), n(2), asc.UnaryRepeatParams(n(1), n(1), n(8), n(8)))
    asc.axpy(half(n, 0), half(n, 512), 2.0, n(64))


def unary(n: Wrap, _: Any) -> None:
    asc.exp(half(n, 0), half(n, 512), n(100))
    asc.cast(single(n, 0), half(n, 512), asc.RoundMode.CAST_NONE, n(100))
    asc.cast(half(n, 0), single(n, 512), asc.RoundMode.CAST_RINT, n(64), n(2), asc.UnaryRepeatParams(n(1), n(1), n(4)))


def fills(n: Wrap, _: Any) -> None:
    asc.duplicate(half(n, 0), 1.0, n(100))
    asc.duplicate(half(n, 0), 1.0, n(100), n(2), n(1), n(8))
    asc.copy(half(n, 0), half(n, 512), n(128), n(2), asc.CopyRepeatParams(n(1), n(1), n(8), n(8)))
    asc.brcb(half(n, 0), half(n, 512), n(2), asc.BrcbRepeatParams(n(1), n(8)))


def gathers(n: Wrap, _: Any) -> None:
    offsets = asc.LocalTensor(asc.uint32, UB, n(2048), n(128))
    asc.duplicate(offsets, 0, 128)
    asc.gather(half(n, 0), half(n, 512), offsets, n(64), n(100))
    asc.gather(half(n, 0), half(n, 512), offsets, n(0), n(64), n(1), n(8))
    words = (single(n, addr).reinterpret_cast(asc.uint32) for addr in (0, 512))
    asc.gatherb(*words, offsets, n(2), asc.GatherRepeatParams(n(1), n(8)))
    asc.gather_mask(half(n, 0), half(n, 512), n(2), True, n(100), asc.GatherMaskParams(n(1), n(2), n(8), n(8)))


def comparing(n: Wrap, _: Any) -> None:
    bitmap = asc.LocalTensor(asc.uint8, UB, n(4096), n(32))
    asc.compare(bitmap, half(n, 0), half(n, 512), asc.CMPMODE.LT, n(256))
    asc.compare_scalar(bitmap, half(n, 0), 1.0, asc.CMPMODE.LT, n(256))
    asc.select(half(n, 1024), bitmap, half(n, 0), 2.0, asc.SelMode.VSEL_TENSOR_SCALAR_MODE, n(256))


def reducing(n: Wrap, _: Any) -> None:
    asc.whole_reduce_sum(half(n, 0), half(n, 512), n(128), n(2), n(1), n(1), n(8))
    asc.whole_reduce_max(half(n, 0), half(n, 512), n(128), n(2), n(1), n(1), n(8))
    asc.block_reduce_max(half(n, 0), half(n, 512), n(2), n(128), n(1), n(1), n(8))
    asc.pair_reduce_sum(half(n, 0), half(n, 512), n(2), n(128), n(1), n(1), n(8))
    asc.reduce_sum(half(n, 0), half(n, 512), half(n, 2048), n(200))
    asc.reduce_max(half(n, 0), half(n, 512), half(n, 2048), n(128), n(2), n(8))


def permuting(n: Wrap, _: Any) -> None:
    rows = [half(n, 0, 512)[n(16 * i)] for i in range(16)]
    columns = [half(n, 1024, 512)[n(16 * i)] for i in range(16)]
    asc.trans_data_to_5hd(columns, rows, asc.TransDataTo5HDParams(False, False, n(1), n(0), n(0)))


def transfers(n: Wrap, x: asc.GlobalAddress) -> None:
    gm = asc.GlobalTensor()
    gm.set_global_buffer(x + n(0), n(4096))
    asc.data_copy(half(n, 0), gm[512:], n(128))
    asc.data_copy(half(n, 0), gm, asc.DataCopyParams(n(2), n(4), n(4), n(0)))
    asc.data_copy(half(n, 0), half(n, 512), n(128))
    asc.data_copy(half(n, 0), half(n, 512), asc.DataCopyParams(n(2), n(1), n(1), n(1)))
    pad = asc.DataCopyPadExtParams(asc.float16, True, n(2), n(3), 1.0)
    asc.data_copy_pad(half(n, 0), gm, asc.DataCopyExtParams(n(2), n(20), n(20), n(0), n(0)), pad)
    asc.data_copy_pad(gm, half(n, 0), asc.DataCopyExtParams(n(2), n(20), n(1), n(20), n(0)))
    asc.set_flag(asc.HardEvent.MTE3_S, n(3))
    asc.wait_flag(asc.HardEvent.MTE3_S, n(3))


def framework(n: Wrap, x: asc.GlobalAddress) -> None:
    gm = asc.GlobalTensor()
    gm.set_global_buffer(x)
    pipe, queue, buf = asc.TPipe(), asc.TQue(asc.TPosition.VECIN, n(1)), asc.TBuf(UB)
    pool, pooled = asc.TBufPool(UB, n(4)), asc.TBuf(UB)
    pipe.init_buffer(queue, n(2), n(512))
    pipe.init_buffer(buf, n(1024))
    pipe.init_buf_pool(pool, n(1024))
    pool.init_buffer(pooled, n(512))
    tensor = queue.alloc_tensor(asc.float16)
    asc.data_copy(tensor, gm, n(256))
    queue.enque(tensor)
    tensor = queue.deque(asc.float16)
    part = buf.get(asc.float16, n(128))
    later = buf.get_with_offset(n(128), n(256), asc.float16)
    asc.add(part, tensor, later, n(128))
    part.set_size(n(64))
    asc.abs(part, later, n(64))
    asc.abs(pooled.get(asc.float16, n(64)), part, n(64))
    later.set_addr_with_offset(tensor, n(16))
    asc.abs(later, part, n(64))
    queue.free_tensor(tensor)


def allocator(n: Wrap, _: Any) -> None:
    shared = asc.LocalMemAllocator()
    first, second = (shared.alloc(UB, asc.float16, n(128)) for _ in range(2))
    asc.abs(first, second, n(100))


def elements(n: Wrap, x: asc.GlobalAddress) -> None:
    gm = asc.GlobalTensor()
    gm.set_global_buffer(x)
    half(n, 0).set_value(n(3), 1.0)
    half(n, 0).get_value(n(3))
    gm.set_value(n(3), 1.0)
    gm.get_value(n(3))


def masks(n: Wrap, _: Any) -> None:
    asc.set_vector_mask(n(0), n(255), dtype=asc.float16)
    asc.abs(half(n, 0), half(n, 512), n(1), n(2), asc.UnaryRepeatParams(), False)
    asc.set_mask_count()
    asc.set_vector_mask(length=n(100), dtype=asc.float16, mode=asc.MaskMode.COUNTER)
    asc.abs(half(n, 0), half(n, 512), n(1), n(2), asc.UnaryRepeatParams(), False)


BODIES = [
    binary, bits, scalars, unary, fills, gathers, comparing, reducing, permuting, transfers, framework, allocator,
    elements, masks,
]  # fmt: skip


def instructions(body: Callable[[Wrap, Any], None], wrap: Wrap) -> list[Instr]:
    def kernel(x: asc.GlobalAddress) -> None:
        body(wrap, x)

    return record(kernel, np.zeros(8192, np.float16)).blocks[0].instrs


def numbers(instr: Instr) -> list[Any]:
    """Every number that timing and reports may compute with."""
    found: list[Any] = []
    for region in (*instr.reads, *instr.writes):
        found += [region.start, region.length, *(n for dim in region.dims for n in dim)]
    if isinstance(instr.work, VectorWork):
        found += [instr.work.lanes, instr.work.repeats, instr.work.elements]
        for access in instr.work.accesses:
            found += [access.start, access.blocks, access.block_stride, access.repeat_stride]
    if isinstance(instr.work, CopyWork):
        found += [instr.work.blocks, instr.work.block_bytes, instr.work.gm_pitch_bytes]
    return found


@pytest.mark.parametrize("body", BODIES)
def test_the_simulators_own_arithmetic_is_not_charged(body: Callable[[Wrap, Any], None]) -> None:
    with_ints, with_scalars = instructions(body, plain), instructions(body, runtime)
    assert len(with_ints) == len(with_scalars) > 0
    for expected, found in zip(with_ints, with_scalars, strict=True):
        assert (found.name, found.detail, calls(found)) == (expected.name, expected.detail, calls(expected))
        assert (found.work, found.reads, found.writes) == (expected.work, expected.reads, expected.writes)
        assert {type(n) for n in numbers(found)} <= {int}, found
