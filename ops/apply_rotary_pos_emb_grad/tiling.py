"""Host tiling of apply_rotary_pos_emb_grad, which exists on the 950 alone.

Templates: A where cos has a row for every head, AB where all heads of a position share one, BAB where all batches do,
too. Query's and key's head of the same number are worked on together. Everything in UB is double-buffered: gradients in
and out (8 rows per head), with grad_cos and grad_sin also the forward inputs (4) and float32 partial sums (4, or 8
where the rest is 16 bit).
"""

from __future__ import annotations

from ascend_sim.host.tiling import DOES_NOT_FIT, CoreShare, Loop, Tiling, TilingContext, UbBuffer, ceil_div

from ..shared import reduce_key as reduce
from ..shared.splits_arch35 import (
    MAX_COPY_BLOCKS,
    UB_BLOCK_BYTES,
    Axis,
    ceil_div_or_all,
    one_axis_shares,
    row_bytes,
    shares,
    split_by_steps,
    split_positions_n,
)
from .checks import Layout, RopeCall, check
from .struct import answer

FP32_BYTES = 4
UNIT = "heads"
COS_TEXT = {
    "A": "a cos row for every head",
    "AB": "one cos row per position, for all its heads",
    "BAB": "one cos row per position, for all batches and their heads",
}


def tiling(context: TilingContext) -> Tiling:
    """The host code: checks, then the template for what cos shares."""
    call = check(context)
    if call.layout is Layout.BSND:
        return _batches_and_positions(context, call)
    return _positions_and_heads(context, call) if call.layout is Layout.SBND else _one_axis(context, call)


def _answer(
    context: TilingContext,
    call: RopeCall,
    template: str,
    params: dict[str, int],
    params_ab: dict[str, int],
    core_shares: tuple[CoreShare, ...],
    buffers: tuple[UbBuffer, ...],
) -> Tiling:
    sums = bool(call.flag) and template != "A"
    partial_itemsize = FP32_BYTES if sums else call.itemsize
    workspace_rows = call.b * call.s * call.heads
    with_cos = ", with grad_cos and grad_sin" if call.flag else ""
    return answer(
        context,
        template=template,
        meaning=f"template {template}, {call.dtype}: {COS_TEXT[template]}{with_cos}",
        reduce_key=reduce.of_runs(call.runs) if sums else reduce.EMPTY,
        params=params,
        params_ab=params_ab,
        flag=call.flag,
        layout=int(call.layout),
        workspace_bytes=2 * workspace_rows * call.dim * partial_itemsize,
        shares=core_shares,
        buffers=buffers,
    )


def _rows_per_head(call: RopeCall) -> int:
    """Rows that a head, or a row of cos and sin, is counted as."""
    if not call.flag:
        return 8
    return 16 if call.itemsize == FP32_BYTES else 20


def _buffers(call: RopeCall, heads: int, cos_rows: int) -> tuple[UbBuffer, ...]:
    values = ("queryIn", "keyIn") if call.flag else ()
    partials = ("gradCosOut", "gradSinOut") if call.flag else ()
    partial_row = row_bytes(call.dim, FP32_BYTES, 2)
    return (
        *(UbBuffer(name, cos_rows * call.row, 2) for name in ("cosIn", "sinIn")),
        *(UbBuffer(name, heads * call.row, 2) for name in ("gradQIn", "gradKIn", "gradQOut", "gradKOut", *values)),
        *(UbBuffer(name, heads * partial_row, 2) for name in partials),
    )


def _require_room(context: TilingContext, call: RopeCall, fits: bool, needed: int) -> None:
    context.require(
        fits,
        f"rows of {call.dim} elements are too long: this template needs {needed} B of unified buffer, only "
        f"{context.ub_bytes} B are there",
        DOES_NOT_FIT,
    )


# --- BAB: batches and positions over cores ---------------------------------------------------------------------------


def _batches_and_positions(context: TilingContext, call: RopeCall) -> Tiling:
    per_head = _rows_per_head(call)
    rows = context.ub_bytes // call.row
    _require_room(context, call, rows >= per_head, per_head * call.row)
    rows //= per_head
    heads = Loop.over(UNIT, call.heads, ceil_div(call.heads, ceil_div_or_all(call.heads, rows - 1)))
    grid, factor_s = split_by_steps(call.b, call.s, context.cores, max(1, rows // (call.heads + 1)))
    params = {
        "b": call.b,
        "s": call.s,
        "d": call.dim,
        "nQ": call.q_heads,
        "nK": call.k_heads,
        "ubFactorS": factor_s,
        "ubLoopNumN": heads.loops,
        "ubFactorN": heads.per_loop,
        "ubTailFactorN": heads.last,
        "usedCoreNum": grid.cores,
        "layout": int(call.layout),
        "dCosFlag": call.flag,
        **grid.fields(),
    }

    def loops(batches: int, positions: int) -> tuple[Loop, ...]:
        return Loop.over("batches", batches, 1), Loop.over("positions", positions, factor_s), heads

    axes = Axis("B", call.b, grid.factor_b), Axis("S", call.s, grid.factor_s)
    core_shares = shares(*axes, call.heads, loops, unit=UNIT)
    buffers = _buffers(call, factor_s * heads.per_loop, factor_s)
    return _answer(context, call, "BAB", params, {}, core_shares, buffers)


# --- AB: positions and heads over cores ------------------------------------------------------------------------------


def _positions_and_heads(context: TilingContext, call: RopeCall) -> Tiling:
    """Where cos is the same for all batches, their heads count together."""
    times, positions = (call.b, call.s) if call.cos_b == 1 else (1, call.b * call.s)
    q_heads, k_heads = times * call.q_heads, times * call.k_heads
    heads = max(q_heads, k_heads)
    grid = split_positions_n(positions, heads, context.cores)
    per_head = _rows_per_head(call)
    rows = context.ub_bytes // per_head // UB_BLOCK_BYTES * UB_BLOCK_BYTES // call.row
    _require_room(context, call, rows >= 2, 2 * per_head * call.row)
    factor_n = min(grid.factor_n, rows - 1, MAX_COPY_BLOCKS // 2)
    factor_bs = max(1, min(rows // (factor_n + 1), grid.factor_bs))
    params = {"b": call.b, "s": call.s, "d": call.dim, "nQ": call.q_heads, "nK": call.k_heads}
    params_ab = params | {
        "nQ": q_heads,
        "nK": k_heads,
        "dAlign": call.row // call.itemsize,
        "dSplitCoef": 2,
        "ubFactorBS": factor_bs,
        "ubFactorN": factor_n,
        "usedCoreNum": grid.cores,
        **grid.fields(),
    }

    def loops(positions: int, heads: int) -> tuple[Loop, ...]:
        return Loop.over("positions", positions, factor_bs), Loop.over(UNIT, heads, factor_n)

    axes = Axis("S", positions, grid.factor_bs), Axis("N", heads, grid.factor_n)
    core_shares = shares(*axes, 1, loops, unit=UNIT)
    buffers = _buffers(call, factor_bs * factor_n, factor_bs)
    return _answer(context, call, "AB", params, params_ab, core_shares, buffers)


# --- A: no sums, all heads are one axis ------------------------------------------------------------------------------


def _one_axis(context: TilingContext, call: RopeCall) -> Tiling:
    lines = call.b * call.s * call.q_heads
    factor = ceil_div(lines, context.cores)
    cores = ceil_div(lines, factor)
    first, last = _phase_bytes(call)
    per_line = max(sum(first.values()), sum(last.values()))
    _require_room(context, call, context.ub_bytes >= per_line, per_line)
    whole_blocks = call.dim // 2 * call.itemsize % UB_BLOCK_BYTES == 0
    per_step = min(factor, context.ub_bytes // per_line, MAX_COPY_BLOCKS if whole_blocks else MAX_COPY_BLOCKS // 2)
    params = {
        "b": lines,
        "s": 1,
        "d": call.dim,
        "nQ": 1,
        "nK": 1,
        "blockNumB": cores,
        "blockFactorB": factor,
        "blockNumS": 1,
        "blockFactorS": 1,
        "ubFactorS": per_step,
        "ubLoopNumN": 1,
        "ubFactorN": 1,
        "ubTailFactorN": 1,
        "usedCoreNum": cores,
        "layout": int(call.layout),
    }
    core_shares = one_axis_shares(lines, factor, per_step, unit=UNIT)
    larger = max(first, last, key=lambda phase: sum(phase.values()))
    buffers = tuple(
        UbBuffer(name, per_step * nbytes // (1 if name == "tmp" else 2), 1 if name == "tmp" else 2)
        for name, nbytes in larger.items()
    )
    return _answer(context, call, "A", params, {}, core_shares, buffers)


def _phase_bytes(call: RopeCall) -> tuple[dict[str, int], dict[str, int]]:
    """Bytes per line of every buffer, both halves of double buffers: of the gradients, and of grad_cos and grad_sin."""
    first = dict.fromkeys(("cosIn", "sinIn", "gradQIn", "gradKIn", "gradQOut", "gradKOut"), 2 * call.row)
    if not call.flag:
        return first, {}
    wide = call.dim * FP32_BYTES
    value = wide if call.itemsize == FP32_BYTES else call.dim * call.itemsize + wide  # widened in place
    inputs = dict.fromkeys(("gradQIn", "queryIn", "queryRotIn", "gradKIn", "keyIn", "keyRotIn"), 2 * value)
    return first, inputs | dict.fromkeys(("gradCosOut", "gradSinOut"), 2 * wide) | {"tmp": wide}
