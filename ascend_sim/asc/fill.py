"""duplicate, copy and brcb: fill unified buffer from a scalar, from itself under a mask, or from single elements."""

from __future__ import annotations

from dataclasses import replace
from sys import _getframe
from types import FrameType
from typing import Any

import numpy as np

from ascend_sim.asc import checks
from ascend_sim.asc.forms import mask_argument
from ascend_sim.asc.issue import Hit, counted_walk, dense_layout, lanes_of, make_hit, make_instr, masked_walk, play
from ascend_sim.asc.operands import element, fits, refuse, whole
from ascend_sim.asc.params import BrcbRepeatParams, CopyRepeatParams
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.regions import overlap
from ascend_sim.asc.state import CoreState
from ascend_sim.asc.tensors import LocalTensor
from ascend_sim.asc.views import strided
from ascend_sim.asc.walk import Layout, Walk
from ascend_sim.isa.enums import MaskMode
from ascend_sim.isa.moves import BRCB, COPY, DUPLICATE
from ascend_sim.program import BLOCK_BYTES, Access, Memory, Region, VectorWork

__all__ = ["brcb", "copy", "duplicate"]

MAX_UINT16 = 0xFFFF
MAX_COPY_REPEAT_STRIDE = 4095


def scalar_key(scalar: Any) -> Any:
    """A scalar as it stands in a recorder key: 0.0 and -0.0 are equal but not the same operand."""
    return scalar or repr(scalar) if isinstance(scalar, float) else scalar


def duplicate(
    dst: LocalTensor,
    scalar: Any,
    count: Any = None,
    repeat_times: Any = None,
    dst_block_stride: Any = None,
    dst_repeat_stride: Any = None,
    is_set_mask: Any = True,
    *,
    mask: Any = None,
) -> None:
    """Duplicate: every lane of dst = scalar, converted to dst's dtype.

    `duplicate(dst, scalar, count)` or `duplicate(dst, scalar, mask, repeat_times, dst_block_stride, dst_repeat_stride)`
    with strides in 32 B blocks.
    """
    frame = _getframe(1)
    if repeat_times is not None or mask is not None:
        count = mask_argument(DUPLICATE, count, mask, repeat_times)
    rec = RECORDER
    try:
        key = (
            duplicate, dst.key, scalar_key(scalar), count, repeat_times, dst_block_stride, dst_repeat_stride,
            is_set_mask, rec.pending, rec.state, id(frame.f_code), frame.f_lasti,
        )  # fmt: skip
        hit = rec.cache.get(key)
    except (AttributeError, TypeError, ValueError):
        hit = key = None
    if hit is None:
        strides = (dst_block_stride, dst_repeat_stride)
        hit = rec.cache[key] = _build_duplicate(frame, dst, scalar, count, repeat_times, strides, is_set_mask)
    play(hit)


def _build_duplicate(
    frame: FrameType,
    dst: LocalTensor,
    scalar: Any,
    count: Any,
    repeat_times: Any,
    strides: tuple[Any, Any],
    is_set_mask: Any,
) -> Hit:
    row = DUPLICATE
    count_form = repeat_times is None or (isinstance(repeat_times, bool) and strides[0] is None)
    checks.check_tensors(row, (("dst", dst),), count_form)
    lanes = lanes_of(dst)
    if count_form:
        walk, after = counted_walk(row, lanes, count)
        layout = dense_layout(dst, lanes)
    else:
        block = checks.check_stride(row, "dst_block_stride", strides[0], MAX_UINT16)
        repeat = checks.check_stride(row, "dst_repeat_stride", strides[1])
        walk, after = masked_walk(row, lanes, count, checks.check_repeats(row, repeat_times), is_set_mask)
        layout = Layout(dst.dtype, dst.addr, block * BLOCK_BYTES, repeat * BLOCK_BYTES)
    value = element(dst.dtype, scalar) if RECORDER.values else None

    def into(out: Any) -> None:
        out[...] = value

    return make_hit(frame, row, walk, [("dst", dst, layout)], into, after, count_form, count_form or is_set_mask)


def copy(
    dst: LocalTensor, src: LocalTensor, mask: Any, repeat_time: Any, repeat_params: Any, is_set_mask: Any = True
) -> None:
    """Copy: dst = src inside unified buffer, lane by lane under a mask; strides in 32 B blocks.

    In Counter mode the mask counts the elements of each repeat, as many as it says, and `repeat_time` still counts
    (unlike the other instructions' Counter mode).
    """
    frame = _getframe(1)
    rec = RECORDER
    words = tuple(mask) if isinstance(mask, list) else mask
    try:
        key = (
            copy, dst.key, src.key, words, repeat_time, repeat_params.key, is_set_mask, rec.pending, rec.state,
            id(frame.f_code), frame.f_lasti,
        )  # fmt: skip
        hit = rec.cache.get(key)
    except (AttributeError, TypeError, ValueError):
        hit = key = None
    if hit is None:
        hit = rec.cache[key] = _build_copy(frame, dst, src, words, repeat_time, repeat_params, is_set_mask)
    play(hit)


def _build_copy(
    frame: FrameType, dst: LocalTensor, src: LocalTensor, mask: Any, repeat_time: Any, params: Any, is_set_mask: Any
) -> Hit:
    row = COPY
    checks.check_tensors(row, (("dst", dst), ("src", src)), False)
    if not isinstance(params, CopyRepeatParams):
        refuse(row.name, f"repeat_params must be CopyRepeatParams, not {type(params).__name__}")
    limits = (MAX_UINT16, MAX_UINT16, MAX_COPY_REPEAT_STRIDE, MAX_COPY_REPEAT_STRIDE)
    dst_block, src_block, dst_repeat, src_repeat = (
        checks.check_stride(row, name, value, limit) * BLOCK_BYTES
        for name, value, limit in zip(params.field_names, params.key, limits, strict=True)
    )
    repeats = checks.check_repeats(row, repeat_time, "repeat_time")
    walk, after = _copy_walk(dst, mask, repeats, is_set_mask)
    operands = [
        ("dst", dst, Layout(dst.dtype, dst.addr, dst_block, dst_repeat)),
        ("src", src, Layout(src.dtype, src.addr, src_block, src_repeat)),
    ]
    instr, run, after = make_hit(frame, row, walk, operands, np.copyto, after, False, is_set_mask)
    if walk.lanes != lanes_of(dst) and isinstance(instr.work, VectorWork):
        lanes = lanes_of(dst)
        instr.work = replace(instr.work, lanes=lanes, repeats=repeats * -(-walk.lanes // lanes))
    return instr, run, after


def _copy_walk(dst: LocalTensor, mask: Any, repeats: int, is_set_mask: Any) -> tuple[Walk, CoreState]:
    """The walk of a copy and the registers after it; in Counter mode a repeat has as many lanes as the mask counts."""
    lanes, state = lanes_of(dst), RECORDER.state
    if state.mask_mode is not MaskMode.COUNTER:
        return masked_walk(COPY, lanes, mask, repeats, is_set_mask)
    _, after = masked_walk(COPY, lanes, mask, repeats, is_set_mask)
    count = whole(COPY.name, "mask", after.mask[0], 1, 1 << 20, "elements of a repeat in Counter mode")
    return Walk.masked(count, repeats, (1 << count) - 1), after


def brcb(dst: LocalTensor, src0: LocalTensor, repeat_times: Any, repeat_params: Any) -> None:
    """Brcb: element i of src0 fills block i of dst, 8 elements and 8 blocks a repeat.

    `repeat_params` is BrcbRepeatParams, strides of dst in 32 B blocks; a `dst_blk_stride` of 0 counts as 1. src0 is
    read element after element.
    """
    frame = _getframe(1)
    rec = RECORDER
    try:
        key = (
            brcb, dst.key, src0.key, repeat_times, repeat_params.key, rec.pending, rec.state,
            id(frame.f_code), frame.f_lasti,
        )  # fmt: skip
        hit = rec.cache.get(key)
    except (AttributeError, TypeError, ValueError):
        hit = key = None
    if hit is None:
        hit = rec.cache[key] = _build_brcb(frame, dst, src0, repeat_times, repeat_params)
    play(hit)


def _build_brcb(frame: FrameType, dst: LocalTensor, src0: LocalTensor, repeat_times: Any, params: Any) -> Hit:
    row = BRCB
    checks.check_tensors(row, (("dst", dst), ("src0", src0)))
    if not isinstance(params, BrcbRepeatParams):
        refuse(row.name, f"repeat_params must be BrcbRepeatParams, not {type(params).__name__}")
    repeats = checks.check_repeats(row, repeat_times)
    block = checks.check_stride(row, "dst_blk_stride", params.dst_blk_stride, MAX_UINT16) or 1
    repeat = checks.check_stride(row, "dst_rep_stride", params.dst_rep_stride, MAX_UINT16)
    size, lanes = dst.dtype.itemsize, lanes_of(dst)
    walk = Walk.masked(lanes, repeats, (1 << lanes) - 1)
    target = Layout(dst.dtype, dst.addr, block * BLOCK_BYTES, repeat * BLOCK_BYTES)
    fits(row.name, "dst", dst, target.end(walk) - dst.addr)
    fits(row.name, "src0", src0, 8 * repeats * size)
    reads = (Region(Memory.UB, src0.addr, 8 * repeats * size),) if repeats else ()
    writes = target.regions(walk)
    if overlap(reads, writes):
        refuse(row.name, f"src0 (UB byte {src0.addr} on) and dst (UB byte {dst.addr} on) overlap, they must not")
    accesses = (target.access(walk), Access(src0.addr, 1, BLOCK_BYTES, 8 * size)) if repeats else ()
    work = VectorWork(dst.dtype.name, lanes, repeats, walk.elements, False, accesses, sets_mask=False)
    instr = make_instr(frame, row, work, reads, writes)
    if not RECORDER.values or not repeats:
        return instr, None, RECORDER.state
    shape, strides = (8, BLOCK_BYTES // size), (target.block_stride, size)
    filled = [strided(RECORDER.ub, target.shifted(r), shape, strides) for r in range(repeats)]
    source = strided(RECORDER.ub, Layout(src0.dtype, src0.addr, 0, 0), (repeats, 8, 1), (8 * size, size, size))

    def run() -> None:
        for r, view in enumerate(filled):
            view[...] = source[r]

    return instr, run, RECORDER.state
