"""The 950's six templates as rotary_position_embedding and its gradient cut them: the same formulas for both.

The other rotary operators of the 950 have budgets of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

from ascend_sim.host.tiling import DOES_NOT_FIT, CoreShare, Loop, TilingContext, UbBuffer, ceil_div

from .rope_layout import RopeDims, RopeLayout
from .rotations import HALF, INTERLEAVE, INTERLEAVE_HALF, QUARTER
from .splits_arch35 import (
    MAX_COPY_BLOCKS,
    UB_BLOCK_BYTES,
    Axis,
    fill_heads_first,
    one_axis_shares,
    row_bytes,
    shares,
    split_by_cores,
    split_by_steps,
    split_positions_n,
)

MODE_PARTS = {HALF: 2, INTERLEAVE: 1, QUARTER: 4, INTERLEAVE_HALF: 2}  # parts of a row that lie apart in UB
MODE_MULTIPLE = {HALF: 2, INTERLEAVE: 2, QUARTER: 4, INTERLEAVE_HALF: 2}  # of the elements of a row
QUEUES = 4  # x and result, double-buffered, or cos and sin, double-buffered
COS_TEXT = {
    "A": "cos the shape of {}",
    "B": "one cos row for all",
    "AB": "one cos row per position, for all its heads",
    "ABA": "one cos row per batch and position, for all heads",
    "BA": "one cos row per position, for all batches and heads",
    "BAB": "one cos row per position, for all batches and their heads",
}


@dataclass(frozen=True, slots=True)
class Rows:
    """What is cut: rows of `dim` elements that are moved in `parts` parts, positions and heads as `dims` has them."""

    dims: RopeDims
    dim: int
    itemsize: int
    parts: int

    @property
    def nbytes(self) -> int:
        """Of a row in UB."""
        return row_bytes(self.dim, self.itemsize, self.parts)

    @property
    def copy_limit(self) -> int:
        """Rows that one copy moves."""
        return MAX_COPY_BLOCKS // self.parts


@dataclass(frozen=True, slots=True)
class Plan:
    """How a template cuts the rows.

    `dims` are the sizes as the template takes them; `fields` are blocks and UB steps as the tiling structs name them.
    A step holds `lines` rows of x and `cos_rows` of cos, in `cos_count` buffers.
    """

    template: str
    cores: int
    dims: RopeDims
    fields: dict[str, int]
    shares: tuple[CoreShare, ...]
    lines: int
    cos_rows: int
    cos_count: int = 2

    def buffers(self, row: int, names: tuple[str, str, str, str]) -> tuple[UbBuffer, ...]:
        """Buffers called `names`: input, cos, sin, output."""
        x, cos, sin, out = names
        return (
            UbBuffer(x, self.lines * row, 2),
            UbBuffer(cos, self.cos_rows * row, self.cos_count),
            UbBuffer(sin, self.cos_rows * row, self.cos_count),
            UbBuffer(out, self.lines * row, 2),
        )


def plan(context: TilingContext, rows: Rows) -> Plan:
    """The template that the shape of cos asks for."""
    match rows.dims.layout:
        case RopeLayout.NO_BROADCAST | RopeLayout.BROADCAST_BSN:
            return _one_axis(context, rows)
        case RopeLayout.SBND:
            return _positions_and_heads(context, rows)
        case RopeLayout.BNSD:
            return _heads_before_positions(context, rows)
        case RopeLayout.BSND:
            return _batches_and_positions(context, rows)


def _require_room(context: TilingContext, rows: Rows, fits: bool, needed_rows: int) -> None:
    context.require(
        fits,
        f"rows of {rows.dim} elements are too long: this template needs {needed_rows * rows.nbytes} B of unified "
        f"buffer, only {context.ub_bytes} B are there",
        DOES_NOT_FIT,
    )


def _one_axis(context: TilingContext, rows: Rows) -> Plan:
    """A and B: all lines are one axis. B keeps its one cos row in a single buffer."""
    dims = rows.dims
    lines = dims.b * dims.s * dims.n
    whole = dims.layout is RopeLayout.NO_BROADCAST
    factor = ceil_div(lines, context.cores)
    pairs = context.ub_bytes // (2 * rows.nbytes)
    _require_room(context, rows, pairs >= 4, 8)
    per_step = min(factor, pairs // 4 if whole else (pairs - 1) // 2, rows.copy_limit)
    cores = ceil_div(lines, factor)
    return Plan(
        template="A" if whole else "B",
        cores=cores,
        dims=RopeDims(dims.layout, lines, lines if whole else 1, 1, 1),
        fields={"blockNumB": cores, "blockFactorB": factor, "ubFactorB": per_step},
        shares=one_axis_shares(lines, factor, per_step),
        lines=per_step,
        cos_rows=per_step if whole else 1,
        cos_count=2 if whole else 1,
    )


def _positions_and_heads(context: TilingContext, rows: Rows) -> Plan:
    """AB: positions and heads over cores; where cos is the same for all batches, their heads count together."""
    dims = rows.dims
    positions, heads = (dims.s, dims.b * dims.n) if dims.cos_b == 1 else (dims.b * dims.s, dims.n)
    grid = split_positions_n(positions, heads, context.cores)
    fit = context.ub_bytes // QUEUES // UB_BLOCK_BYTES * UB_BLOCK_BYTES // rows.nbytes
    # the host code asks for one row only and would leave none for x then
    _require_room(context, rows, fit >= 2, 2 * QUEUES)
    factor_n = min(grid.factor_n, fit - 1, rows.copy_limit)
    factor_bs = max(1, min(fit // (factor_n + 1), grid.factor_bs))

    def loops(positions: int, heads: int) -> tuple[Loop, ...]:
        return Loop.over("positions", positions, factor_bs), Loop.over("heads", heads, factor_n)

    d_align = rows.nbytes // rows.itemsize
    return Plan(
        template="AB",
        cores=grid.cores,
        dims=RopeDims(dims.layout, dims.b, dims.cos_b, dims.s, heads),
        fields={"dAlign": d_align, "dSplitCoef": rows.parts, "ubFactorBS": factor_bs, "ubFactorN": factor_n}
        | grid.fields(),
        shares=shares(Axis("S", positions, grid.factor_bs), Axis("N", heads, grid.factor_n), 1, loops),
        lines=factor_bs * factor_n,
        cos_rows=factor_bs,
    )


def _heads_before_positions(context: TilingContext, rows: Rows) -> Plan:
    """ABA and BA: UB is filled along S, then N, then B."""
    dims = rows.dims
    grid = split_by_cores(dims.b, dims.s, context.cores)
    fit = context.ub_bytes // (QUEUES * rows.nbytes)
    _require_room(context, rows, fit >= 2, 2 * QUEUES)
    factor_s = min(grid.factor_s, fit // 2, rows.copy_limit)
    factor_n, factor_b = fill_heads_first(fit // factor_s, dims.n, grid.factor_b, shared=dims.cos_b == 1)

    def loops(batches: int, positions: int) -> tuple[Loop, ...]:
        return (
            Loop.over("positions", positions, factor_s),
            Loop.over("batches", batches, factor_b),
            Loop.over("heads", dims.n, factor_n),
        )

    template = "BA" if dims.cos_b == 1 else "ABA"
    return Plan(
        template=template,
        cores=grid.cores,
        dims=dims,
        fields={"ubFactorS": factor_s, "ubFactorB": factor_b, "ubFactorN": factor_n} | grid.fields(),
        shares=shares(Axis("B", dims.b, grid.factor_b), Axis("S", dims.s, grid.factor_s), dims.n, loops),
        lines=factor_b * factor_s * factor_n,
        cos_rows=factor_s if template == "BA" else factor_s * factor_b,
    )


def _batches_and_positions(context: TilingContext, rows: Rows) -> Plan:
    """BAB: batches and positions over cores; heads in equal steps."""
    dims = rows.dims
    fit = context.ub_bytes // rows.nbytes
    _require_room(context, rows, fit >= 2 * QUEUES, 2 * QUEUES)
    fit //= QUEUES
    factor_n = min(ceil_div(dims.n, ceil_div(dims.n, fit - 1)), rows.copy_limit)
    heads = Loop.over("heads", dims.n, factor_n)
    grid, factor_s = split_by_steps(dims.b, dims.s, context.cores, max(1, fit // (dims.n + 1)))

    def loops(batches: int, positions: int) -> tuple[Loop, ...]:
        return Loop.over("batches", batches, 1), Loop.over("positions", positions, factor_s), heads

    return Plan(
        template="BAB",
        cores=grid.cores,
        dims=dims,
        fields={"ubFactorS": factor_s, "ubFactorB": 1}
        | {"ubLoopNumN": heads.loops, "ubFactorN": factor_n, "ubTailFactorN": heads.last}
        | grid.fields(),
        shares=shares(Axis("B", dims.b, grid.factor_b), Axis("S", dims.s, grid.factor_s), dims.n, loops),
        lines=factor_s * factor_n,
        cos_rows=factor_s,
    )
