"""Host tiling of inplace_partial_rotary_mul_grad, which exists on the 950 alone.

The templates are those of the forward operator, with another budget: a cos row counts as so many rows of dy as it
takes the place of. dy, cos, sin and the result are double-buffered, so a line of dy takes 4 rows (2 of dy, 2 of the
result).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ascend_sim.host.tiling import Tiling, TilingContext, ceil_div

from ..shared.cuts_arch35 import (
    COS_TEXT,
    HEADS_BEFORE_POSITIONS,
    ONE_AXIS,
    POSITIONS_AND_HEADS,
    Plan,
    View,
    batches_and_positions,
    heads_before_positions,
    one_axis,
    positions_and_heads,
)
from ..shared.limits import MOST_COPIED_BLOCKS
from ..shared.rotations import INTERLEAVE
from ..shared.splits_arch35 import UB_BLOCK_BYTES, split_by_cores, split_by_steps, split_positions_n
from ..shared.structs import answer
from .checks import RopeCall, Slice, check
from .struct import struct_of

KEYS = {"ABA": 201, "BA": 202, "BAB": 203, "AB": 204, "A": 205, "B": 206}
KEY_NOOP = 403
QUEUES = 4  # dy and result, double-buffered, or cos and sin, double-buffered
BUFFERS = ("inQueDy", "inQueCos", "inQueSin", "outQueDx")


def tiling(context: TilingContext) -> Tiling:
    """The host code: checks, then the template that the shape of cos asks for."""
    call = check(context)
    if isinstance(call, Slice):
        return _noop(context, call)
    cut = _plan(context, call)
    return tiling_of(context, call, cut, fields_of(call, cut))


def _plan(context: TilingContext, call: RopeCall) -> Plan:
    room, view = _room(context, call), View.of(call.dims)
    if view.template in ONE_AXIS:
        return _one_axis(context, call, room, view)
    if view.template in POSITIONS_AND_HEADS:
        return _positions_and_heads(context, room, view)
    if view.template in HEADS_BEFORE_POSITIONS:
        return _heads_before_positions(context, room, view)
    return _batches_and_positions(context, room, view)


def _noop(context: TilingContext, part: Slice) -> Tiling:
    fields = {
        "usedCoreNum": 1,
        "rotaryMode": INTERLEAVE,
        "sliceStart": part.start,
        "sliceEnd": part.end,
        "sliceLength": part.length,
    }
    meaning = "the slice or an input is empty: nothing to rotate"
    return answer(context, struct_of("noop"), key=KEY_NOOP, meaning=meaning, block_dim=1, fields=fields, path="noop")


@dataclass(frozen=True, slots=True)
class Room:
    """`rows` of dy that a quarter of UB holds; a row of cos counts as `cos` of them."""

    rows: int
    cos: int

    def lines(self) -> int:
        """Heads of one position, beside its cos row."""
        return min(self.rows - self.cos, MOST_COPIED_BLOCKS)

    def times(self, lines: int) -> int:
        """How often `lines` and a cos row fit."""
        return self.rows // (lines + self.cos)


def _room(context: TilingContext, call: RopeCall) -> Room:
    """The budget of all templates; there must be room for one line and its cos row."""
    rows = context.ub_bytes // QUEUES // UB_BLOCK_BYTES * UB_BLOCK_BYTES // call.dy_row
    cos = ceil_div(call.cos_row, call.dy_row)
    needed = QUEUES * (cos + 1) * call.dy_row
    context.require(
        rows > cos,
        f"rows of {call.part.length} elements are too long: a line and its cos need {needed} B of unified buffer, only "
        f"{context.ub_bytes} B are there",
    )
    return Room(rows, cos)


def fields_of(call: RopeCall, cut: Plan) -> dict[str, int]:
    """What the struct of the template says."""
    view = cut.view
    found = {"b": view.b, "s": view.s, "n": view.n, "usedCoreNum": cut.cores, **same_in_all(call)}
    return found | (in_ab(call) if cut.template == "AB" else {}) | cut.fields


def same_in_all(call: RopeCall) -> dict[str, int]:
    """The fields that the call alone decides."""
    part = call.part
    return {
        "d": call.full_dim,
        "dSplitCoef": 1,
        "rotaryMode": INTERLEAVE,
        "sliceStart": part.start,
        "sliceEnd": part.end,
        "sliceLength": part.length,
    }


def in_ab(call: RopeCall) -> dict[str, int]:
    """More of them, which template AB has."""
    return {"dAlign": call.dy_row // call.dy_itemsize}


def tiling_of(context: TilingContext, call: RopeCall, cut: Plan, fields: Mapping[str, int]) -> Tiling:
    """A tiling of these fields, whose template cuts the lines as `cut` says."""
    dtypes = call.dtype if call.dtype == call.cos_dtype else f"{call.dtype} with {call.cos_dtype} cos"
    return answer(
        context,
        struct_of(cut.template),
        key=KEYS[cut.template],
        meaning=f"template {cut.template}, {dtypes}: {COS_TEXT[cut.template].format('dy')}",
        block_dim=cut.cores,
        fields=fields,
        path=cut.template,
        shares=cut.shares,
        buffers=cut.buffers(call.dy_row, call.cos_row, BUFFERS),
    )


def _one_axis(context: TilingContext, call: RopeCall, room: Room, view: View) -> Plan:
    factor = ceil_div(view.b, context.cores)
    beside_one_row = (context.ub_bytes - 2 * call.cos_row) // (QUEUES * call.dy_row)
    fit = room.times(1) if view.template == "A" else beside_one_row
    return one_axis(view, ceil_div(view.b, factor), factor, min(factor, fit, MOST_COPIED_BLOCKS))


def _positions_and_heads(context: TilingContext, room: Room, view: View) -> Plan:
    grid = split_positions_n(view.positions, view.n, context.cores)
    factor_n = min(grid.factor_n, room.lines())
    factor_bs = max(1, min(room.times(factor_n), grid.factor_bs))
    return positions_and_heads(view, grid, factor_bs, factor_n)


def _heads_before_positions(context: TilingContext, room: Room, view: View) -> Plan:
    """UB is filled along N, then B, then S (the forward operator starts with S)."""
    grid = split_by_cores(view.b, view.s, context.cores)
    factor_n = min(view.n, room.lines())
    factor_b = max(1, min(grid.factor_b, room.times(factor_n)))
    shared = view.template == "BA"
    fit = room.times(factor_b * factor_n) if shared else room.rows // (factor_b * (factor_n + room.cos))
    return heads_before_positions(view, grid, max(1, min(grid.factor_s, fit)), factor_b, factor_n)


def _batches_and_positions(context: TilingContext, room: Room, view: View) -> Plan:
    """Heads in equal steps."""
    factor_n = min(ceil_div(view.n, ceil_div(view.n, room.rows - room.cos)), MOST_COPIED_BLOCKS)
    grid, factor_s = split_by_steps(view.b, view.s, context.cores, max(1, room.times(factor_n)))
    return batches_and_positions(view, grid, factor_s, factor_n)
