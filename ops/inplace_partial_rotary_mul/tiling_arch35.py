"""Host tiling of inplace_partial_rotary_mul on the 950 (arch 3510).

Templates are named by how cos varies along B, S and N of the layout that its shape gives: A is a dim that cos has, B
one that it broadcasts over. Every line (one head at one position) lies in UB as a row padded to whole blocks. x, cos,
sin and the result are double-buffered, so a line of x takes 4 rows (2 of x, 2 of the result).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ascend_sim.host.tiling import DOES_NOT_FIT, Tiling, TilingContext, ceil_div

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
from ..shared.splits_arch35 import UB_BLOCK_BYTES, fill_heads_first, split_by_cores, split_by_steps, split_positions_n
from .checks_arch35 import RopeCall, Slice, check
from .struct import answer

KEYS = {"ABA": 20010, "BA": 20011, "BAB": 20020, "AB": 20030, "A": 20040, "B": 20041}
KEY_MIXED = {"bfloat16": 100, "float16": 200}
KEY_NOOP = KEYS["A"]
INTERLEAVE = 1
QUEUES = 4  # x and result, double-buffered, or cos and sin, double-buffered
BUFFERS = ("inQueX", "inQueCos", "inQueSin", "outQueY")


def tiling(context: TilingContext) -> Tiling:
    """The 950's host code: checks, then the template that the shape of cos asks for."""
    call = check(context)
    if isinstance(call, Slice):
        return _noop(context, call)
    cut = _plan(context, call)
    return tiling_of(context, call, cut, fields_of(call, cut))


def _plan(context: TilingContext, call: RopeCall) -> Plan:
    view = View.of(call.dims)
    if view.template in ONE_AXIS:
        return _one_axis(context, call, view)
    if view.template in POSITIONS_AND_HEADS:
        return _positions_and_heads(context, call, view)
    if view.template in HEADS_BEFORE_POSITIONS:
        return _heads_before_positions(context, call, view)
    return _batches_and_positions(context, call, view)


def _noop(context: TilingContext, part: Slice) -> Tiling:
    fields = {"D": part.full_dim, "rotaryMode": INTERLEAVE, "sliceStart": part.start, "sliceEnd": part.start}
    meaning = "the slice or cos is empty: nothing to rotate"
    return answer(context, KEY_NOOP, meaning, 1, fields, "noop")


def fields_of(call: RopeCall, cut: Plan) -> dict[str, int]:
    """What the struct says; the rest of it is 0."""
    part, view = call.part, cut.view
    found = {
        "D": part.full_dim,
        "rotaryMode": INTERLEAVE,
        "sliceStart": part.start,
        "sliceEnd": part.end,
        "sliceLength": part.length,
    }
    found |= {"B": view.b, "CosB": view.cos_b, "S": view.s, "N": view.n}
    if cut.template == "AB":
        found |= {"dAlign": call.x_row // call.x_itemsize, "dSplitCoef": 1}
    return found | cut.fields


def tiling_of(context: TilingContext, call: RopeCall, cut: Plan, fields: Mapping[str, int]) -> Tiling:
    """A tiling of these fields, whose template cuts the lines as `cut` says."""
    template = cut.template
    key = KEYS[template] + (KEY_MIXED[call.dtype] if call.mixed else 0)
    dtypes = f"{call.dtype} with float32 cos" if call.mixed else call.dtype
    meaning = f"template {template}, {dtypes}: {COS_TEXT[template].format('x')}"
    found = answer(context, key, meaning, cut.cores, dict(fields), template)
    return replace(found, shares=cut.shares, buffers=cut.buffers(call.x_row, call.cos_row, BUFFERS))


def _require_room(context: TilingContext, call: RopeCall, fits: bool, needed: int) -> None:
    context.require(
        fits,
        f"rows of {call.part.length} elements are too long: this template needs {needed} B of unified buffer, "
        f"only {context.ub_bytes} B are there",
        DOES_NOT_FIT,
    )


# --- A and B: all lines are one axis ---------------------------------------------------------------------------------


def _one_axis(context: TilingContext, call: RopeCall, view: View) -> Plan:
    factor = ceil_div(view.b, context.cores)
    room = _room_a(context, call) if view.template == "A" else _room_b(context, call)
    return one_axis(view, ceil_div(view.b, factor), factor, min(factor, room, MOST_COPIED_BLOCKS))


def _room_a(context: TilingContext, call: RopeCall) -> int:
    """Lines that fit UB, each with its own rows of cos and sin."""
    per_line = QUEUES * (call.x_row + call.cos_row)
    _require_room(context, call, context.ub_bytes >= per_line, per_line)
    return context.ub_bytes // per_line


def _room_b(context: TilingContext, call: RopeCall) -> int:
    """Lines that fit UB beside one row of cos and one of sin, which have a single buffer."""
    if call.mixed:
        fixed = 2 * call.cos_row
        _require_room(context, call, context.ub_bytes >= fixed + QUEUES * call.x_row, fixed + QUEUES * call.x_row)
        return (context.ub_bytes - fixed) // (QUEUES * call.x_row)
    pairs = context.ub_bytes // (2 * call.x_row)
    _require_room(context, call, pairs >= 4, 8 * call.x_row)
    return (pairs - 1) // 2


# --- AB: a cos row per position, positions and heads over cores ------------------------------------------------------


def _positions_and_heads(context: TilingContext, call: RopeCall, view: View) -> Plan:
    grid = split_positions_n(view.positions, view.n, context.cores)
    rows = context.ub_bytes // QUEUES // UB_BLOCK_BYTES * UB_BLOCK_BYTES // call.x_row
    cos_rows = ceil_div(call.cos_row, call.x_row) if call.mixed else 1  # what a cos row takes, in rows of x
    # without mixed dtypes the host code asks for one row only, and leaves none for x then
    needed = cos_rows + 1
    _require_room(context, call, rows >= needed, QUEUES * needed * call.x_row)
    factor_n = min(grid.factor_n, rows - cos_rows, MOST_COPIED_BLOCKS)
    factor_bs = max(1, min(rows // (factor_n + cos_rows), grid.factor_bs))
    return positions_and_heads(view, grid, factor_bs, factor_n)


# --- ABA and BA: heads lie before positions --------------------------------------------------------------------------


def _heads_before_positions(context: TilingContext, call: RopeCall, view: View) -> Plan:
    """UB is filled along S, then N, then B."""
    grid = split_by_cores(view.b, view.s, context.cores)
    per_row = QUEUES * (call.x_row + call.cos_row) if call.mixed else QUEUES * call.x_row
    rows = context.ub_bytes // per_row
    _require_room(context, call, rows >= 2, 2 * per_row)
    factor_s = min(grid.factor_s, rows // 2, MOST_COPIED_BLOCKS)
    factor_n, factor_b = fill_heads_first(rows // factor_s, view.n, grid.factor_b, shared=view.template == "BA")
    return heads_before_positions(view, grid, factor_s, factor_b, factor_n)


# --- BAB: a cos row per position, batches and positions over cores ---------------------------------------------------


def _batches_and_positions(context: TilingContext, call: RopeCall, view: View) -> Plan:
    """The host code divides UB by 4 twice, so a step uses a quarter of it at most."""
    per_row = 2 * (call.x_row + call.cos_row)
    rows = context.ub_bytes // per_row // 4
    _require_room(context, call, rows >= 2, 8 * per_row)  # one cos row and one of x
    factor_n = min(ceil_div(view.n, ceil_div(view.n, rows - 1)), MOST_COPIED_BLOCKS)
    grid, factor_s = split_by_steps(view.b, view.s, context.cores, max(1, rows // (view.n + 1)))
    return batches_and_positions(view, grid, factor_s, factor_n)
