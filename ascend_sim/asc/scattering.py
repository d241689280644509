"""gatherb and scatter: whole blocks collected by offsets, and elements put at offsets."""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from types import FrameType
from typing import Any

from ascend_sim.asc import checks
from ascend_sim.asc.fill import MAX_UINT16
from ascend_sim.asc.forms import mask_argument
from ascend_sim.asc.gathering import RAW
from ascend_sim.asc.issue import Hit, lanes_of, make_instr, masked_walk, play
from ascend_sim.asc.offsets import OffsetReader, in_place_check
from ascend_sim.asc.operands import REPEAT_BYTES, fits, refuse, whole
from ascend_sim.asc.params import GatherRepeatParams
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.state import FULL_MASK
from ascend_sim.asc.tensors import LocalTensor
from ascend_sim.asc.views import element_indices, typed
from ascend_sim.asc.walk import Bytes, Layout, Walk
from ascend_sim.isa.dtypes import uint32
from ascend_sim.isa.moves import GATHERB, SCATTER
from ascend_sim.program import BLOCK_BYTES, Memory, Region, VectorWork

__all__ = ["gatherb", "scatter"]

BLOCKS = REPEAT_BYTES // BLOCK_BYTES


def gatherb(dst: LocalTensor, src0: LocalTensor, offset: LocalTensor, repeat_times: Any, repeat_params: Any) -> None:
    """Gatherb: block i of dst = the 32 B block of src0 at byte `offset[i]`, 8 blocks a repeat.

    `offset` (uint32) holds multiples of 32 that lie in src0. `repeat_params` is GatherRepeatParams, strides of dst in
    32 B blocks; a `dst_blk_stride` of 0 counts as 1.
    """
    frame = _getframe(1)
    rec = RECORDER
    try:
        key = (
            gatherb, dst.key, src0.key, offset.key, repeat_times, repeat_params.key, rec.pending, rec.state,
            id(frame.f_code), frame.f_lasti,
        )  # fmt: skip
        hit = rec.cache.get(key)
    except (AttributeError, TypeError, ValueError):
        hit = key = None
    if hit is None:
        hit = rec.cache[key] = _build_gatherb(frame, dst, src0, offset, repeat_times, repeat_params)
    play(hit)


def _build_gatherb(
    frame: FrameType, dst: LocalTensor, src0: LocalTensor, offset: LocalTensor, repeat_times: Any, params: Any
) -> Hit:
    row = GATHERB
    checks.check_tensors(row, (("dst", dst), ("src0", src0), ("offset", offset)))
    if not isinstance(params, GatherRepeatParams):
        refuse(row.name, f"repeat_params must be GatherRepeatParams, not {type(params).__name__}")
    repeats = checks.check_repeats(row, repeat_times)
    block = checks.check_stride(row, "dst_blk_stride", params.dst_blk_stride) or 1
    stride = checks.check_stride(row, "dst_rep_stride", params.dst_rep_stride, MAX_UINT16)
    lanes = lanes_of(dst)
    walk, pick = Walk.masked(lanes, repeats, (1 << lanes) - 1), Walk.masked(BLOCKS, repeats, (1 << BLOCKS) - 1)
    target = Layout(dst.dtype, dst.addr, block * BLOCK_BYTES, stride * BLOCK_BYTES)
    offsets = Layout(uint32, offset.addr, BLOCK_BYTES, BLOCK_BYTES)
    fits(row.name, "dst", dst, target.end(walk) - dst.addr)
    fits(row.name, "offset", offset, offsets.end(pick) - offset.addr)
    source = Region(Memory.UB, src0.addr, src0.size * src0.dtype.itemsize // BLOCK_BYTES * BLOCK_BYTES)
    work = VectorWork(dst.dtype.name, lanes, repeats, walk.elements, False, (target.access(walk),))
    reads = (*((source,) if repeats else ()), *offsets.regions(pick))
    instr = make_instr(frame, row, work, reads, target.regions(walk))
    run = None
    if RECORDER.values and repeats:
        run = _gatherb_run(RECORDER.ub, pick, target, offsets, source)
    return instr, run, RECORDER.state.replace(mask=FULL_MASK)


def _gatherb_run(ub: Bytes, walk: Walk, dst: Layout, offsets: Layout, source: Region) -> Callable[[], None]:
    pick = OffsetReader(GATHERB.name, "offset", ub, walk, offsets, source, BLOCK_BYTES)
    blocks = ub[: len(ub) // BLOCK_BYTES * BLOCK_BYTES].reshape(-1, BLOCK_BYTES)
    values = blocks[source.start // BLOCK_BYTES : (source.start + source.length) // BLOCK_BYTES]
    repeat, lane = walk.active()
    write_at = dst.start + repeat * dst.repeat_stride + lane * dst.block_stride
    where = write_at // BLOCK_BYTES
    hazard = in_place_check(GATHERB.name, repeat, write_at, BLOCK_BYTES, source)

    def run() -> None:
        indices, changed = pick.read()
        if changed and hazard is not None:
            hazard(indices)
        blocks[where] = values[indices]

    return run


def scatter(
    dst: LocalTensor,
    src: LocalTensor,
    dst_offset: LocalTensor,
    dst_base: Any,
    count: Any = None,
    repeat_times: Any = None,
    src_rep_stride: Any = None,
    *,
    mask: Any = None,
) -> None:
    """Scatter: the element of dst at byte `dst_base + dst_offset[i]` = src[i]; architecture 3510 only.

    `scatter(dst, src, dst_offset, dst_base, count)` or
    `scatter(dst, src, dst_offset, dst_base, mask, repeat_times, src_rep_stride)` with the stride in 32 B blocks. Of
    several elements for one place the last stays. The record says that all of dst behind `dst_base` is written.
    """
    frame = _getframe(1)
    if repeat_times is not None or mask is not None:
        count = mask_argument(SCATTER, count, mask, repeat_times)
    rec = RECORDER
    try:
        key = (
            scatter, dst.key, src.key, dst_offset.key, dst_base, count, repeat_times, src_rep_stride,
            rec.pending, rec.state, id(frame.f_code), frame.f_lasti,
        )  # fmt: skip
        hit = rec.cache.get(key)
    except (AttributeError, TypeError, ValueError):
        hit = key = None
    if hit is None:
        hit = rec.cache[key] = _build_scatter(
            frame, dst, src, dst_offset, dst_base, count, repeat_times, src_rep_stride
        )
    play(hit)


def _build_scatter(
    frame: FrameType,
    dst: LocalTensor,
    src: LocalTensor,
    dst_offset: LocalTensor,
    dst_base: Any,
    count: Any,
    repeat_times: Any,
    src_rep_stride: Any,
) -> Hit:
    row = SCATTER
    checks.check_tensors(row, (("dst", dst), ("src", src), ("dst_offset", dst_offset)), repeat_times is None)
    size, lanes = dst.dtype.itemsize, lanes_of(dst)
    base = whole(row.name, "dst_base", dst_base, 0, dst.size * size, "bytes, within dst")
    if base % size:
        refuse(row.name, f"dst_base is {base} B, allowed are multiples of {size} B, the size of {dst.dtype.name}")
    after, stride = RECORDER.state, lanes * size
    if repeat_times is None:
        walk = Walk.counted(lanes, whole(row.name, "count", count, 0, 1 << 20))
    else:
        stride = checks.check_stride(row, "src_rep_stride", src_rep_stride, MAX_UINT16) * BLOCK_BYTES
        walk, after = masked_walk(row, lanes, count, checks.check_repeats(row, repeat_times), True)
    origin = Layout(src.dtype, src.addr, BLOCK_BYTES, stride)
    offsets = Layout(uint32, dst_offset.addr, BLOCK_BYTES, lanes * uint32.itemsize)
    fits(row.name, "src", src, origin.end(walk) - src.addr)
    fits(row.name, "dst_offset", dst_offset, offsets.end(walk) - dst_offset.addr)
    target = Region(Memory.UB, dst.addr + base, dst.size * size - base)
    work = VectorWork(dst.dtype.name, lanes, walk.repeats, walk.elements, False, (origin.access(walk),))
    reads = (*origin.regions(walk), *offsets.regions(walk))
    instr = make_instr(frame, row, work, reads, (target,) if walk.elements else ())
    run = None
    if RECORDER.values and walk.elements:
        run = _scatter_run(RECORDER.ub, walk, origin, offsets, target)
    return instr, run, after


def _scatter_run(ub: Bytes, walk: Walk, src: Layout, offsets: Layout, target: Region) -> Callable[[], None]:
    size = src.dtype.itemsize
    raw = RAW[size]
    pick = OffsetReader(SCATTER.name, "dst_offset", ub, walk, offsets, target, size)
    out = ub[target.start : target.start + target.length].view(raw.numpy)
    origin = Layout(raw, src.start, src.block_stride, src.repeat_stride)
    values, where = typed(ub, origin), element_indices(walk, origin)

    def run() -> None:
        indices, _ = pick.read()
        out[indices] = values[where]

    return run
