"""Reductions within repeats (`whole_reduce_*`, `repeat_reduce_sum`), blocks (`block_reduce_*`) and pairs.

All have the mask/repeat form only. Source strides count 32 B blocks; the destination's repeat stride counts results:
one value (or value and index) per repeat, eight values per repeat for blocks, half a repeat (128 B) for pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from types import FrameType
from typing import Any, NamedTuple, Protocol

import numpy as np

from ascend_sim.asc import checks
from ascend_sim.asc.forms import Mask, named
from ascend_sim.asc.issue import Hit, lanes_of, make_instr, masked_walk, play, vector_work
from ascend_sim.asc.operands import fits, local, refuse
from ascend_sim.asc.recorder import RECORDER, Run
from ascend_sim.asc.subnormals import flushing_function
from ascend_sim.asc.tensors import LocalTensor
from ascend_sim.asc.views import active_lanes, lane_reader, lane_writer
from ascend_sim.asc.walk import Layout, Walk
from ascend_sim.isa import reduce as rows
from ascend_sim.isa.dtypes import DataType, uint16, uint32
from ascend_sim.isa.enums import ReduceOrder
from ascend_sim.isa.numeric import Array, maximum, minimum
from ascend_sim.isa.row import Row
from ascend_sim.program import BLOCK_BYTES

__all__ = [
    "block_reduce_max",
    "block_reduce_min",
    "block_reduce_sum",
    "pair_reduce_sum",
    "repeat_reduce_sum",
    "whole_reduce_max",
    "whole_reduce_min",
    "whole_reduce_sum",
]

MAX_STRIDE = 65535


class Call(NamedTuple):
    """The arguments of one reduction, in the order of a recorder key; strides as the caller gave them."""

    mask: Any
    repeats: Any
    dst_rep_stride: Any
    src_blk_stride: Any
    src_rep_stride: Any
    is_set_mask: Any = True
    order: ReduceOrder = ReduceOrder.ORDER_ONLY_VALUE


Results = tuple[Walk, Layout]
Compute = Callable[[Array], Array]  # (repeats, lanes) to (repeats, results per repeat)


class ExtremeCall(Protocol):
    """A largest or smallest value per repeat, with or without its lane number."""

    def __call__(
        self,
        dst: LocalTensor,
        src: LocalTensor,
        mask: Mask,
        repeat_time: int,
        dst_rep_stride: int,
        src_blk_stride: int,
        src_rep_stride: int,
        order: ReduceOrder = ReduceOrder.ORDER_VALUE_INDEX,
    ) -> None: ...


class BlockCall(Protocol):
    """A result per block of 32 B."""

    def __call__(
        self,
        dst: LocalTensor,
        src: LocalTensor,
        repeat: int,
        mask: Mask,
        dst_rep_stride: int,
        src_blk_stride: int,
        src_rep_stride: int,
    ) -> None: ...


def _extreme_call(row: Row) -> ExtremeCall:
    def call(
        dst: Any, src: Any, mask: Any, repeat_time: Any, dst_rep_stride: Any, src_blk_stride: Any, src_rep_stride: Any,
        order: Any = ReduceOrder.ORDER_VALUE_INDEX,
    ) -> None:  # fmt: skip
        given = Call(mask, repeat_time, dst_rep_stride, src_blk_stride, src_rep_stride, True, order)
        record(_getframe(1), row, dst, src, given, reduce_repeats)

    extreme: ExtremeCall = named(call, row)
    return extreme


def _block_call(row: Row) -> BlockCall:
    def call(
        dst: Any, src: Any, repeat: Any, mask: Any, dst_rep_stride: Any, src_blk_stride: Any, src_rep_stride: Any
    ) -> None:
        given = Call(mask, repeat, dst_rep_stride, src_blk_stride, src_rep_stride)
        record(_getframe(1), row, dst, src, given, reduce_blocks)

    block: BlockCall = named(call, row)
    return block


def repeat_reduce_sum(
    dst: LocalTensor,
    src: LocalTensor,
    repeat_time: int,
    mask: int,
    dst_blk_stride: int,
    src_blk_stride: int,
    dst_rep_stride: int,
    src_rep_stride: int,
    is_set_mask: bool = True,
) -> None:
    """RepeatReduceSum: one sum per repeat; `dst_blk_stride` has no effect (pyasc)."""
    call = Call(mask, repeat_time, dst_rep_stride, src_blk_stride, src_rep_stride, is_set_mask)
    record(_getframe(1), rows.REPEAT_REDUCE_SUM, dst, src, call, reduce_repeats)


def pair_reduce_sum(
    dst: LocalTensor,
    src: LocalTensor,
    repeat_time: int,
    mask: Mask,
    dst_rep_stride: int,
    src_blk_stride: int,
    src_rep_stride: int,
    is_set_mask: bool = True,
) -> None:
    """PairReduceSum: sums of neighbours."""
    call = Call(mask, repeat_time, dst_rep_stride, src_blk_stride, src_rep_stride, is_set_mask)
    record(_getframe(1), rows.PAIR_REDUCE_SUM, dst, src, call, reduce_pairs)


def whole_reduce_sum(
    dst: LocalTensor,
    src: LocalTensor,
    mask: Mask,
    repeat_time: int,
    dst_rep_stride: int,
    src_blk_stride: int,
    src_rep_stride: int,
    is_set_mask: bool = True,
) -> None:
    """WholeReduceSum: one sum per repeat."""
    call = Call(mask, repeat_time, dst_rep_stride, src_blk_stride, src_rep_stride, is_set_mask)
    record(_getframe(1), rows.WHOLE_REDUCE_SUM, dst, src, call, reduce_repeats)


def record(frame: FrameType, row: Row, dst: Any, src: Any, call: Call, build: Callable[..., Hit]) -> None:
    """Look the call up, or build it, and record it."""
    recorder = RECORDER
    if isinstance(call.mask, list):
        call = call._replace(mask=tuple(call.mask))
    try:
        key = (
            row.call, dst.key, src.key, call,
            recorder.pending, recorder.state, id(frame.f_code), frame.f_lasti,
        )  # fmt: skip
        hit = recorder.cache.get(key)
    except (AttributeError, TypeError, ValueError):
        hit = key = None
    if hit is None:
        hit = recorder.cache[key] = build(frame, row, dst, src, call)
    play(hit)


def reduce_repeats(frame: FrameType, row: Row, dst: LocalTensor, src: LocalTensor, call: Call) -> Hit:
    """One result per repeat: a value, or value and index in the asked order."""
    order = checked_order(row, call.order)
    both = order in (ReduceOrder.ORDER_VALUE_INDEX, ReduceOrder.ORDER_INDEX_VALUE)
    walk, source, after = _source(row, src, call)
    stored = uint32 if order is ReduceOrder.ORDER_ONLY_INDEX else src.dtype
    unit = stored.itemsize * (2 if both else 1)
    _destination(row, dst, src, unit)
    stride = checks.check_stride(row, "dst_rep_stride", call.dst_rep_stride, MAX_STRIDE, f"results of {unit} B")
    results = Walk.masked(2 if both else 1, walk.repeats, 0b11 if walk.elements else 0)
    layout = Layout(stored, dst.addr, BLOCK_BYTES, stride * unit)
    meaning = _repeat_meaning(row, src.dtype, walk, order)
    run = _run(walk, source, (results, layout), meaning, rows.filler(src.dtype, extreme_of(row)))
    return _hit(frame, row, (dst, src), (walk, source), (results, layout), run, call, after)


def checked_order(row: Row, order: Any) -> ReduceOrder:
    try:
        return ReduceOrder(order)
    except ValueError:
        refuse(row.name, f"order must be a ReduceOrder, not {order!r}")


def extreme_of(row: Row) -> Any:
    """The function of a maximum or minimum; None for sums."""
    return {"max": maximum, "min": minimum}.get(row.call.rsplit("_", 1)[1])


def _repeat_meaning(row: Row, dtype: DataType, walk: Walk, order: ReduceOrder) -> Compute:
    extreme = extreme_of(row)
    saturates = RECORDER.state.half_saturates
    if extreme is None:
        return flushing_function(lambda lanes: rows.tree_sum(lanes, saturates)[:, None])
    active = active_lanes(walk)
    index_type = (uint16 if dtype.itemsize == 2 else uint32).numpy

    def compute(lanes: Array) -> Array:
        at = rows.first_extreme(lanes, active, extreme)[:, None]
        if order is ReduceOrder.ORDER_ONLY_INDEX:
            return at.astype(np.uint32)
        value = np.take_along_axis(lanes, at, axis=1)
        if order is ReduceOrder.ORDER_ONLY_VALUE:
            return value
        index = at.astype(index_type).view(dtype.numpy)
        pair = (value, index) if order is ReduceOrder.ORDER_VALUE_INDEX else (index, value)
        return np.concatenate(pair, axis=1)

    return compute


def reduce_blocks(frame: FrameType, row: Row, dst: LocalTensor, src: LocalTensor, call: Call) -> Hit:
    """One value per block, eight per repeat; blocks without active lanes write nothing."""
    walk, source, after = _source(row, src, call)
    size, per_block = src.dtype.itemsize, source.per_block
    _destination(row, dst, src, 8 * size)
    stride = checks.check_stride(row, "dst_rep_stride", call.dst_rep_stride, MAX_STRIDE, f"{8 * size} B, 8 results")
    results = Walk(8, walk.repeats, _groups(walk.body, per_block, 8), _groups(walk.last, per_block, 8))
    layout = Layout(src.dtype, dst.addr, BLOCK_BYTES, stride * 8 * size)
    extreme, saturates = extreme_of(row), RECORDER.state.half_saturates

    def compute(lanes: Array) -> Array:
        blocks = lanes.reshape(len(lanes), 8, per_block)
        found: Array = rows.tree_sum(blocks, saturates) if extreme is None else rows.fold(blocks, extreme)
        return found

    run = _run(walk, source, (results, layout), flushing_function(compute), rows.filler(src.dtype, extreme))
    return _hit(frame, row, (dst, src), (walk, source), (results, layout), run, call, after)


def reduce_pairs(frame: FrameType, row: Row, dst: LocalTensor, src: LocalTensor, call: Call) -> Hit:
    """Sums of neighbours, half as many as lanes; pairs without active lanes write nothing."""
    walk, source, after = _source(row, src, call)
    _destination(row, dst, src, BLOCK_BYTES)
    stride = checks.check_stride(row, "dst_rep_stride", call.dst_rep_stride, MAX_STRIDE, "128 B, half a repeat")
    half = walk.lanes // 2
    results = Walk(half, walk.repeats, _groups(walk.body, 2, half), _groups(walk.last, 2, half))
    layout = Layout(src.dtype, dst.addr, BLOCK_BYTES, stride * 128)
    saturates = RECORDER.state.half_saturates
    sums = flushing_function(lambda x: rows.add_rounded(x[:, 0::2], x[:, 1::2], saturates))
    run = _run(walk, source, (results, layout), sums)
    return _hit(frame, row, (dst, src), (walk, source), (results, layout), run, call, after)


def _groups(bits: int, size: int, groups: int) -> int:
    """Bit g set where some lane of group g (of `size` lanes) is active."""
    lanes = (1 << size) - 1
    return sum(1 << g for g in range(groups) if bits >> g * size & lanes)


def _source(row: Row, src: Any, call: Call) -> tuple[Walk, Layout, Any]:
    tensor = local(row.name, "src", src)
    repeats = checks.check_repeats(row, call.repeats, "repeat")
    walk, after = masked_walk(row, lanes_of(tensor), call.mask, repeats, call.is_set_mask)
    block = checks.check_stride(row, "src_blk_stride", call.src_blk_stride, MAX_STRIDE)
    repeat = checks.check_stride(row, "src_rep_stride", call.src_rep_stride, MAX_STRIDE)
    return walk, Layout(tensor.dtype, tensor.addr, block * BLOCK_BYTES, repeat * BLOCK_BYTES), after


def _destination(row: Row, dst: Any, src: LocalTensor, alignment: int) -> None:
    tensor = local(row.name, "dst", dst, alignment)
    checks.check_dtypes(row, ("dst", "src"), (tensor.dtype, src.dtype), False)


def _run(walk: Walk, source: Layout, results: Results, compute: Compute, fill: Any = 0) -> Run | None:
    if not RECORDER.values or not walk.elements:
        return None
    read = flushing_function(lane_reader(RECORDER.ub, walk, source, fill))
    write = lane_writer(RECORDER.ub, *results)

    def run() -> None:
        with np.errstate(all="ignore"):
            write(compute(read()))

    return run


def _hit(
    frame: FrameType,
    row: Row,
    tensors: tuple[LocalTensor, LocalTensor],
    source: tuple[Walk, Layout],
    results: Results,
    run: Run | None,
    call: Call,
    after: Any,
) -> Hit:
    (walk, read), (result_walk, written), (dst, src) = source, results, tensors
    fits(row.name, "dst", dst, written.end(result_walk) - dst.addr)
    fits(row.name, "src", src, read.end(walk) - src.addr)
    checks.check_order(row, result_walk, written, "src", walk, read)
    work = vector_work(walk, [read], False, call.is_set_mask, (written.access(result_walk),))
    return make_instr(frame, row, work, read.regions(walk), written.regions(result_walk)), run, after


whole_reduce_max = _extreme_call(rows.WHOLE_REDUCE_MAX)
whole_reduce_min = _extreme_call(rows.WHOLE_REDUCE_MIN)
block_reduce_sum = _block_call(rows.BLOCK_REDUCE_SUM)
block_reduce_max = _block_call(rows.BLOCK_REDUCE_MAX)
block_reduce_min = _block_call(rows.BLOCK_REDUCE_MIN)
