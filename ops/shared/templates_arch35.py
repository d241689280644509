"""The 950's six templates as rotary_position_embedding and its gradient cut them: the same formulas for both.

The other rotary operators of the 950 have budgets of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

from ascend_sim.host.tiling import DOES_NOT_FIT, TilingContext, ceil_div

from .cuts_arch35 import (
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
from .limits import MOST_COPIED_BLOCKS
from .rope_layout import RopeDims
from .rotations import HALF, INTERLEAVE, INTERLEAVE_HALF, QUARTER
from .splits_arch35 import (
    UB_BLOCK_BYTES,
    fill_heads_first,
    row_bytes,
    split_by_cores,
    split_by_steps,
    split_positions_n,
)

MODE_PARTS = {HALF: 2, INTERLEAVE: 1, QUARTER: 4, INTERLEAVE_HALF: 2}  # parts of a row that lie apart in UB
MODE_MULTIPLE = {HALF: 2, INTERLEAVE: 2, QUARTER: 4, INTERLEAVE_HALF: 2}  # of the elements of a row
QUEUES = 4  # x and result, double-buffered, or cos and sin, double-buffered


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
        return MOST_COPIED_BLOCKS // self.parts


def plan(context: TilingContext, rows: Rows) -> Plan:
    """The template that the shape of cos asks for."""
    view = View.of(rows.dims)
    if view.template in ONE_AXIS:
        return _one_axis(context, rows, view)
    if view.template in POSITIONS_AND_HEADS:
        return _positions_and_heads(context, rows, view)
    if view.template in HEADS_BEFORE_POSITIONS:
        return _heads_before_positions(context, rows, view)
    return _batches_and_positions(context, rows, view)


def _require_room(context: TilingContext, rows: Rows, fits: bool, needed_rows: int) -> None:
    context.require(
        fits,
        f"rows of {rows.dim} elements are too long: this template needs {needed_rows * rows.nbytes} B of unified "
        f"buffer, only {context.ub_bytes} B are there",
        DOES_NOT_FIT,
    )


def _one_axis(context: TilingContext, rows: Rows, view: View) -> Plan:
    factor = ceil_div(view.b, context.cores)
    pairs = context.ub_bytes // (2 * rows.nbytes)
    _require_room(context, rows, pairs >= 4, 8)
    per_step = min(factor, pairs // 4 if view.template == "A" else (pairs - 1) // 2, rows.copy_limit)
    return one_axis(view, ceil_div(view.b, factor), factor, per_step)


def _positions_and_heads(context: TilingContext, rows: Rows, view: View) -> Plan:
    grid = split_positions_n(view.positions, view.n, context.cores)
    fit = context.ub_bytes // QUEUES // UB_BLOCK_BYTES * UB_BLOCK_BYTES // rows.nbytes
    # the host code asks for one row only and would leave none for x then
    _require_room(context, rows, fit >= 2, 2 * QUEUES)
    factor_n = min(grid.factor_n, fit - 1, rows.copy_limit)
    factor_bs = max(1, min(fit // (factor_n + 1), grid.factor_bs))
    return positions_and_heads(view, grid, factor_bs, factor_n)


def _heads_before_positions(context: TilingContext, rows: Rows, view: View) -> Plan:
    """UB is filled along S, then N, then B."""
    grid = split_by_cores(view.b, view.s, context.cores)
    fit = context.ub_bytes // (QUEUES * rows.nbytes)
    _require_room(context, rows, fit >= 2, 2 * QUEUES)
    factor_s = min(grid.factor_s, fit // 2, rows.copy_limit)
    factor_n, factor_b = fill_heads_first(fit // factor_s, view.n, grid.factor_b, shared=view.template == "BA")
    return heads_before_positions(view, grid, factor_s, factor_b, factor_n)


def _batches_and_positions(context: TilingContext, rows: Rows, view: View) -> Plan:
    """Heads in equal steps."""
    fit = context.ub_bytes // rows.nbytes
    _require_room(context, rows, fit >= 2 * QUEUES, 2 * QUEUES)
    fit //= QUEUES
    factor_n = min(ceil_div(view.n, ceil_div(view.n, fit - 1)), rows.copy_limit)
    grid, factor_s = split_by_steps(view.b, view.s, context.cores, max(1, fit // (view.n + 1)))
    return batches_and_positions(view, grid, factor_s, factor_n)
