"""Tiling id 23: fp16 throughout, 64 tokens or more. Two sets of buffers take turns, row by row (ping and pong), and in
each set two for x: while one row is computed, the next one loads.
"""

from types import SimpleNamespace

from ascend_sim import asc

from .kernel_base import (
    PIPE_MTE2,
    PIPE_MTE3,
    PIPE_V,
    Core,
    Event,
    Sizes,
    begin,
    load_angles,
    load_shifted,
    load_x,
    rotate_aligned,
    rotate_shifted,
    round_up,
    store_twice,
    swap_parts,
    write_signs,
)
from .kernel_fp16 import common_buffer
from .tiling import BLOCK_FP16

PING, PONG = 2, 3  # event ids


class Parts:
    """Element offsets within one set of buffers; `pong` is where the other set begins."""

    def __init__(self, core: Core) -> None:
        s = core.s
        core.cos_at, core.sin_at, core.neg_at, core.one_at = (i * s.pitch for i in range(4))
        self.x, self.right, self.left = (i * s.pitch for i in (4, 5, 6))
        self.other_x = 3 * s.pitch  # from one buffer for x to the other
        self.pong = 10 * s.pitch


@asc.jit
def rope_fp16_large_ntokens(
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
    """q and k (rows, hidden) by cos, sin (rows, head size), a row being `multiple` tokens."""
    core = Core(Sizes(fields))
    pipe = asc.TPipe()
    begin(core, pipe, (q, k, cos, sin, seqlen, q_out, k_out, cos_scratch, x_scratch), tiling, len(lengths))
    s = core.s
    parts, buffer = Parts(core), common_buffer(core, pipe, len(lengths))
    head = round_up(s.real_head_dim, BLOCK_FP16) * s.multiple
    scratch = s.pitch if s.real_head_dim % BLOCK_FP16 == 0 else s.hidden_q // s.head_dim * head
    core.scratch_at = 4 * asc.get_block_idx() * scratch
    x_scratch_at = core.scratch_at + 2 * scratch
    sets = (buffer, buffer[parts.pong])
    for one_set in sets[: min(core.rows, 2)]:
        write_signs(core, one_set)
    hand_over_both(asc.set_flag)
    for row in asc.tiles(range(core.rows)):
        turn, one_set = PING + row % 2, sets[row % 2]
        asc.wait_flag(Event.V_MTE2, turn)
        load_angles(core, one_set, row, s.first_q)
        asc.wait_flag(Event.MTE3_V, turn)
        done = rotate_row(core, one_set, parts, (core.q, core.q_out), s.hidden_q, row, 0, x_scratch_at)
        if s.multiple > 1:  # with fewer heads the tokens of a row lie closer together
            asc.set_flag(Event.V_MTE2, 1)
            asc.wait_flag(Event.V_MTE2, 1)
            load_angles(core, one_set, row, s.first_k)
        rotate_row(core, one_set, parts, (core.k, core.k_out), s.hidden_k, row, done, x_scratch_at)
        asc.set_flag(Event.V_MTE2, turn)
        asc.set_flag(Event.MTE3_V, turn)
    hand_over_both(asc.wait_flag)


def hand_over_both(flag: object) -> None:
    """Set, or wait for, the flags that say that ping and pong are free."""
    assert callable(flag)
    for event in (Event.V_MTE2, Event.MTE3_V):
        for turn in (PING, PONG):
            flag(event, turn)


@asc.jit
def rotate_row(
    core: Core,
    buffer: asc.LocalTensor,
    parts: Parts,
    gm: tuple[asc.GlobalTensor, asc.GlobalTensor],
    hidden: int,
    row: int,
    done: int,
    scratch_at: int,
) -> int:
    """All slices of a row of q or k; `done` slices of the row came before, and every other uses the same buffer."""
    x_gm, out_gm = gm
    for start, size in core.s.slices(hidden):
        at = (core.first_row + row) * hidden + start
        shift = done % 2 * parts.other_x
        x, left, right = buffer[parts.x + shift], buffer[parts.left + shift], buffer[parts.right + shift]
        asc.pipe_barrier(PIPE_MTE2)
        used_before = done % 2 == 0 and done > 0
        if used_before:
            asc.set_flag(Event.V_MTE2, 1)
            asc.wait_flag(Event.V_MTE2, 1)
        load_x(core, x_gm[at], size, x)
        load_copies(core, x, left, right, size, scratch_at)
        if used_before:
            asc.set_flag(Event.MTE3_V, 1)
            asc.wait_flag(Event.MTE3_V, 1)
        rotate(core, buffer, x, left, right, size)
        asc.set_flag(Event.V_MTE3, 1)
        asc.wait_flag(Event.V_MTE3, 1)
        asc.pipe_barrier(PIPE_MTE3)
        asc.data_copy(out_gm[at], right, asc.DataCopyParams(1, size // BLOCK_FP16, 0, 0))
        done += 1
    return done


@asc.jit
def load_copies(
    core: Core, x: asc.LocalTensor, left: asc.LocalTensor, right: asc.LocalTensor, size: int, scratch_at: int
) -> None:
    """x with its parts swapped, into `left`; or x shifted by a part to either side."""
    if core.s.aligned:
        asc.set_flag(Event.MTE2_V, 1)
        asc.wait_flag(Event.MTE2_V, 1)
        swap_parts(core, x, left, size)
    else:
        asc.set_flag(Event.MTE2_MTE3, 1)
        asc.wait_flag(Event.MTE2_MTE3, 1)
        store_twice(core, x, size, scratch_at)
        asc.set_flag(Event.MTE3_MTE2, 1)
        asc.wait_flag(Event.MTE3_MTE2, 1)
        load_shifted(core, left, right, size, scratch_at)


@asc.jit
def rotate(
    core: Core, buffer: asc.LocalTensor, x: asc.LocalTensor, left: asc.LocalTensor, right: asc.LocalTensor, size: int
) -> None:
    """The result takes the place of the copy shifted right."""
    if core.s.aligned:
        asc.pipe_barrier(PIPE_V)
        rotate_aligned(core, buffer, x, left, right, size)
    else:
        asc.set_flag(Event.MTE2_V, 1)
        asc.wait_flag(Event.MTE2_V, 1)
        rotate_shifted(core, buffer, x, left, right, right, size)
