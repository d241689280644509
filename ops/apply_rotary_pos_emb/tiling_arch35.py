"""Host tiling of apply_rotary_pos_emb on the 950 (arch 3510).

Templates are named by how cos varies along B, S and N: A is a dim that cos has, B one that it broadcasts over. A row in
UB has as many parts as the mode moves apart (half 2, quarter 4, interleave 1), each padded to whole blocks.
"""

from __future__ import annotations

from ascend_sim.host.tiling import DOES_NOT_FIT, Tiling, TilingContext, ceil_div

from ..shared.limits import MOST_COPIED_BLOCKS
from ..shared.pairs_arch35 import View
from ..shared.splits_arch35 import UB_BLOCK_BYTES, fill_heads_first, row_bytes, split_by_cores, split_by_steps
from .checks_arch35 import RopeCall, check
from .cuts_arch35 import Fields, tiling_of, view_of

QUEUES = 4  # heads in and out, double-buffered, or cos and sin, double-buffered


def tiling(context: TilingContext) -> Tiling:
    """The 950's host code: checks, then the template that the layout and the batches of cos ask for."""
    call = check(context)
    view = view_of(call)
    cut = {"AB": _positions, "BAB": _batches_and_positions}.get(view.template, _heads_before_positions)
    return tiling_of(context, call, view, cut(context, call, view))


def _require_room(context: TilingContext, call: RopeCall, fits: bool, needed: int) -> None:
    context.require(
        fits,
        f"rows of {call.real_dim} elements are too long: this template needs {needed} B of unified buffer, only "
        f"{context.ub_bytes} B are there",
        DOES_NOT_FIT,
    )


def _positions(context: TilingContext, call: RopeCall, view: View) -> Fields:
    """AB: positions over cores, query and key heads as one list."""
    row = row_bytes(call.real_dim, call.itemsize, call.parts)
    context.require(row > 0, f"cos has rows of {call.real_dim} elements; the host code divides by their length")
    factor = ceil_div(view.s, context.cores)
    cores = ceil_div(view.s, factor)
    rows = context.ub_bytes // QUEUES // UB_BLOCK_BYTES * UB_BLOCK_BYTES // row
    _require_room(context, call, rows >= 2, 2 * QUEUES * row)
    loops_n = ceil_div(view.heads, rows - 1)
    return {
        "blockNumBS": cores,
        "blockFactorBS": factor,
        "blockTailBS": view.s - (cores - 1) * factor,
        "ubFactorBS": min(max(1, rows // (view.heads + 1)), factor),
        "ubFactorN": min(ceil_div(view.heads, loops_n), MOST_COPIED_BLOCKS // call.parts),
    }


def _batches_and_positions(context: TilingContext, call: RopeCall, view: View) -> Fields:
    """BAB: batches and positions over cores, query heads, then key heads."""
    row = row_bytes(call.real_dim, call.itemsize, call.parts)
    rows = context.ub_bytes // row if row else context.ub_bytes
    _require_room(context, call, rows >= 2 * QUEUES, 2 * QUEUES * row)
    rows //= QUEUES
    grid, factor_s = split_by_steps(view.b, view.s, context.cores, max(1, rows // (view.most_heads + 1)))
    q_heads, k_heads = (_equal_steps(call, heads, rows) for heads in (view.q_heads, view.k_heads))
    return {"ubFactorS": factor_s, "ubFactorQN": q_heads, "ubFactorKN": k_heads, **grid.fields()}


def _equal_steps(call: RopeCall, heads: int, rows: int) -> int:
    """Heads of a step, beside one row of cos."""
    return min(ceil_div(heads, ceil_div(heads, rows - 1)), MOST_COPIED_BLOCKS // call.parts)


def _heads_before_positions(context: TilingContext, call: RopeCall, view: View) -> Fields:
    """ABA and BA: UB is filled along S, then N, then B; rows are counted as if all of D rotated, which the buffers do
    not hold."""
    grid = split_by_cores(view.b, view.s, context.cores)
    row = row_bytes(call.dim, call.itemsize, call.parts)
    rows = context.ub_bytes // (QUEUES * row) if row else context.ub_bytes
    _require_room(context, call, rows >= 2, 2 * QUEUES * row)
    factor_s = min(grid.factor_s, rows // 2, MOST_COPIED_BLOCKS // call.parts)
    shared = view.template == "BA"
    factor_n, factor_b = fill_heads_first(rows // factor_s, view.most_heads, grid.factor_b, shared)
    steps = {"ubFactorS": factor_s, "ubFactorB": factor_b, "ubFactorQN": factor_n, "ubFactorKN": factor_n}
    return steps | grid.fields()
