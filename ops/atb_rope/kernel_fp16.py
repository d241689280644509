"""Tiling id 20: fp16 throughout, one set of buffers, up to 12288 elements of a row at once."""

from types import SimpleNamespace

from ascend_sim import asc

from .kernel_base import (
    PIPE_ALL,
    PIPE_MTE2,
    PIPE_V,
    VECCALC,
    Core,
    Event,
    Sizes,
    begin,
    expand_tables,
    load_angles,
    load_shifted,
    load_x,
    rotate_aligned,
    rotate_shifted,
    round_up,
    store_twice,
    swap_parts,
    use_expanded_tables,
    write_signs,
)
from .tiling import BLOCK_FP16, TILING_BYTES, length_bytes


class Parts:
    """Element offsets of x, its copies, and the result, which takes the place of the copy shifted right."""

    def __init__(self, core: Core) -> None:
        s = core.s
        core.cos_at, core.sin_at, core.neg_at = 0, s.pitch, 2 * s.pitch
        self.x, self.right, self.left = (i * s.pitch for i in (3, 4, 5))
        core.one_at = 6 * s.pitch


@asc.jit
def rope_fp16(
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
    """q and k (tokens, hidden) by cos, sin (rows, head size); each core takes a run of tokens."""
    core = Core(Sizes(fields))
    pipe = asc.TPipe()
    begin(core, pipe, (q, k, cos, sin, seqlen, q_out, k_out, cos_scratch, x_scratch), tiling, len(lengths))
    s = core.s
    parts, buffer = Parts(core), common_buffer(core, pipe, len(lengths))
    scratch = s.pitch if s.head_dim % BLOCK_FP16 == 0 else s.hidden_q // s.head_dim * round_up(s.head_dim, BLOCK_FP16)
    core.scratch_at = 2 * asc.get_block_idx() * scratch
    if s.cos_format == 1:
        expand_for_all(core, buffer, sync, lengths)
    write_signs(core, buffer)
    for row in asc.tiles(range(core.rows)):
        load_angles(core, buffer, row, s.first_q)
        for start, size in s.slices(s.hidden_q):
            at = (core.first_row + row) * s.hidden_q + start
            rotate_slice(core, buffer, parts, core.q[at], core.q_out[at], size)
        for start, size in s.slices(s.hidden_k):
            at = (core.first_row + row) * s.hidden_k + start
            asc.pipe_barrier(PIPE_MTE2)
            rotate_slice(core, buffer, parts, core.k[at], core.k_out[at], size)


def common_buffer(core: Core, pipe: asc.TPipe, batch: int) -> asc.LocalTensor:
    """All of the unified buffer that is left, as fp16."""
    buffer = asc.TBuf(VECCALC)
    pipe.init_buffer(buffer, core.s.ub_bytes - TILING_BYTES - length_bytes(core.s.cos_format, batch))
    return buffer.get(asc.float16)


@asc.jit
def expand_for_all(core: Core, buffer: asc.LocalTensor, sync: asc.GlobalAddress, lengths: tuple[int, ...]) -> None:
    """Core 0 expands the tables, all others wait for it."""
    sync_gm = asc.GlobalTensor()
    sync_gm.set_global_buffer(sync)
    if asc.get_block_idx() == 0:
        expand_tables(core, buffer, buffer.get_size(), lengths)
    use_expanded_tables(core, 2 * core.s.tokens * core.s.head_dim)
    asc.sync_all(sync_gm, buffer.reinterpret_cast(asc.int32))


@asc.jit
def rotate_slice(
    core: Core,
    buffer: asc.LocalTensor,
    parts: Parts,
    x_gm: asc.GlobalTensor,
    out_gm: asc.GlobalTensor,
    size: int,
) -> None:
    x, left, right = buffer[parts.x], buffer[parts.left], buffer[parts.right]
    load_x(core, x_gm, size, x)
    load_copies(core, x, left, right, size)
    if core.s.aligned:
        asc.pipe_barrier(PIPE_V)
        rotate_aligned(core, buffer, x, left, right, size)
    else:
        asc.set_flag(Event.MTE2_V, 1)
        asc.wait_flag(Event.MTE2_V, 1)
        rotate_shifted(core, buffer, x, left, right, right, size)
    asc.set_flag(Event.V_MTE3, 1)
    asc.wait_flag(Event.V_MTE3, 1)
    asc.data_copy(out_gm, right, asc.DataCopyParams(1, size // BLOCK_FP16, 0, 0))
    asc.set_flag(Event.MTE3_MTE2, 1)
    asc.wait_flag(Event.MTE3_MTE2, 1)


@asc.jit
def load_copies(core: Core, x: asc.LocalTensor, left: asc.LocalTensor, right: asc.LocalTensor, size: int) -> None:
    """x with its parts swapped, into `left`; or x shifted by a part to either side."""
    asc.set_flag(Event.MTE2_V, 1)
    asc.set_flag(Event.MTE2_MTE3, 2)
    asc.wait_flag(Event.MTE2_V, 1)
    asc.wait_flag(Event.MTE2_MTE3, 2)
    if core.s.aligned:
        swap_parts(core, x, left, size)
    else:
        store_twice(core, x, size, core.scratch_at)
        asc.pipe_barrier(PIPE_ALL)
        load_shifted(core, left, right, size, core.scratch_at)
