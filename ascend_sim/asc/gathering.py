"""gather: collect elements of unified buffer by byte offsets that stand in unified buffer."""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from types import FrameType
from typing import Any

import numpy.typing as npt

from ascend_sim.asc import checks
from ascend_sim.asc.fill import MAX_UINT16
from ascend_sim.asc.forms import mask_argument
from ascend_sim.asc.issue import Hit, lanes_of, make_instr, mask_bits, masked_walk, play
from ascend_sim.asc.offsets import OffsetReader, in_place_check
from ascend_sim.asc.operands import fits, refuse, whole
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.state import FULL_WORD, CoreState
from ascend_sim.asc.tensors import LocalTensor
from ascend_sim.asc.views import element_indices, typed
from ascend_sim.asc.walk import Bytes, Layout, Walk
from ascend_sim.isa.dtypes import DataType, uint8, uint16, uint32, uint64
from ascend_sim.isa.enums import MaskMode
from ascend_sim.isa.moves import GATHER
from ascend_sim.program import BLOCK_BYTES, Memory, Region, VectorWork

__all__ = ["gather"]

RAW = {1: uint8, 2: uint16, 4: uint32, 8: uint64}  # moves need bits, not numbers


def gather(
    dst: LocalTensor,
    src: LocalTensor,
    src_offset: LocalTensor,
    src_base: Any,
    count: Any = None,
    repeat_times: Any = None,
    dst_rep_stride: Any = None,
    *,
    mask: Any = None,
) -> None:
    """Gather: dst[i] = the element of src at byte `src_base + src_offset[i]`.

    `gather(dst, src, src_offset, src_base, count)` or
    `gather(dst, src, src_offset, src_base, mask, repeat_times, dst_rep_stride)` with the stride in 32 B blocks.
    `src_offset` (uint32) and `src_base` count bytes from src's start and are multiples of the element size; what they
    reach must lie in src. On 2201 the count form is one instruction with an 8-bit repeat for the full repeats and one
    for the rest, recorded as one; so `count` stays below 256 repeats.

    dst may be src itself where no repeat reads what an earlier repeat has written, as kernels do that swap neighbours
    (the documents forbid it altogether). Offsets are data: a run without values cannot check them, and the record says
    that all of src behind `src_base` is read.
    """
    frame = _getframe(1)
    if repeat_times is not None or mask is not None:
        count = mask_argument(GATHER, count, mask, repeat_times)
    rec = RECORDER
    try:
        key = (
            gather, dst.key, src.key, src_offset.key, src_base, count, repeat_times, dst_rep_stride,
            rec.pending, rec.state, id(frame.f_code), frame.f_lasti,
        )  # fmt: skip
        hit = rec.cache.get(key)
    except (AttributeError, TypeError, ValueError):
        hit = key = None
    if hit is None:
        hit = rec.cache[key] = _build(frame, dst, src, src_offset, src_base, count, repeat_times, dst_rep_stride)
    play(hit)


def _build(
    frame: FrameType,
    dst: LocalTensor,
    src: LocalTensor,
    src_offset: LocalTensor,
    src_base: Any,
    count: Any,
    repeat_times: Any,
    dst_rep_stride: Any,
) -> Hit:
    row = GATHER
    operands = (("dst", dst), ("src", src), ("src_offset", src_offset))
    checks.check_tensors(row, operands, repeat_times is None)
    size = dst.dtype.itemsize
    base = whole(row.name, "src_base", src_base, 0, src.size * size, "bytes, within src")
    if base % size:
        refuse(row.name, f"src_base is {base} B, allowed are multiples of {size} B, the size of {src.dtype.name}")
    lanes = lanes_of(dst)
    if repeat_times is None:
        walk, after = _counted(dst, lanes, count)
        stride = lanes * size
    else:
        stride = checks.check_stride(row, "dst_rep_stride", dst_rep_stride, MAX_UINT16) * BLOCK_BYTES
        walk, after = masked_walk(row, lanes, count, checks.check_repeats(row, repeat_times), True)
    target = Layout(dst.dtype, dst.addr, BLOCK_BYTES, stride)
    offsets = Layout(uint32, src_offset.addr, BLOCK_BYTES, lanes * uint32.itemsize)
    fits(row.name, "dst", dst, target.end(walk) - dst.addr)
    fits(row.name, "src_offset", src_offset, offsets.end(walk) - src_offset.addr)
    checks.check_overlap(row, walk, target, "src_offset", offsets, False)
    start = src.addr + base
    source = Region(Memory.UB, start, src.addr + src.size * size - start)
    work = VectorWork(dst.dtype.name, lanes, walk.repeats, walk.elements, False, (target.access(walk),))
    reads = (*((source,) if walk.elements else ()), *offsets.regions(walk))
    instr = make_instr(frame, row, work, reads, target.regions(walk))
    run = None
    if RECORDER.values and walk.elements:
        run = gather_run(RECORDER.ub, walk, target, offsets, source)
    return instr, run, after


def _counted(dst: LocalTensor, lanes: int, count: Any) -> tuple[Walk, CoreState]:
    """The walk of the count form, and the mask that its last instruction leaves."""
    state = RECORDER.state
    if RECORDER.arch != "2201":
        number = whole(GATHER.name, "count", count, 0, 1 << 20)
        return Walk.counted(lanes, number), state
    limit = 256 * lanes - 1
    number = whole(GATHER.name, "count", count, 0, limit, "below 256 repeats: the hardware's repeat has 8 bits")
    if state.mask_mode is MaskMode.COUNTER:
        refuse(GATHER.name, "the count form works with masks of Normal mode: call set_mask_norm() first")
    if number:
        bits = mask_bits(GATHER, number % lanes or lanes, lanes)
        state = state.replace(mask=(bits & FULL_WORD, bits >> 64))
    return Walk.counted(lanes, number), state


def gather_run(ub: Bytes, walk: Walk, dst: Layout, offsets: Layout, source: Region) -> Callable[[], None]:
    """The function that gathers."""
    size = dst.dtype.itemsize
    pick = OffsetReader(GATHER.name, "src_offset", ub, walk, offsets, source, size)
    values = ub[source.start : source.start + source.length].view(RAW[size].numpy)
    out, where = output(ub, walk, dst, RAW[size])
    repeat, lane = walk.active()
    hazard = in_place_check(GATHER.name, repeat, dst.at(repeat, lane), size, source)

    def run() -> None:
        indices, changed = pick.read()
        if changed and hazard is not None:
            hazard(indices)
        out[where] = values.take(indices, mode="clip")  # checked already; "clip" is the fast way

    return run


def output(ub: Bytes, walk: Walk, dst: Layout, raw: DataType) -> tuple[npt.NDArray[Any], Any]:
    """The destination's raw elements, and which of them the active lanes are, in the order of execution."""
    layout = Layout(raw, dst.start, dst.block_stride, dst.repeat_stride)
    flat = typed(ub, layout)
    if walk.dense and layout.contiguous(walk):
        return flat[: walk.elements], slice(None)
    return flat, element_indices(walk, layout)
