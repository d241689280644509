"""Tiling id 21: fp16 x with fp32 tables. Tables are used where they land, x is widened."""

from types import SimpleNamespace

from ascend_sim import asc

from .kernel_base import (
    PIPE_ALL,
    Core,
    Sizes,
    begin,
    expand_tables,
    load_angles,
    load_x,
    round_up,
    use_expanded_tables,
    write_signs,
)
from .kernel_wide import Buffers, Views, load_copies, rotate_wide, store_narrow
from .tiling import BLOCK_FP16, COMMON_ELEMENTS

FP32_PER_BLOCK = 8


@asc.jit
def rope_fp32_tables(
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
    """q and k (tokens, hidden) in fp16 by cos, sin (rows, head size) in fp32; each core takes a run of tokens."""
    core = Core(Sizes(fields))
    pipe = asc.TPipe()
    begin(core, pipe, (q, k, cos, sin, seqlen, q_out, k_out, cos_scratch, x_scratch), tiling, len(lengths))
    s = core.s
    core.cos_at, core.sin_at, core.neg_at, core.one_at = 0, s.pitch, 2 * s.pitch, 6 * s.pitch
    out_narrow, out_wide = 3 * s.pitch, 7 * s.pitch
    buffers = Buffers(core, pipe, q.dtype, len(lengths))
    narrow = Views(buffers.common, 0, s.pitch, 2 * s.pitch)
    wide = Views(buffers.wide, 3 * s.pitch, 5 * s.pitch, 4 * s.pitch)
    whole_rows = round_up(s.hidden_q, s.lanes)
    padded_heads = s.hidden_q // s.head_dim * round_up(s.head_dim, FP32_PER_BLOCK)
    core.scratch_at = 2 * asc.get_block_idx() * (whole_rows if s.head_dim % BLOCK_FP16 == 0 else padded_heads)
    if s.cos_format == 1:  # every core writes the same
        expand_tables(core, buffers.wide, COMMON_ELEMENTS - 2 * round_up(len(lengths), 8), lengths)
        use_expanded_tables(core, 4 * s.tokens * s.head_dim)
    write_signs(core, buffers.wide)
    for row in asc.tiles(range(core.rows)):
        load_angles(core, buffers.wide, row, s.first_q)
        for hidden, event_id, x_gm, out_gm in (
            (s.hidden_q, 1, core.q, core.q_out),
            (s.hidden_k, 0, core.k, core.k_out),
        ):
            for start, size in s.slices(hidden):
                at = (core.first_row + row) * hidden + start
                load_x(core, x_gm[at], size, narrow.x)
                load_copies(core, narrow, size)
                rotate_wide(core, buffers.wide, wide, narrow, buffers.wide[out_wide], size, event_id)
                out = buffers.common[out_narrow]
                store_narrow(core, out_gm[at], out, buffers.wide[out_wide], size, asc.RoundMode.CAST_NONE, 1)
                asc.pipe_barrier(PIPE_ALL)
