"""Tiling id 22: bfloat16, computed in fp32; one set of buffers."""

from types import SimpleNamespace

from ascend_sim import asc

from .kernel_base import (
    PIPE_ALL,
    PIPE_MTE2,
    PIPE_V,
    Core,
    Event,
    Sizes,
    begin,
    expand_tables,
    load_angles,
    load_x,
    round_up,
    use_expanded_tables,
    write_signs,
)
from .kernel_wide import Buffers, Views, load_copies, rotate_wide, store_narrow, widen
from .tiling import BLOCK_FP16, COMMON_ELEMENTS


@asc.jit
def rope_bf16(
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
    core.cos_at, core.sin_at, core.neg_at, core.one_at = 0, s.pitch, 2 * s.pitch, 6 * s.pitch
    buffers = Buffers(core, pipe, q.dtype, len(lengths))
    narrow = Views(buffers.common, 0, s.pitch, 2 * s.pitch)
    wide = Views(buffers.wide, 3 * s.pitch, 5 * s.pitch, 4 * s.pitch)
    core.scratch_at = scratch_offset(core)
    if s.cos_format == 1:  # every core writes the same
        expand_tables(core, buffers.common, COMMON_ELEMENTS - 2 * round_up(len(lengths), 8), lengths)
        use_expanded_tables(core, 2 * s.tokens * s.head_dim)
    write_signs(core, buffers.wide)
    for row in asc.tiles(range(core.rows)):
        load_angles(core, buffers.common, row, s.first_q)
        widen_angles(core, buffers.wide, buffers.common)
        for hidden, x_gm, out_gm in ((s.hidden_q, core.q, core.q_out), (s.hidden_k, core.k, core.k_out)):
            for start, size in s.slices(hidden):
                at = (core.first_row + row) * hidden + start
                asc.pipe_barrier(PIPE_MTE2)
                if x_gm is core.q:  # x lands where the tables were
                    asc.set_flag(Event.V_MTE2, 1)
                    asc.wait_flag(Event.V_MTE2, 1)
                load_x(core, x_gm[at], size, narrow.x)
                load_copies(core, narrow, size)
                rotate_wide(core, buffers.wide, wide, narrow, wide.right, size, 1)
                store_narrow(core, out_gm[at], narrow.right, wide.right, size, asc.RoundMode.CAST_RINT, 0)
                asc.pipe_barrier(PIPE_ALL)


def scratch_offset(core: Core) -> int:
    """Where this core's rows begin in scratch memory, in elements."""
    s = core.s
    whole_rows = round_up(s.hidden_q, s.lanes)
    padded_heads = s.hidden_q // s.head_dim * round_up(s.head_dim, BLOCK_FP16)
    return 2 * asc.get_block_idx() * (whole_rows if s.head_dim % BLOCK_FP16 == 0 else padded_heads)


@asc.jit
def widen_angles(core: Core, wide: asc.LocalTensor, common: asc.LocalTensor) -> None:
    """cos and sin to fp32; they came through MTE2 last if their rows are no whole blocks."""
    repeats = core.s.repeats(core.s.first_q)
    if core.s.head_dim % BLOCK_FP16 == 0:
        asc.pipe_barrier(PIPE_V)
    else:
        asc.set_flag(Event.MTE2_V, 1)
        asc.wait_flag(Event.MTE2_V, 1)
    widen(wide[core.cos_at], common[core.cos_at], repeats)
    widen(wide[core.sin_at], common[core.sin_at], repeats)
