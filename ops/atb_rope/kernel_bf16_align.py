"""Tiling id 24: bfloat16, 64 tokens or more, parts of whole blocks. Two sets of buffers take turns, row by row."""

from types import SimpleNamespace

from ascend_sim import asc

from .kernel_base import (
    PIPE_MTE2,
    Core,
    Event,
    Sizes,
    begin,
    expand_tables,
    load_angles,
    load_x,
    round_up,
    swap_parts,
    use_expanded_tables,
    write_signs,
)
from .kernel_bf16 import scratch_offset, widen_angles
from .kernel_fp16_large import PING, hand_over_both
from .kernel_wide import Buffers, Views, rotate_wide, store_narrow
from .tiling import COMMON_ELEMENTS


@asc.jit
def rope_bf16_align(
    q: asc.GlobalAddress,
    k: asc.GlobalAddress,
    cos: asc.GlobalAddress,
    sin: asc.GlobalAddress,
    seqlen: asc.GlobalAddress,
    q_out: asc.GlobalAddress,
    k_out: asc.GlobalAddress,
    cos_scratch: asc.GlobalAddress,
    x_scratch: asc.GlobalAddress,
    sync: asc.GlobalAddress,
    tiling: asc.GlobalAddress,
    fields: asc.ConstExpr[SimpleNamespace],
    lengths: asc.ConstExpr[tuple],  # type: ignore[type-arg]
) -> None:
    """q and k (tokens, hidden) by cos, sin (rows, head size), all bfloat16; each core takes a run of tokens."""
    core = Core(Sizes(fields))
    pipe = asc.TPipe()
    begin(core, pipe, (q, k, cos, sin, seqlen, q_out, k_out, cos_scratch, x_scratch), tiling, len(lengths))
    s = core.s
    core.cos_at, core.sin_at, core.neg_at, core.one_at = (i * s.pitch for i in range(4))
    buffers = Buffers(core, pipe, q.dtype, len(lengths))
    core.scratch_at = scratch_offset(core)
    if s.cos_format == 1:  # every core writes the same
        expand_tables(core, buffers.common, COMMON_ELEMENTS - 2 * round_up(len(lengths), 8), lengths)
        use_expanded_tables(core, 2 * s.tokens * s.head_dim)
    sets = [(buffers.common[3 * s.pitch * i], buffers.wide[7 * s.pitch * i]) for i in range(2)]
    for _, wide in sets[: min(core.rows, 2)]:
        write_signs(core, wide)
    hand_over_both(asc.set_flag)
    for row in asc.tiles(range(core.rows)):
        turn = PING + row % 2
        common, wide = sets[row % 2]
        asc.wait_flag(Event.V_MTE2, turn)
        load_angles(core, common, row, s.first_q)
        asc.wait_flag(Event.MTE3_V, turn)
        widen_angles(core, wide, common)
        rotate_row(core, common, wide, (core.q, core.q_out), s.hidden_q, row)
        rotate_row(core, common, wide, (core.k, core.k_out), s.hidden_k, row)
        asc.set_flag(Event.V_MTE2, turn)
        asc.set_flag(Event.MTE3_V, turn)
    hand_over_both(asc.wait_flag)


@asc.jit
def rotate_row(
    core: Core,
    common: asc.LocalTensor,
    wide: asc.LocalTensor,
    gm: tuple[asc.GlobalTensor, asc.GlobalTensor],
    hidden: int,
    row: int,
) -> None:
    """All slices of a row of q or k."""
    s = core.s
    x_gm, out_gm = gm
    narrow_views = Views(common, 0, s.pitch, 2 * s.pitch)
    wide_views = Views(wide, 4 * s.pitch, 6 * s.pitch, 5 * s.pitch)
    for start, size in s.slices(hidden):
        at = (core.first_row + row) * hidden + start
        asc.pipe_barrier(PIPE_MTE2)
        asc.set_flag(Event.V_MTE2, 1)
        asc.wait_flag(Event.V_MTE2, 1)
        load_x(core, x_gm[at], size, narrow_views.x)
        asc.set_flag(Event.MTE2_V, 1)
        asc.wait_flag(Event.MTE2_V, 1)
        swap_parts(core, narrow_views.x, narrow_views.left, size)
        asc.set_flag(Event.MTE3_V, 1)
        asc.wait_flag(Event.MTE3_V, 1)
        rotate_wide(core, wide, wide_views, narrow_views, wide_views.right, size, 1)
        asc.set_flag(Event.V_MTE3, 1)
        asc.wait_flag(Event.V_MTE3, 1)
        store_narrow(core, out_gm[at], narrow_views.right, wide_views.right, size, asc.RoundMode.CAST_RINT, 0)
