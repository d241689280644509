"""Host tiling of apply_rotary_pos_emb_grad, which exists on the 950 alone.

Templates: A where cos has a row for every head, AB where all heads of a position share one, BAB where all batches do,
too. Query's and key's head of the same number are worked on together. Everything in UB is double-buffered: gradients in
and out (8 rows per head), with grad_cos and grad_sin also the forward inputs (4) and float32 partial sums (4, or 8
where the rest is 16 bit).
"""

from __future__ import annotations

from ascend_sim.host.tiling import DOES_NOT_FIT, Tiling, TilingContext, ceil_div

from ..shared.limits import MOST_COPIED_BLOCKS
from ..shared.pairs_arch35 import View
from ..shared.splits_arch35 import UB_BLOCK_BYTES, ceil_div_or_all, split_by_steps, split_positions_n
from .checks import RopeCall, check
from .cuts_arch35 import FP32_BYTES, Fields, phase_bytes, tiling_of, view_of


def tiling(context: TilingContext) -> Tiling:
    """The host code: checks, then the template for what cos shares."""
    call = check(context)
    view = view_of(call)
    cut = {"A": _one_axis, "AB": _positions_and_heads, "BAB": _batches_and_positions}[view.template]
    return tiling_of(context, call, view, cut(context, call, view))


def _rows_per_head(call: RopeCall) -> int:
    """Rows that a head, or a row of cos and sin, is counted as."""
    if not call.flag:
        return 8
    return 16 if call.itemsize == FP32_BYTES else 20


def _require_room(context: TilingContext, call: RopeCall, fits: bool, needed: int) -> None:
    context.require(
        fits,
        f"rows of {call.dim} elements are too long: this template needs {needed} B of unified buffer, only "
        f"{context.ub_bytes} B are there",
        DOES_NOT_FIT,
    )


def _batches_and_positions(context: TilingContext, call: RopeCall, view: View) -> Fields:
    """BAB: batches and positions over cores."""
    per_head, heads = _rows_per_head(call), view.most_heads
    rows = context.ub_bytes // call.row
    _require_room(context, call, rows >= per_head, per_head * call.row)
    rows //= per_head
    grid, factor_s = split_by_steps(view.b, view.s, context.cores, max(1, rows // (heads + 1)))
    factor_n = ceil_div(heads, ceil_div_or_all(heads, rows - 1))
    return {"ubFactorS": factor_s, "ubFactorN": factor_n, **grid.fields()}


def _positions_and_heads(context: TilingContext, call: RopeCall, view: View) -> Fields:
    """AB: positions and heads over cores."""
    grid = split_positions_n(view.s, view.most_heads, context.cores)
    per_head = _rows_per_head(call)
    rows = context.ub_bytes // per_head // UB_BLOCK_BYTES * UB_BLOCK_BYTES // call.row
    _require_room(context, call, rows >= 2, 2 * per_head * call.row)
    factor_n = min(grid.factor_n, rows - 1, MOST_COPIED_BLOCKS // 2)
    factor_bs = max(1, min(rows // (factor_n + 1), grid.factor_bs))
    return {"ubFactorBS": factor_bs, "ubFactorN": factor_n, **grid.fields()}


def _one_axis(context: TilingContext, call: RopeCall, view: View) -> Fields:
    """A: no sums, all heads are one axis."""
    factor = ceil_div(view.s, context.cores)
    per_line = max(sum(phase.values()) for phase in phase_bytes(call))
    _require_room(context, call, context.ub_bytes >= per_line, per_line)
    per_step = min(factor, context.ub_bytes // per_line, copied_lines(call))
    return {"blockNumB": ceil_div(view.s, factor), "blockFactorB": factor, "ubFactorS": per_step}


def copied_lines(call: RopeCall) -> int:
    """Lines that the host code lets a step of template A have: those of one copy of the gradients."""
    whole_blocks = call.dim // 2 * call.itemsize % UB_BLOCK_BYTES == 0
    return MOST_COPIED_BLOCKS if whole_blocks else MOST_COPIED_BLOCKS // 2
