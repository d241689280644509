"""Host tiling of inplace_partial_rotary_mul on the 950 (arch 3510).

Templates are named by how cos varies along B, S and N of the layout that its shape gives: A is a dim that cos has, B
one that it broadcasts over. Every line (one head at one position) lies in UB as a row padded to whole blocks. x, cos,
sin and the result are double-buffered, so a line of x takes 4 rows (2 of x, 2 of the result).
"""

from __future__ import annotations

from dataclasses import replace

from ascend_sim.host.tiling import DOES_NOT_FIT, CoreShare, Loop, Tiling, TilingContext, UbBuffer, ceil_div

from ..shared.rope_layout import RopeLayout
from ..shared.splits_arch35 import (
    MAX_COPY_BLOCKS,
    UB_BLOCK_BYTES,
    Axis,
    fill_heads_first,
    one_axis_shares,
    shares,
    split_by_cores,
    split_by_steps,
    split_positions_n,
)
from ..shared.templates_arch35 import COS_TEXT
from .checks_arch35 import RopeCall, Slice, check
from .struct import answer

KEYS = {"ABA": 20010, "BA": 20011, "BAB": 20020, "AB": 20030, "A": 20040, "B": 20041}
KEY_MIXED = {"bfloat16": 100, "float16": 200}
KEY_NOOP = KEYS["A"]
INTERLEAVE = 1
QUEUES = 4  # x and result, double-buffered, or cos and sin, double-buffered


def tiling(context: TilingContext) -> Tiling:
    """The 950's host code: checks, then the template that the shape of cos asks for."""
    call = check(context)
    if isinstance(call, Slice):
        return _noop(context, call)
    match call.dims.layout:
        case RopeLayout.NO_BROADCAST:
            return _one_axis(context, call, "A")
        case RopeLayout.BROADCAST_BSN:
            return _one_axis(context, call, "B")
        case RopeLayout.SBND:
            return _positions_and_heads(context, call)
        case RopeLayout.BNSD:
            return _heads_before_positions(context, call)
        case RopeLayout.BSND:
            return _batches_and_positions(context, call)


def _noop(context: TilingContext, part: Slice) -> Tiling:
    fields = {"D": part.full_dim, "rotaryMode": INTERLEAVE, "sliceStart": part.start, "sliceEnd": part.start}
    meaning = "the slice or cos is empty: nothing to rotate"
    return answer(context, KEY_NOOP, meaning, 1, fields, "noop")


def _answer(
    context: TilingContext,
    call: RopeCall,
    template: str,
    block_dim: int,
    fields: dict[str, int],
    core_shares: tuple[CoreShare, ...],
    buffers: tuple[UbBuffer, ...],
) -> Tiling:
    part = call.part
    common = {
        "D": part.full_dim,
        "rotaryMode": INTERLEAVE,
        "sliceStart": part.start,
        "sliceEnd": part.end,
        "sliceLength": part.length,
    }
    key = KEYS[template] + (KEY_MIXED[call.dtype] if call.mixed else 0)
    dtypes = f"{call.dtype} with float32 cos" if call.mixed else call.dtype
    meaning = f"template {template}, {dtypes}: {COS_TEXT[template].format('x')}"
    found = answer(context, key, meaning, block_dim, common | fields, template)
    return replace(found, shares=core_shares, buffers=buffers)


def _buffers(call: RopeCall, lines: int, cos_rows: int, cos_count: int = 2) -> tuple[UbBuffer, ...]:
    return (
        UbBuffer("inQueX", lines * call.x_row, 2),
        UbBuffer("inQueCos", cos_rows * call.cos_row, cos_count),
        UbBuffer("inQueSin", cos_rows * call.cos_row, cos_count),
        UbBuffer("outQueY", lines * call.x_row, 2),
    )


def _require_room(context: TilingContext, call: RopeCall, fits: bool, needed: int) -> None:
    context.require(
        fits,
        f"rows of {call.part.length} elements are too long: this template needs {needed} B of unified buffer, "
        f"only {context.ub_bytes} B are there",
        DOES_NOT_FIT,
    )


# --- A and B: all lines are one axis ---------------------------------------------------------------------------------


def _one_axis(context: TilingContext, call: RopeCall, template: str) -> Tiling:
    dims = call.dims
    lines = dims.b * dims.s * dims.n
    factor = ceil_div(lines, context.cores)
    room = _room_a(context, call) if template == "A" else _room_b(context, call)
    per_step = min(factor, room, MAX_COPY_BLOCKS)
    fields = {
        "B": lines,
        "CosB": lines if template == "A" else 1,
        "S": 1,
        "N": 1,
        "blockNumB": ceil_div(lines, factor),
        "blockFactorB": factor,
        "ubFactorB": per_step,
    }
    buffers = _buffers(call, per_step, per_step) if template == "A" else _buffers(call, per_step, 1, cos_count=1)
    core_shares = one_axis_shares(lines, factor, per_step)
    return _answer(context, call, template, fields["blockNumB"], fields, core_shares, buffers)


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


def _positions_and_heads(context: TilingContext, call: RopeCall) -> Tiling:
    dims = call.dims
    positions, heads = (dims.s, dims.b * dims.n) if dims.cos_b == 1 else (dims.b * dims.s, dims.n)
    grid = split_positions_n(positions, heads, context.cores)
    rows = context.ub_bytes // QUEUES // UB_BLOCK_BYTES * UB_BLOCK_BYTES // call.x_row
    cos_rows = ceil_div(call.cos_row, call.x_row) if call.mixed else 1  # what a cos row takes, in rows of x
    # without mixed dtypes the host code asks for one row only, and leaves none for x then
    needed = cos_rows + 1
    _require_room(context, call, rows >= needed, QUEUES * needed * call.x_row)
    factor_n = min(grid.factor_n, rows - cos_rows, MAX_COPY_BLOCKS)
    factor_bs = max(1, min(rows // (factor_n + cos_rows), grid.factor_bs))
    fields = {
        "B": dims.b,
        "CosB": dims.cos_b,
        "S": dims.s,
        "N": heads,
        "dAlign": call.x_row // call.x_itemsize,
        "dSplitCoef": 1,
        "ubFactorBS": factor_bs,
        "ubFactorN": factor_n,
        **grid.fields(),
    }

    def loops(positions: int, heads: int) -> tuple[Loop, ...]:
        return Loop.over("positions", positions, factor_bs), Loop.over("heads", heads, factor_n)

    core_shares = shares(Axis("S", positions, grid.factor_bs), Axis("N", heads, grid.factor_n), 1, loops)
    buffers = _buffers(call, factor_bs * factor_n, factor_bs)
    return _answer(context, call, "AB", grid.cores, fields, core_shares, buffers)


# --- ABA and BA: heads lie before positions --------------------------------------------------------------------------


def _heads_before_positions(context: TilingContext, call: RopeCall) -> Tiling:
    """UB is filled along S, then N, then B."""
    dims = call.dims
    grid = split_by_cores(dims.b, dims.s, context.cores)
    per_row = QUEUES * (call.x_row + call.cos_row) if call.mixed else QUEUES * call.x_row
    rows = context.ub_bytes // per_row
    _require_room(context, call, rows >= 2, 2 * per_row)
    factor_s = min(grid.factor_s, rows // 2, MAX_COPY_BLOCKS)
    factor_n, factor_b = fill_heads_first(rows // factor_s, dims.n, grid.factor_b, shared=dims.cos_b == 1)
    template = "BA" if dims.cos_b == 1 else "ABA"
    fields = {
        "B": dims.b,
        "CosB": dims.cos_b,
        "S": dims.s,
        "N": dims.n,
        "ubFactorS": factor_s,
        "ubFactorB": factor_b,
        "ubFactorN": factor_n,
        **grid.fields(),
    }

    def loops(batches: int, positions: int) -> tuple[Loop, ...]:
        return (
            Loop.over("positions", positions, factor_s),
            Loop.over("batches", batches, factor_b),
            Loop.over("heads", dims.n, factor_n),
        )

    core_shares = shares(Axis("B", dims.b, grid.factor_b), Axis("S", dims.s, grid.factor_s), dims.n, loops)
    cos_rows = factor_s if template == "BA" else factor_s * factor_b
    buffers = _buffers(call, factor_b * factor_s * factor_n, cos_rows)
    return _answer(context, call, template, grid.cores, fields, core_shares, buffers)


# --- BAB: a cos row per position, batches and positions over cores ---------------------------------------------------


def _batches_and_positions(context: TilingContext, call: RopeCall) -> Tiling:
    """The host code divides UB by 4 twice, so a step uses a quarter of it at most."""
    dims = call.dims
    per_row = 2 * (call.x_row + call.cos_row)
    rows = context.ub_bytes // per_row // 4
    _require_room(context, call, rows >= 2, 8 * per_row)  # one cos row and one of x
    loops_n = ceil_div(dims.n, rows - 1)
    factor_n = min(ceil_div(dims.n, loops_n), MAX_COPY_BLOCKS)
    heads = Loop.over("heads", dims.n, factor_n)
    grid, factor_s = split_by_steps(dims.b, dims.s, context.cores, max(1, rows // (dims.n + 1)))
    fields = {
        "B": dims.b,
        "S": dims.s,
        "N": dims.n,
        "ubFactorS": factor_s,
        "ubFactorB": 1,
        "ubLoopNumN": heads.loops,
        "ubFactorN": factor_n,
        "ubTailFactorN": heads.last,
        **grid.fields(),
    }

    def loops(batches: int, positions: int) -> tuple[Loop, ...]:
        return Loop.over("batches", batches, 1), Loop.over("positions", positions, factor_s), heads

    core_shares = shares(Axis("B", dims.b, grid.factor_b), Axis("S", dims.s, grid.factor_s), dims.n, loops)
    buffers = _buffers(call, factor_s * factor_n, factor_s)
    return _answer(context, call, "BAB", grid.cores, fields, core_shares, buffers)
