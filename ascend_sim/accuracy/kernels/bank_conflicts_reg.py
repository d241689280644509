"""UB banks under register loads and stores: asc-devkit's bank_conflict_3510 sample, a vector function called over and
over between two counter reads."""

from __future__ import annotations

from typing import Any

from ascend_sim import asc
from ascend_sim.accuracy.kernels.case import Case
from ascend_sim.accuracy.rows import Row
from ascend_sim.asc import reg

LANES = 64
ADDITIONS = 64  # registers of each source
COPIES = 8
GATHERS = 4
DATA_AT = 0x400
COPY_TO = 0x4100
F32 = asc.float32


@asc.vf
def add_vf(dst: Any, a: Any, b: Any, unrolled: int) -> None:
    """dst = a + b, `unrolled` registers a round, from as many parts of the operands."""
    everything = reg.create_mask(F32)
    pairs = [(reg.RegTensor(F32), reg.RegTensor(F32)) for _ in range(unrolled)]
    part = ADDITIONS // unrolled
    for i in asc.range(part):
        places = [(i + part * k) * LANES for k in range(unrolled)]
        for (x, y), place in zip(pairs, places, strict=True):
            reg.load_align(x, a + place)
            reg.load_align(y, b + place)
        for x, y in pairs:
            reg.add(x, x, y, everything)
        for (x, _), place in zip(pairs, places, strict=True):
            reg.store_align(dst + place, x, everything)


@asc.vf
def copy_vf(dst: Any, src: Any, load_stride: int, store_stride: int, load_step: int, store_step: int) -> None:
    """Block by block with strides in blocks, rounds `*_step` elements apart."""
    everything = reg.create_mask(F32)
    x = reg.RegTensor(F32)
    for i in asc.range(COPIES):
        reg.load_align(x, src + i * load_step, block_stride=load_stride, mask=everything)
        reg.adds(x, x, 0.0, everything)
        reg.store_align(dst + i * store_step, x, everything, block_stride=store_stride)


@asc.vf
def permute_vf(data: Any, numbers: Any) -> None:
    """data[i] += 1 for the indices in `numbers`."""
    everything = reg.create_mask(F32)
    x, index = reg.RegTensor(F32), reg.RegTensor(asc.uint32)
    for i in asc.range(GATHERS):
        reg.load_align(index, numbers + i * LANES)
        reg.gather(x, data, index, everything)
        reg.adds(x, x, 1.0, everything)
        reg.scatter(data, x, index, everything)


@asc.jit
def call_over_and_over(limit: int, case: asc.ConstExpr[tuple[Any, ...]]) -> None:
    kind, *rest = case
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)
    for _ in range(int(limit)):
        if kind == "add":
            a, b, dst, unrolled = rest
            add_vf(*(local(at, ADDITIONS * LANES) for at in (dst, a, b)), unrolled)
        elif kind == "copy":
            copy_vf(local(COPY_TO, COPIES * LANES), local(0, COPIES * LANES), *rest)
        else:
            permute_vf(local(DATA_AT, GATHERS * LANES), local(0, GATHERS * LANES, asc.uint32))
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)


def local(at: int, size: int, dtype: Any = F32) -> asc.LocalTensor:
    return asc.LocalTensor(dtype, asc.TPosition.VECCALC, at, size)


def build(row: Row) -> Case:
    """`case`: ["add", src0, src1, dst, unrolled], ["copy", strides and steps of load and store] or ["permute"]."""
    case = tuple(row.params["case"])
    calls = row.params.get("calls", 1000)
    return Case(lambda limit: call_over_and_over[1](limit, case), calls, core_bound=True)
