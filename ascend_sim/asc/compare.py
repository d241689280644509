"""`compare`, `compare_scalar` and the compare-mask register.

A comparison writes one bit per element, contiguous whatever the strides of its destination. On 2201 the mask argument
of the mask/repeat form has no effect: every lane is compared (CANN's pages of Compare and Compares). The form without a
destination compares one repeat, obeys its mask and puts the bits into the 128-bit compare-mask register.
"""

from __future__ import annotations

from sys import _getframe
from types import FrameType
from typing import Any

import numpy as np

from ascend_sim.asc import checks
from ascend_sim.asc.forms import Mask, checked_scalar, mask_argument, scalar_key
from ascend_sim.asc.issue import (
    Hit,
    Operand,
    dense_layout,
    lanes_of,
    make_instr,
    masked_walk,
    play,
    strided_layout,
    vector_work,
)
from ascend_sim.asc.operands import fits, refuse, whole
from ascend_sim.asc.params import BinaryRepeatParams, Params, UnaryRepeatParams
from ascend_sim.asc.recorder import RECORDER, Run
from ascend_sim.asc.state import FULL_MASK
from ascend_sim.asc.subnormals import flushing_function
from ascend_sim.asc.tensors import LocalTensor
from ascend_sim.asc.views import lane_reader
from ascend_sim.asc.walk import Layout, Walk
from ascend_sim.isa.compare import COMPARE, COMPARE_SCALAR, COMPARE_TO_REGISTER, COMPARISONS
from ascend_sim.isa.dtypes import DataType, int32, uint8
from ascend_sim.isa.enums import CMPMODE, MaskMode
from ascend_sim.isa.row import Row
from ascend_sim.plurals import counted
from ascend_sim.program import BLOCK_BYTES

__all__ = ["compare", "compare_scalar"]

REGISTER_BYTES = 16


def compare(
    dst: Any = None,
    src0: Any = None,
    src1: Any = None,
    cmp_mode: Any = None,
    count: Any = None,
    repeat_times: int | None = None,
    repeat_params: BinaryRepeatParams | None = None,
    *,
    mask: Mask | None = None,
) -> None:
    """Compare: `(dst, src0, src1, cmp_mode, count)`, `(dst, src0, src1, cmp_mode, mask, repeat_times, repeat_params)`,
    or `(src0, src1, cmp_mode, mask, repeat_params)` into the compare-mask register.
    """
    frame = _getframe(1)
    if dst is None or not isinstance(src1, LocalTensor):
        _compare_to_register(frame, dst, src0, src1, cmp_mode, count, repeat_params, mask)
        return
    if repeat_times is not None or mask is not None:
        count = mask_argument(COMPARE, count, mask, repeat_times)
    recorder = RECORDER
    try:
        key = (
            "compare", dst.key, src0.key, src1.key, +cmp_mode, count, repeat_times, repeat_params and repeat_params.key,
            recorder.pending, recorder.state, id(frame.f_code), frame.f_lasti,
        )  # fmt: skip
        hit = recorder.cache.get(key)
    except (AttributeError, TypeError, ValueError):
        hit = key = None
    if hit is None:
        sources = (("src0", src0), ("src1", src1))
        hit = recorder.cache[key] = _build(
            frame, COMPARE, dst, sources, cmp_mode, count, repeat_times, repeat_params, BinaryRepeatParams
        )
    play(hit)


def compare_scalar(
    dst: LocalTensor,
    src0: LocalTensor,
    src1_scalar: Any,
    cmp_mode: CMPMODE,
    count: Mask | None = None,
    repeat_times: int | None = None,
    repeat_params: UnaryRepeatParams | None = None,
    *,
    mask: Mask | None = None,
) -> None:
    """CompareScalar: as `compare` with a scalar, converted to src0's dtype, in place of src1."""
    frame = _getframe(1)
    if repeat_times is not None or mask is not None:
        count = mask_argument(COMPARE_SCALAR, count, mask, repeat_times)
    recorder = RECORDER
    kind = scalar_key(src1_scalar)
    try:
        key = (
            "compare_scalar", dst.key, src0.key, kind, +cmp_mode, count, repeat_times,
            repeat_params and repeat_params.key,
            recorder.pending, recorder.state, id(frame.f_code), frame.f_lasti,
        )  # fmt: skip
        hit = recorder.cache.get(key)
    except (AttributeError, TypeError, ValueError):
        hit = key = None
    if hit is None:
        sources = (("src0", src0),)
        hit = recorder.cache[key] = _build(
            frame, COMPARE_SCALAR, dst, sources, cmp_mode, count, repeat_times, repeat_params, UnaryRepeatParams
        )
    play(hit, src1_scalar)


def _build(
    frame: FrameType,
    row: Row,
    dst: Any,
    sources: tuple[tuple[str, Any], ...],
    cmp_mode: Any,
    count: Any,
    repeat_times: Any,
    params: Any,
    params_type: type[Params],
) -> Hit:
    count_form = repeat_times is None
    dtypes = checks.check_tensors(row, (("dst", dst), *sources), count_form)
    mode = _checked_mode(row, cmp_mode, dtypes[1])
    lanes = lanes_of(*(tensor for _, tensor in sources))
    state = RECORDER.state
    operands: list[Operand]
    if count_form:
        walk = Walk.counted(lanes, _whole_repeats(row, count, lanes, dtypes[1]))
        operands = [(role, tensor, dense_layout(tensor, lanes)) for role, tensor in sources]
        state = state.replace(mask_mode=MaskMode.NORMAL, mask=FULL_MASK)
    else:
        walk = Walk.masked(lanes, checks.check_repeats(row, repeat_times), (1 << lanes) - 1)
        operands = _strided(row, sources, params, params_type)
    for role, tensor, layout in operands:
        fits(row.name, role, tensor, layout.end(walk) - tensor.addr)
    bits = Layout(uint8, dst.addr, BLOCK_BYTES, lanes // 8)
    bit_walk = Walk.masked(lanes // 8, walk.repeats, (1 << lanes // 8) - 1)
    fits(row.name, "dst", dst, walk.elements // 8)
    layouts = [layout for _, _, layout in operands]
    for (role, _), layout in zip(sources, layouts, strict=True):
        checks.check_order(row, bit_walk, bits, role, walk, layout)
    work = vector_work(walk, layouts, count_form, count_form, (bits.access(bit_walk),))
    reads = tuple(region for layout in layouts for region in layout.regions(walk))
    instr = make_instr(frame, row, work, reads, bits.regions(bit_walk), mode.name)
    return instr, _run(row, walk, layouts, dst, COMPARISONS[mode]), state


def _run(row: Row, walk: Walk, layouts: list[Layout], dst: LocalTensor, comparison: Any) -> Run | None:
    if not RECORDER.values or not walk.elements:
        return None
    readers = [flushing_function(lane_reader(RECORDER.ub, walk, layout, 0)) for layout in layouts]
    out = RECORDER.ub[dst.addr : dst.addr + walk.elements // 8]
    dtype = layouts[0].dtype

    def run(*scalars: Any) -> None:
        values = [read() for read in readers]
        values += [checked_scalar(row, dtype, scalar) for scalar in scalars]
        out[:] = np.packbits(comparison(*values).ravel(), bitorder="little")

    return run


def _checked_mode(row: Row, cmp_mode: Any, dtype: DataType) -> CMPMODE:
    try:
        mode = CMPMODE(cmp_mode)
    except ValueError:
        refuse(row.name, f"cmp_mode must be a CMPMODE, not {cmp_mode!r}")
    if dtype is int32 and mode is not CMPMODE.EQ and RECORDER.arch == "2201":
        refuse(row.name, f"int32 can only be compared with EQ on this chip, not with {mode.name}")
    return mode


def _whole_repeats(row: Row, count: Any, lanes: int, dtype: DataType) -> int:
    number = whole(row.name, "count", count, 0, 1 << 20)
    if number % lanes:
        refuse(row.name, f"count is {number}, but it must be a multiple of {lanes} (256 B of {dtype.name})")
    return number


def _strided(row: Row, sources: tuple[tuple[str, Any], ...], params: Any, params_type: type[Params]) -> list[Operand]:
    if not isinstance(params, params_type):
        refuse(row.name, f"repeat_params must be {params_type.__name__}, not {type(params).__name__}")
    found: list[Operand] = []
    for role, tensor in sources:
        prefix = role if hasattr(params_type, f"{role}_blk_stride") else "src"
        block, repeat = getattr(params, f"{prefix}_blk_stride"), getattr(params, f"{prefix}_rep_stride")
        found.append((role, tensor, strided_layout(row, tensor, prefix, block, repeat)))
    return found


def _compare_to_register(
    frame: FrameType, dst: Any, src0: Any, src1: Any, cmp_mode: Any, count: Any, repeat_params: Any, mask: Any
) -> None:
    """Sort the arguments of the form without destination, look it up, record it."""
    row = COMPARE_TO_REGISTER
    if dst is not None:  # by position: (src0, src1, cmp_mode, mask, repeat_params)
        first, second = dst, src0
        mode = src1 if src1 is not None else cmp_mode
        given = (cmp_mode if src1 is not None else count) if mask is None else mask
        params = repeat_params if repeat_params is not None else count
    else:
        first, second, mode, given, params = src0, src1, cmp_mode, mask, repeat_params
    given = tuple(given) if isinstance(given, list) else given
    recorder = RECORDER
    try:
        key = (
            row.call, first.key, second.key, mode, given, params and params.key,
            recorder.pending, recorder.state, id(frame.f_code), frame.f_lasti,
        )  # fmt: skip
        hit = recorder.cache.get(key)
    except (AttributeError, TypeError, ValueError):
        hit = key = None
    if hit is None:
        hit = recorder.cache[key] = _build_to_register(frame, row, first, second, mode, given, params)
    play(hit)


def _build_to_register(frame: FrameType, row: Row, src0: Any, src1: Any, cmp_mode: Any, mask: Any, params: Any) -> Hit:
    sources = (("src0", src0), ("src1", src1))
    dtypes = checks.check_tensors(row, sources)
    mode = _checked_mode(row, cmp_mode, dtypes[0])
    walk, after = masked_walk(row, lanes_of(src0), mask, 1, True)
    if walk.repeats > 1:
        refuse(
            row.name,
            f"the form without dst compares one repeat of {walk.lanes} lanes, not {counted(walk.elements, 'element')}",
        )
    operands = _strided(row, sources, params, BinaryRepeatParams)
    for role, tensor, layout in operands:
        fits(row.name, role, tensor, layout.end(walk) - tensor.addr)
    layouts = [layout for _, _, layout in operands]
    reads = tuple(region for layout in layouts for region in layout.regions(walk))
    work = vector_work(walk, layouts, False, True, None)
    instr = make_instr(frame, row, work, reads, (), f"{mode.name} to register")
    return instr, _register_run(walk, layouts, COMPARISONS[mode]), after


def _register_run(walk: Walk, layouts: list[Layout], comparison: Any) -> Run | None:
    if not RECORDER.values or not walk.elements:
        return None
    readers = [flushing_function(lane_reader(RECORDER.ub, walk, layout, 0)) for layout in layouts]
    _, lanes = walk.active()

    def run() -> None:
        bits = np.unpackbits(compare_mask(), bitorder="little")
        bits[lanes] = comparison(*(read() for read in readers))[0][lanes]
        compare_mask()[:] = np.packbits(bits, bitorder="little")

    return run


def compare_mask() -> Any:
    """The 16 bytes of the running block's compare-mask register; zeros at first."""
    if RECORDER.cmp_mask is None:
        RECORDER.cmp_mask = np.zeros(REGISTER_BYTES, np.uint8)
    return RECORDER.cmp_mask
