"""Host tiling of inplace_partial_rotary_mul_grad, which exists on the 950 alone.

The templates are those of the forward operator, with another budget: a cos row counts as so many rows of dy as it
takes the place of. dy, cos, sin and the result are double-buffered, so a line of dy takes 4 rows (2 of dy, 2 of the
result).
"""

from __future__ import annotations

from dataclasses import dataclass

from ascend_sim.host.tiling import CoreShare, Loop, Tiling, TilingContext, UbBuffer, ceil_div

from ..shared.rope_layout import RopeLayout
from ..shared.rotations import INTERLEAVE
from ..shared.splits_arch35 import (
    MAX_COPY_BLOCKS,
    UB_BLOCK_BYTES,
    Axis,
    one_axis_shares,
    shares,
    split_by_cores,
    split_by_steps,
    split_positions_n,
)
from ..shared.structs import answer
from ..shared.templates_arch35 import COS_TEXT
from .checks import RopeCall, Slice, check
from .struct import struct_of

KEYS = {"ABA": 201, "BA": 202, "BAB": 203, "AB": 204, "A": 205, "B": 206}
KEY_NOOP = 403
QUEUES = 4  # dy and result, double-buffered, or cos and sin, double-buffered


def tiling(context: TilingContext) -> Tiling:
    """The host code: checks, then the template that the shape of cos asks for."""
    call = check(context)
    if isinstance(call, Slice):
        return _noop(context, call)
    room = _room(context, call)
    match call.dims.layout:
        case RopeLayout.NO_BROADCAST | RopeLayout.BROADCAST_BSN:
            return _one_axis(context, call, room)
        case RopeLayout.SBND:
            return _positions_and_heads(context, call, room)
        case RopeLayout.BNSD:
            return _heads_before_positions(context, call, room)
        case RopeLayout.BSND:
            return _batches_and_positions(context, call, room)


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
        return min(self.rows - self.cos, MAX_COPY_BLOCKS)

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


def _answer(
    context: TilingContext,
    call: RopeCall,
    template: str,
    fields: dict[str, int],
    core_shares: tuple[CoreShare, ...],
    buffers: tuple[UbBuffer, ...],
) -> Tiling:
    part = call.part
    common = {
        "d": call.full_dim,
        "dSplitCoef": 1,
        "rotaryMode": INTERLEAVE,
        "sliceStart": part.start,
        "sliceEnd": part.end,
        "sliceLength": part.length,
    }
    dtypes = call.dtype if call.dtype == call.cos_dtype else f"{call.dtype} with {call.cos_dtype} cos"
    return answer(
        context,
        struct_of(template),
        key=KEYS[template],
        meaning=f"template {template}, {dtypes}: {COS_TEXT[template].format('dy')}",
        block_dim=fields["usedCoreNum"],
        fields=common | fields,
        path=template,
        shares=core_shares,
        buffers=buffers,
    )


def _buffers(call: RopeCall, lines: int, cos_rows: int, cos_count: int = 2) -> tuple[UbBuffer, ...]:
    return (
        UbBuffer("inQueDy", lines * call.dy_row, 2),
        UbBuffer("inQueCos", cos_rows * call.cos_row, cos_count),
        UbBuffer("inQueSin", cos_rows * call.cos_row, cos_count),
        UbBuffer("outQueDx", lines * call.dy_row, 2),
    )


def _one_axis(context: TilingContext, call: RopeCall, room: Room) -> Tiling:
    """A and B: all lines are one axis. B keeps its one cos row in a single buffer."""
    dims = call.dims
    lines = dims.b * dims.s * dims.n
    factor = ceil_div(lines, context.cores)
    whole = dims.layout is RopeLayout.NO_BROADCAST
    fit = room.times(1) if whole else (context.ub_bytes - 2 * call.cos_row) // (QUEUES * call.dy_row)
    per_step = min(factor, fit, MAX_COPY_BLOCKS)
    cores = ceil_div(lines, factor)
    fields = {
        "b": lines,
        "s": 1,
        "n": 1,
        "usedCoreNum": cores,
        "blockNumB": cores,
        "blockFactorB": factor,
        "ubFactorB": per_step,
    }
    buffers = _buffers(call, per_step, per_step) if whole else _buffers(call, per_step, 1, cos_count=1)
    core_shares = one_axis_shares(lines, factor, per_step)
    return _answer(context, call, "A" if whole else "B", fields, core_shares, buffers)


def _positions_and_heads(context: TilingContext, call: RopeCall, room: Room) -> Tiling:
    """AB: positions and heads over cores; where cos is the same for all batches, their heads count together."""
    dims = call.dims
    positions, heads = (dims.s, dims.b * dims.n) if dims.cos_b == 1 else (dims.b * dims.s, dims.n)
    grid = split_positions_n(positions, heads, context.cores)
    factor_n = min(grid.factor_n, room.lines())
    factor_bs = max(1, min(room.times(factor_n), grid.factor_bs))
    fields = {
        "b": dims.b,
        "s": dims.s,
        "n": heads,
        "usedCoreNum": grid.cores,
        "dAlign": call.dy_row // call.dy_itemsize,
        "ubFactorBS": factor_bs,
        "ubFactorN": factor_n,
        **grid.fields(),
    }

    def loops(positions: int, heads: int) -> tuple[Loop, ...]:
        return Loop.over("positions", positions, factor_bs), Loop.over("heads", heads, factor_n)

    core_shares = shares(Axis("S", positions, grid.factor_bs), Axis("N", heads, grid.factor_n), 1, loops)
    return _answer(context, call, "AB", fields, core_shares, _buffers(call, factor_bs * factor_n, factor_bs))


def _heads_before_positions(context: TilingContext, call: RopeCall, room: Room) -> Tiling:
    """ABA and BA: UB is filled along N, then B, then S (the forward operator starts with S)."""
    dims = call.dims
    grid = split_by_cores(dims.b, dims.s, context.cores)
    template = "BA" if dims.cos_b == 1 else "ABA"
    factor_n = min(dims.n, room.lines())
    factor_b = max(1, min(grid.factor_b, room.times(factor_n)))
    fit = room.times(factor_b * factor_n) if template == "BA" else room.rows // (factor_b * (factor_n + room.cos))
    factor_s = max(1, min(grid.factor_s, fit))
    fields = {
        "b": dims.b,
        "s": dims.s,
        "n": dims.n,
        "usedCoreNum": grid.cores,
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
    return _answer(context, call, template, fields, core_shares, buffers)


def _batches_and_positions(context: TilingContext, call: RopeCall, room: Room) -> Tiling:
    """BAB: batches and positions over cores; heads in equal steps."""
    dims = call.dims
    factor_n = min(ceil_div(dims.n, ceil_div(dims.n, room.rows - room.cos)), MAX_COPY_BLOCKS)
    heads = Loop.over("heads", dims.n, factor_n)
    grid, factor_s = split_by_steps(dims.b, dims.s, context.cores, max(1, room.times(factor_n)))
    fields = {
        "b": dims.b,
        "s": dims.s,
        "n": dims.n,
        "usedCoreNum": grid.cores,
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
    return _answer(context, call, "BAB", fields, core_shares, _buffers(call, factor_s * factor_n, factor_s))
