"""Host tiling of apply_rotary_pos_emb on the 950 (arch 3510).

Templates are named by how cos varies along B, S and N: A is a dim that cos has, B one that it broadcasts over. A row in
UB has as many parts as the mode moves apart (half 2, quarter 4, interleave 1), each padded to whole blocks. Heads, cos,
sin and results are double-buffered.
"""

from __future__ import annotations

from ascend_sim.host.tiling import DOES_NOT_FIT, CoreShare, Loop, Tiling, TilingContext, UbBuffer, align_up, ceil_div

from ..shared.splits_arch35 import (
    MAX_COPY_BLOCKS,
    UB_BLOCK_BYTES,
    Axis,
    fill_heads_first,
    row_bytes,
    shares,
    split_by_cores,
    split_by_steps,
)
from .checks_arch35 import BNSD, BSND, MODE_CODES, RopeCall, check
from .struct import STRUCT_ARCH35, STRUCT_ARCH35_AB, answer

KEYS = {"ABA": 20010, "BA": 20011, "BAB": 20020, "AB": 20030}
QUEUES = 4  # heads in and out, double-buffered, or cos and sin, double-buffered
COS_TEXT = {
    "AB": "one cos row per position, for all its heads",
    "ABA": "one cos row per batch and position, for all heads",
    "BA": "one cos row per position, for all batches and heads",
    "BAB": "one cos row per position, for all batches and their heads",
}


def tiling(context: TilingContext) -> Tiling:
    """The 950's host code: checks, then the template that the layout and the batches of cos ask for."""
    call = check(context)
    if call.layout == BNSD:
        return _heads_before_positions(context, call)
    if call.layout == BSND and call.cos_b != call.b:
        return _batches_and_positions(context, call)
    return _positions(context, call)


def _answer(
    context: TilingContext,
    call: RopeCall,
    template: str,
    block_dim: int,
    fields: dict[str, int],
    core_shares: tuple[CoreShare, ...],
    buffers: tuple[UbBuffer, ...],
) -> Tiling:
    part = "" if call.real_dim == call.dim else f", the first {call.real_dim} of {call.dim} elements"
    common = {
        "B": call.b,
        "S": call.s,
        "D": call.dim,
        "QN": call.q_heads,
        "KN": call.k_heads,
        "rotaryMode": MODE_CODES[call.mode],
        "realDim": call.real_dim,
        "isPartialRope": int(call.real_dim != call.dim),
    }
    return answer(
        context,
        key=KEYS[template],
        meaning=f"template {template}, {call.dtype}, {call.mode}: {COS_TEXT[template]}{part}",
        block_dim=block_dim,
        struct=STRUCT_ARCH35_AB if template == "AB" else STRUCT_ARCH35,
        fields=common | fields,
        path=template,
        shares=core_shares,
        buffers=buffers,
        not_runnable=call.not_runnable,
    )


def _buffers(row: int, heads: int, cos_rows: int) -> tuple[UbBuffer, ...]:
    return (
        UbBuffer("inQueQK", heads * row, 2),
        UbBuffer("inQueCos", cos_rows * row, 2),
        UbBuffer("inQueSin", cos_rows * row, 2),
        UbBuffer("outQueQK", heads * row, 2),
    )


def _require_room(context: TilingContext, call: RopeCall, fits: bool, needed: int) -> None:
    context.require(
        fits,
        f"rows of {call.real_dim} elements are too long: this template needs {needed} B of unified buffer, only "
        f"{context.ub_bytes} B are there",
        DOES_NOT_FIT,
    )


# --- AB: positions over cores, query and key heads as one list -------------------------------------------------------


def _positions(context: TilingContext, call: RopeCall) -> Tiling:
    """Where cos is the same for all batches (SBND), their heads count together."""
    merged = call.layout != BSND and call.cos_b == 1
    positions = call.s if merged else call.b * call.s
    times = call.b if merged else 1
    q_heads, k_heads = times * call.q_heads, times * call.k_heads
    d_align = align_up(call.real_dim // call.parts, UB_BLOCK_BYTES // call.itemsize) * call.parts
    row = d_align * call.itemsize
    context.require(row > 0, f"cos has rows of {call.real_dim} elements; the host code divides by their length")
    factor = ceil_div(positions, context.cores)
    cores = ceil_div(positions, factor)
    rows = context.ub_bytes // QUEUES // UB_BLOCK_BYTES * UB_BLOCK_BYTES // row
    _require_room(context, call, rows >= 2, 2 * QUEUES * row)
    heads = q_heads + k_heads
    loops_n = ceil_div(heads, rows - 1)
    factor_n = min(ceil_div(heads, loops_n), MAX_COPY_BLOCKS // call.parts)
    factor_bs = min(max(1, rows // (heads + 1)), factor)
    fields = {
        "CosB": call.cos_b,
        "QN": q_heads,
        "KN": k_heads,
        "dAlign": d_align,
        "dSplitCoef": call.parts,
        "blockNumBS": cores,
        "blockFactorBS": factor,
        "blockTailBS": positions - (cores - 1) * factor,
        "ubFactorBS": factor_bs,
        "ubLoopN": loops_n,
        "ubFactorN": factor_n,
        "ubTailN": heads - (loops_n - 1) * factor_n,
    }

    def loops(positions: int, _: int) -> tuple[Loop, ...]:
        return Loop.over("positions", positions, factor_bs), Loop.over("heads", heads, factor_n)

    core_shares = shares(Axis("S", positions, factor), Axis("N", 1, 1), heads, loops)
    return _answer(context, call, "AB", cores, fields, core_shares, _buffers(row, factor_bs * factor_n, factor_bs))


# --- BAB: batches and positions over cores, query heads, then key heads ----------------------------------------------


def _batches_and_positions(context: TilingContext, call: RopeCall) -> Tiling:
    row = row_bytes(call.real_dim, call.itemsize, call.parts)
    rows = context.ub_bytes // row if row else context.ub_bytes
    _require_room(context, call, rows >= 2 * QUEUES, 2 * QUEUES * row)
    rows //= QUEUES
    query, key = (_heads(call, heads, rows) for heads in (call.q_heads, call.k_heads))
    most = max(call.q_heads, call.k_heads)
    grid, factor_s = split_by_steps(call.b, call.s, context.cores, max(1, rows // (most + 1)))
    fields = {
        "ubFactorS": factor_s,
        "ubFactorB": 1,
        "ubLoopNumQN": query.loops,
        "ubFactorQN": query.per_loop,
        "ubTailFactorQN": query.last,
        "ubLoopNumKN": key.loops,
        "ubFactorKN": key.per_loop,
        "ubTailFactorKN": key.last,
        **grid.fields(),
    }

    def loops(batches: int, positions: int) -> tuple[Loop, ...]:
        return Loop.over("batches", batches, 1), Loop.over("positions", positions, factor_s)

    core_shares = shares(Axis("B", call.b, grid.factor_b), Axis("S", call.s, grid.factor_s), call.heads, loops)
    buffers = _buffers(row, factor_s * max(query.per_loop, key.per_loop), factor_s)
    return _answer(context, call, "BAB", grid.cores, fields, core_shares, buffers)


def _heads(call: RopeCall, heads: int, rows: int) -> Loop:
    """Steps of equal size, beside one row of cos."""
    even = ceil_div(heads, ceil_div(heads, rows - 1))
    return Loop.over("heads", heads, min(even, MAX_COPY_BLOCKS // call.parts))


# --- ABA and BA: heads lie before positions --------------------------------------------------------------------------


def _heads_before_positions(context: TilingContext, call: RopeCall) -> Tiling:
    """UB is filled along S, then N, then B; rows are counted as if all of D rotated, which the buffers do not hold."""
    grid = split_by_cores(call.b, call.s, context.cores)
    row = row_bytes(call.dim, call.itemsize, call.parts)
    rows = context.ub_bytes // (QUEUES * row) if row else context.ub_bytes
    _require_room(context, call, rows >= 2, 2 * QUEUES * row)
    factor_s = min(grid.factor_s, rows // 2, MAX_COPY_BLOCKS // call.parts)
    most = max(call.q_heads, call.k_heads)
    factor_n, factor_b = fill_heads_first(rows // factor_s, most, grid.factor_b, shared=call.cos_b == 1)
    template = "BA" if call.cos_b == 1 else "ABA"
    fields = {
        "CosB": call.cos_b,
        "ubFactorS": factor_s,
        "ubFactorB": factor_b,
        "ubFactorQN": factor_n,
        "ubFactorKN": factor_n,
        **grid.fields(),
    }

    def loops(batches: int, positions: int) -> tuple[Loop, ...]:
        return Loop.over("positions", positions, factor_s), Loop.over("batches", batches, factor_b)

    core_shares = shares(Axis("B", call.b, grid.factor_b), Axis("S", call.s, grid.factor_s), call.heads, loops)
    cos_rows = factor_s if template == "BA" else factor_s * factor_b
    held = row_bytes(call.real_dim, call.itemsize, call.parts)
    buffers = _buffers(held, factor_b * factor_s * factor_n, cos_rows)
    return _answer(context, call, template, grid.cores, fields, core_shares, buffers)
