"""`reduce_sum`, `reduce_max`, `reduce_min`: one result for a whole tensor, by the instruction sequences of 2201.

The sum of the count form is one instruction in Counter mode that adds the repeats' tree sums one after another, and a
scalar store. The other forms reduce repeats into `shared_tmp_buffer`, level by level, until one result is left; the
scalar unit then works out the index and moves the result to `dst` (soc_specs 2.5).
"""

from __future__ import annotations

from sys import _getframe
from types import FrameType
from typing import Any, NamedTuple, Protocol

import numpy as np

from ascend_sim.asc import checks
from ascend_sim.asc.forms import Mask, mask_argument, named
from ascend_sim.asc.issue import counted_walk, dense_layout, lanes_of, make_instr, mask_bits, vector_work
from ascend_sim.asc.operands import fits, local, whole
from ascend_sim.asc.recorder import RECORDER, Run
from ascend_sim.asc.reduce import MAX_STRIDE
from ascend_sim.asc.reduce_levels import Extreme, Sum
from ascend_sim.asc.sequence import EventIds, Played, Steps, building, event_ids, play
from ascend_sim.asc.state import FULL_MASK
from ascend_sim.asc.subnormals import flushing_function
from ascend_sim.asc.tensors import LocalTensor
from ascend_sim.asc.views import lane_reader, typed
from ascend_sim.isa import reduce as rows
from ascend_sim.isa.enums import MaskMode
from ascend_sim.isa.row import Row
from ascend_sim.program import HardEvent

__all__ = ["reduce_max", "reduce_min", "reduce_sum"]

MAX_REPEATS = (1 << 31) - 1


class Call(NamedTuple):
    """The arguments of one call after its tensors."""

    count: Any  # elements, or the mask when `repeats` is given
    repeats: Any
    src_rep_stride: Any
    cal_index: Any


def reduce_sum(
    dst: LocalTensor,
    src: LocalTensor,
    shared_tmp_buffer: LocalTensor,
    count: Mask | None = None,
    repeat_time: int | None = None,
    src_rep_stride: int | None = None,
    *,
    mask: Mask | None = None,
) -> None:
    """ReduceSum: count form `(dst, src, shared_tmp_buffer, count)`, or `(..., mask, repeat_time, src_rep_stride)`."""
    if repeat_time is not None or mask is not None:
        count = mask_argument(rows.REDUCE_SUM, count, mask, repeat_time)
    call = Call(count, repeat_time, src_rep_stride, False)
    _record(_getframe(1), rows.REDUCE_SUM, dst, src, shared_tmp_buffer, call)


class ExtremeCall(Protocol):
    """`(dst, src, shared_tmp_buffer, count, cal_index=False)`, or with mask, repeat_time and src_rep_stride."""

    def __call__(
        self,
        dst: LocalTensor,
        src: LocalTensor,
        shared_tmp_buffer: LocalTensor,
        count: Mask | None = None,
        repeat_time: int | bool | None = None,
        src_rep_stride: int | None = None,
        cal_index: bool = False,
        *,
        mask: Mask | None = None,
    ) -> None: ...


def extreme_call(row: Row) -> ExtremeCall:
    """The call of ReduceMax or ReduceMin."""

    def call(
        dst: Any, src: Any, shared_tmp_buffer: Any, count: Any = None, repeat_time: Any = None,
        src_rep_stride: Any = None, cal_index: Any = False, *, mask: Any = None,
    ) -> None:  # fmt: skip
        given = _extreme_arguments(row, count, repeat_time, src_rep_stride, cal_index, mask)
        _record(_getframe(1), row, dst, src, shared_tmp_buffer, given)

    extreme: ExtremeCall = named(call, row)
    return extreme


def _extreme_arguments(row: Row, count: Any, repeat_time: Any, src_rep_stride: Any, cal_index: Any, mask: Any) -> Call:
    if isinstance(repeat_time, bool) and src_rep_stride is None:  # cal_index as fifth argument of the count form
        repeat_time, cal_index = None, repeat_time
    if repeat_time is not None or mask is not None:
        count = mask_argument(row, count, mask, repeat_time)
    return Call(count, repeat_time, src_rep_stride, cal_index)


def _record(frame: FrameType, row: Row, dst: Any, src: Any, tmp: Any, call: Call) -> None:
    recorder = RECORDER
    ids = event_ids()
    try:
        key = (
            row.call, dst.key, src.key, tmp.key, call, ids,
            recorder.pending, recorder.state, id(frame.f_code), frame.f_lasti,
        )  # fmt: skip
        found = recorder.cache.get(key)
    except (AttributeError, TypeError, ValueError):
        found = key = None
    if found is None:
        found = recorder.cache[key] = building(lambda: _build(frame, row, dst, src, tmp, call, ids))
    play(found)


def _build(frame: FrameType, row: Row, dst: Any, src: Any, tmp: Any, call: Call, ids: EventIds) -> Played:
    source = local(row.name, "src", src)
    temporary = local(row.name, "shared_tmp_buffer", tmp)
    target = local(row.name, "dst", dst, source.dtype.itemsize * (2 if call.cal_index else 1))
    for role, tensor in (("dst", target), ("shared_tmp_buffer", temporary)):
        checks.check_dtypes(row, (role, "src"), (tensor.dtype, source.dtype), call.repeats is None)
    steps = Steps(frame, ids)
    if row is rows.REDUCE_SUM and call.repeats is None:
        return _sum_in_order(steps, row, target, source, call.count)
    RECORDER.state = RECORDER.state.replace(mask_mode=MaskMode.NORMAL, mask=FULL_MASK)
    kind = Sum if row is rows.REDUCE_SUM else Extreme
    levels = kind(steps, row, target, source, temporary, bool(call.cal_index))
    if isinstance(levels, Extreme) and call.repeats is None:
        levels.reduce_count(whole(row.name, "count", call.count, 0, source.size))
        return steps.finish(RECORDER.state)
    repeats = whole(row.name, "repeat_time", call.repeats, 0, MAX_REPEATS)
    stride = whole(row.name, "src_rep_stride", call.src_rep_stride, 0, MAX_STRIDE, "in blocks of 32 B")
    bits = mask_bits(row, call.count, levels.lanes)
    if repeats:
        levels.check(repeats, stride)
        levels.reduce(source, bits, repeats, stride)
    return steps.finish(RECORDER.state)


def _sum_in_order(steps: Steps, row: Row, dst: LocalTensor, src: LocalTensor, count: Any) -> Played:
    """Count form of the sum: repeats are added in order, in the type of the operand."""
    walk, after = counted_walk(row, lanes_of(src), count)
    layout = dense_layout(src, walk.lanes)
    fits(row.name, "src", src, layout.end(walk) - src.addr)
    fits(row.name, "dst", dst, src.dtype.itemsize)
    if not walk.elements:
        return steps.finish(after)
    total = np.zeros((), src.dtype.numpy)
    add: Run | None = None
    store: Run | None = None
    if RECORDER.values:
        read = flushing_function(lane_reader(RECORDER.ub, walk, layout, 0))
        out = typed(RECORDER.ub, dense_layout(dst, 1))
        saturates = RECORDER.state.half_saturates

        def add() -> None:
            with np.errstate(all="ignore"):
                sums = rows.tree_sum(read(), saturates)
                total[...] = sums[0]
                for value in sums[1:]:
                    total[...] = rows.add_rounded(total, value, saturates)

        def store() -> None:
            out[0] = total

    work = vector_work(walk, [layout], True, True, None)
    steps.add((make_instr(steps.frame, row, work, layout.regions(walk), (), "sum register"), add, after))
    steps.flags(HardEvent.V_S)
    steps.store(dst.addr, src.dtype.itemsize, store)
    steps.flags(HardEvent.S_V, HardEvent.S_MTE3)
    return steps.finish(after)


reduce_max = extreme_call(rows.REDUCE_MAX)
reduce_min = extreme_call(rows.REDUCE_MIN)
