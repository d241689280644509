"""gather_mask: keep the elements whose bit is set and pack them."""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from types import FrameType
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.asc import checks
from ascend_sim.asc.gathering import RAW
from ascend_sim.asc.issue import lanes_of, make_instr
from ascend_sim.asc.operands import fits, local, refuse, whole
from ascend_sim.asc.params import GatherMaskParams
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.regions import overlap
from ascend_sim.asc.scalars import UnknownScalar, number
from ascend_sim.asc.state import FULL_WORD, CoreState
from ascend_sim.asc.tensors import LocalTensor
from ascend_sim.asc.views import element_indices, typed
from ascend_sim.asc.walk import Bytes, Layout, Walk
from ascend_sim.isa.dtypes import DataType, uint8, uint64
from ascend_sim.isa.enums import GatherMaskMode, MaskMode
from ascend_sim.isa.moves import GATHER_MASK, GATHER_MASK_COUNT
from ascend_sim.program import BLOCK_BYTES, Access, Instr, Memory, Region, ScalarWork, VectorWork

__all__ = ["gather_mask", "get_gather_mask_remain_count"]

PATTERNS = {1: (2, 0), 2: (2, 1), 3: (4, 0), 4: (4, 1), 5: (4, 2), 6: (4, 3), 7: (1, 0)}  # every n-th, from the k-th on
MAX_UINT8, MAX_UINT16, MAX_UINT32 = 0xFF, 0xFFFF, 0xFFFFFFFF
Count = Callable[[], int]  # computes the values and gives the number kept
Hit = tuple[Instr, Instr, Count | None, int | None, CoreState]


def gather_mask(
    dst: LocalTensor,
    src0: LocalTensor,
    src1_pattern: Any,
    reduce_mode: Any,
    mask: Any,
    params: Any,
    gather_mask_mode: Any = GatherMaskMode.DEFAULT,
) -> Any:
    """GatherMask: pack the elements of src0 whose pattern bit is set into dst; returns how many were kept (uint64).

    `src1_pattern` is 1 (even positions), 2 (odd), 3, 4, 5, 6 (first to fourth of every four), 7 (all), each counted
    within a repeat; or a LocalTensor of bits, lowest bit first, of uint16 for 16-bit data and uint32 for 32-bit data.
    `reduce_mode` False: a repeat is 256 B and `mask` is ignored. True: a repeat is `mask` elements, however many.
    `params` is GatherMaskParams: block stride and repeat stride of src0, repeats (16 bits), repeat stride of the
    pattern tensor, in 32 B blocks. The call leaves Normal mask mode.

    dst may begin where src0 begins; it trails the reading then. With a tensor of bits the record says that dst is
    written for as many elements as could be kept. The scalar unit waits for the count, which is recorded as
    GetGatherMaskRemainCount; in a run without values it is unknown for a tensor of bits.
    """
    frame = _getframe(1)
    rec = RECORDER
    pattern = src1_pattern.key if isinstance(src1_pattern, LocalTensor) else -1
    number_form = None if pattern >= 0 else src1_pattern
    try:
        key = (
            gather_mask, dst.key, src0.key, pattern, number_form, reduce_mode, mask, params.key,
            rec.pending, rec.state, id(frame.f_code), frame.f_lasti,
        )  # fmt: skip
        hit = rec.cache.get(key)
    except (AttributeError, TypeError, ValueError):
        hit = key = None
    if hit is None:
        hit = rec.cache[key] = _build(frame, dst, src0, src1_pattern, reduce_mode, mask, params)
    instr, reading, run, known, rec.state = hit
    rec.pending = 0
    rec.append(instr)
    rec.append(reading)
    kept = run() if run is not None else known
    result = UnknownScalar(uint64) if kept is None else number(kept, uint64)
    rec.kept_counts[rec.block] = result
    return result


def get_gather_mask_remain_count() -> Any:
    """GetGatherMaskRemainCount: what the block's last gather_mask returned; 0 before the first."""
    frame = _getframe(1)
    rec = RECORDER
    rec.append(_count_instr(frame, (), rec.pending))
    rec.pending = 0
    return rec.kept_counts.get(rec.block, number(0, uint64))


def _count_instr(frame: FrameType, reads: tuple[Region, ...], pending: int) -> Instr:
    """The scalar unit reads the count; `reads` is what GatherMask wrote, so that it waits for that."""
    key = (get_gather_mask_remain_count, reads, pending, id(frame.f_code), frame.f_lasti)
    found: Instr | None = RECORDER.cache.get(key)
    if found is None:
        work = ScalarWork(Memory.UB, uint64.itemsize, store=False)
        row = GATHER_MASK_COUNT
        found = Instr(row, row.pipe, work, reads, scalar_calls=pending, place=RECORDER.place(frame))
        RECORDER.cache[key] = found
    return found


def _build(
    frame: FrameType, dst: LocalTensor, src0: LocalTensor, pattern: Any, reduce_mode: Any, mask: Any, params: Any
) -> Hit:
    row = GATHER_MASK
    _check_operands(dst, src0, pattern)
    if not isinstance(params, GatherMaskParams):
        refuse(row.name, f"params must be GatherMaskParams, not {type(params).__name__}")
    limits = (MAX_UINT8, MAX_UINT16, MAX_UINT16, MAX_UINT8)
    block, repeats, src0_stride, src1_stride = (
        whole(row.name, f"GatherMaskParams.{name}", value, 0, limit)
        for name, value, limit in zip(params.field_names, params.key, limits, strict=True)
    )
    if not isinstance(reduce_mode, bool):
        refuse(row.name, f"reduce_mode must be True or False, not {reduce_mode!r}")
    count = whole(row.name, "mask", mask, 1 if reduce_mode else 0, MAX_UINT32)
    lanes = lanes_of(dst)
    width = count if reduce_mode else lanes
    walk = Walk.masked(width, repeats, (1 << width) - 1)
    source = Layout(src0.dtype, src0.addr, block * BLOCK_BYTES, src0_stride * BLOCK_BYTES)
    fits(row.name, "src0", src0, source.end(walk) - src0.addr)
    bits = None
    if isinstance(pattern, LocalTensor):
        bits = BitRows(pattern, width, repeats, src1_stride * BLOCK_BYTES)
        fits(row.name, "src1_pattern", pattern, bits.end - pattern.addr)
    known = 0 if not repeats else None if bits else repeats * _kept_of(pattern, width)
    most = walk.elements if known is None else known
    fits(row.name, "dst", dst, most * dst.dtype.itemsize)
    writes = (Region(Memory.UB, dst.addr, most * dst.dtype.itemsize),) if most else ()
    _check_overlap(walk, dst, source, bits, writes)
    reads = (*source.regions(walk), *(bits.regions() if bits else ()))
    accesses = (Access(dst.addr, 8, BLOCK_BYTES, 256), _read_access(walk, source, lanes)) if repeats else ()
    work = VectorWork(dst.dtype.name, lanes, repeats * -(-width // lanes), walk.elements, False, accesses)
    instr = make_instr(frame, row, work, reads, writes)
    run = None
    if RECORDER.values and repeats:
        run = _runner(RECORDER.ub, walk, dst, source, pattern, bits)
    after = RECORDER.state.replace(mask_mode=MaskMode.NORMAL, mask=(count & FULL_WORD, 0))
    return instr, _count_instr(frame, writes, 0), run, known, after


def _read_access(walk: Walk, source: Layout, lanes: int) -> Access:
    """How src0 is read: a repeat of more than 256 B goes through the vector unit 256 B at a time."""
    if walk.lanes <= lanes:
        return source.access(walk)
    return Access(source.start, 8, source.block_stride, 8 * source.block_stride)


def _check_operands(dst: LocalTensor, src0: LocalTensor, pattern: Any) -> None:
    row = GATHER_MASK
    if isinstance(pattern, LocalTensor):
        checks.check_tensors(row, (("dst", dst), ("src0", src0), ("src1_pattern", pattern)))
        return
    whole(row.name, "src1_pattern", pattern, 1, 7, "or a LocalTensor of bits")
    for role, tensor in (("dst", dst), ("src0", src0)):
        local(row.name, role, tensor)
    bits = RAW[src0.dtype.itemsize]
    checks.check_dtypes(row, ("dst", "src0", "src1_pattern"), (dst.dtype, src0.dtype, bits), True)


def _kept_of(pattern: int, width: int) -> int:
    """Elements that a fixed pattern keeps of a repeat of `width`."""
    step, first = PATTERNS[int(pattern)]
    return len(range(first, width, step))


class BitRows:
    """The bits of a pattern tensor: a row of `width` bits per repeat."""

    __slots__ = ("repeats", "start", "stride", "width")

    def __init__(self, tensor: LocalTensor, width: int, repeats: int, stride: int) -> None:
        self.start, self.width, self.repeats, self.stride = tensor.addr, width, repeats, stride

    @property
    def nbytes(self) -> int:
        return -(-self.width // 8)

    @property
    def end(self) -> int:
        return self.start + (self.repeats - 1) * self.stride + self.nbytes if self.repeats else self.start

    def regions(self) -> tuple[Region, ...]:
        if not self.repeats:
            return ()
        dims = ((self.repeats, self.stride),) if self.repeats > 1 and self.stride else ()
        return (Region(Memory.UB, self.start, self.nbytes, dims),)

    def reader(self, ub: Bytes) -> Callable[[], npt.NDArray[np.bool_]]:
        """A function that gives the bits of all repeats, in the order of the elements."""
        rows = np.ndarray((self.repeats, self.nbytes), uint8.numpy, ub, self.start, (self.stride, 1))

        def read() -> npt.NDArray[np.bool_]:
            bits = np.unpackbits(rows, axis=1, count=self.width, bitorder="little")
            return bits.reshape(-1).astype(np.bool_)

        return read


def _check_overlap(
    walk: Walk, dst: LocalTensor, source: Layout, bits: BitRows | None, writes: tuple[Region, ...]
) -> None:
    """dst may overlap src0 only where writing trails reading, and never the pattern."""
    row = GATHER_MASK
    if bits and overlap(writes, bits.regions()):
        refuse(row.name, "src1_pattern overlaps dst, they must not")
    if not overlap(writes, source.regions(walk)):
        return
    repeat, lane = walk.active()
    packed = dst.addr + np.arange(walk.elements) * dst.dtype.itemsize
    if (source.at(repeat, lane) < packed).any():
        refuse(row.name, "src0 overlaps dst so that elements are overwritten before they are read; keep them apart")


def _runner(ub: Bytes, walk: Walk, dst: LocalTensor, source: Layout, pattern: Any, bits: BitRows | None) -> Count:
    raw: DataType = RAW[dst.dtype.itemsize]
    origin = Layout(raw, source.start, source.block_stride, source.repeat_stride)
    values = typed(ub, origin)
    out = typed(ub, Layout(raw, dst.addr, BLOCK_BYTES, 0))
    indices = element_indices(walk, origin)
    if bits is None:
        step, first = PATTERNS[int(pattern)]
        chosen = indices.reshape(walk.repeats, walk.lanes)[:, first::step].reshape(-1)

        def run() -> int:
            out[: len(chosen)] = values[chosen]
            return len(chosen)

        return run
    read = bits.reader(ub)

    def run_bits() -> int:
        kept = indices[read()]
        out[: len(kept)] = values[kept]
        return len(kept)

    return run_bits
