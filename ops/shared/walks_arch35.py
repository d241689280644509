"""How the kernels of the 950's rotary operators walk over x: one function per template of the host tiling.

`tiling` has the fields of the tiling struct (b, s, n, ...). Everything is double-buffered, so that MTE2 fetches the
next tile while V turns this one and MTE3 writes the one before. The `VectorFunctions` do the turning: forward or back.
"""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from ascend_sim import asc

from .memory_arch35 import Heads, Memory
from .tiles_arch35 import (
    Buffers,
    Loops,
    copy_in,
    copy_in_both,
    copy_in_both_looped,
    copy_in_looped,
    copy_out,
    copy_out_looped,
    turn_batches,
    turn_lines,
)


@dataclass(frozen=True, slots=True)
class VectorFunctions:
    """`lines` turns tiles [positions][heads], `batches` tiles [batches][heads][positions]; `depth` of the queues."""

    lines: Any
    batches: Any
    depth: int


def smaller(a: int, b: int) -> int:
    return min(a, b)


def core_index() -> int:
    """Counts in 64 bits: times the elements of a core's share it may pass 2**31."""
    core: int = asc.number(asc.get_block_idx(), asc.int64)
    return core


@asc.jit
def walk_own_rows(gm: Memory, tiling: SimpleNamespace, vf: VectorFunctions) -> None:
    """Template A: all lines are one axis, each with a cos row of its own."""
    first = core_index() * tiling.blockFactorB
    count = smaller(tiling.blockFactorB, tiling.b - first)
    (heads,) = gm.heads
    line, row, step = gm.line, gm.row, tiling.ubFactorB
    ub = gm.buffers(step, step, vf.depth)
    x_steps = (step * line.pitch, step * line.pitch, line.pitch)
    for at in asc.tiles(range(0, count, step)):
        lines = smaller(step, count - at)
        rows = (first + at) * row.length
        copy_in_both(ub.cos, gm.cos[rows], ub.sin, gm.sin[rows], lines, row)
        cos, sin = ub.cos.deque(row.dtype), ub.sin.deque(row.dtype)
        tile = (first + at) * line.full
        copy_in(ub.x, heads.x[tile], lines, line)
        turn_batches(ub, vf.batches, cos, sin, (1, 1, lines), x_steps, (step * row.pitch, row.pitch))
        copy_out(ub.y, heads.y[tile], lines, gm.result)
        ub.cos.free_tensor(cos)
        ub.sin.free_tensor(sin)


@asc.jit
def walk_one_row(gm: Memory, tiling: SimpleNamespace, vf: VectorFunctions) -> None:
    """Template B: one cos row for all lines. It is loaded once, into single buffers."""
    first = core_index() * tiling.blockFactorB
    count = smaller(tiling.blockFactorB, tiling.b - first)
    (heads,) = gm.heads
    line, row, step = gm.line, gm.row, tiling.ubFactorB
    ub = gm.buffers(step, 1, vf.depth, cos_buffers=1)
    copy_in_both(ub.cos, gm.cos, ub.sin, gm.sin, 1, row)
    cos, sin = ub.cos.deque(row.dtype), ub.sin.deque(row.dtype)
    for at in asc.tiles(range(0, count, step)):
        lines = smaller(step, count - at)
        tile = (first + at) * line.full
        copy_in(ub.x, heads.x[tile], lines, line)
        turn_lines(ub, vf.lines, cos, sin, 1, lines)
        copy_out(ub.y, heads.y[tile], lines, gm.result)
    ub.cos.free_tensor(cos)
    ub.sin.free_tensor(sin)


@asc.jit
def walk_positions_and_heads(gm: Memory, tiling: SimpleNamespace, vf: VectorFunctions) -> None:
    """Template AB: x is [positions][heads]; cores share the positions and, when there are few, the heads."""
    core = core_index()
    at_bs, at_n = core // tiling.blockNumN, core % tiling.blockNumN
    positions = tiling.blockTailBS if at_bs == tiling.blockNumBS - 1 else tiling.blockFactorBS
    count_n = tiling.blockTailN if at_n == tiling.blockNumN - 1 else tiling.blockFactorN
    first, first_head = at_bs * tiling.blockFactorBS, at_n * tiling.blockFactorN
    (heads,) = gm.heads
    line, row, step_bs, step_n = gm.line, gm.row, tiling.ubFactorBS, heads.step
    ub = gm.buffers(step_bs * step_n, step_bs, vf.depth)
    for at in asc.tiles(range(0, positions, step_bs)):
        count = smaller(step_bs, positions - at)
        rows = (first + at) * row.length
        copy_in(ub.cos, gm.cos[rows], count, row)
        cos = ub.cos.deque(row.dtype)
        copy_in(ub.sin, gm.sin[rows], count, row)
        sin = ub.sin.deque(row.dtype)
        for head in asc.tiles(range(0, count_n, step_n)):
            here = smaller(step_n, count_n - head)  # all heads, or count is 1: the tile's lines are neighbours in GM
            tile = ((first + at) * heads.count + first_head + head) * line.full
            copy_in(ub.x, heads.x[tile], count * here, line)
            turn_lines(ub, vf.lines, cos, sin, count, here)
            copy_out(ub.y, heads.y[tile], count * here, gm.result)
        ub.cos.free_tensor(cos)
        ub.sin.free_tensor(sin)


def share_of_grid(tiling: SimpleNamespace) -> tuple[int, int, int, int]:
    """(first batch, batches, first position, positions) of a core of the grid B x S, in which B runs fastest."""
    core = core_index()
    b, s = core % tiling.blockNumB * tiling.blockFactorB, core // tiling.blockNumB * tiling.blockFactorS
    return b, smaller(tiling.blockFactorB, tiling.b - b), s, smaller(tiling.blockFactorS, tiling.s - s)


@asc.jit
def walk_batches_and_positions(gm: Memory, tiling: SimpleNamespace, vf: VectorFunctions) -> None:
    """Template BAB: x is [B][S][N], a cos row per position that all batches share, and fetch anew."""
    first_b, batches, first_s, positions = share_of_grid(tiling)
    line, row, step_s = gm.line, gm.row, tiling.ubFactorS
    ub = gm.buffers(step_s * gm.step, step_s, vf.depth)
    for b in asc.tiles(range(first_b, first_b + batches)):
        for at in asc.tiles(range(first_s, first_s + positions, step_s)):
            count = smaller(step_s, first_s + positions - at)
            rows = at * row.length
            copy_in_both(ub.sin, gm.sin[rows], ub.cos, gm.cos[rows], count, row)
            sin, cos = ub.sin.deque(row.dtype), ub.cos.deque(row.dtype)
            for heads in gm.heads:
                for head in asc.tiles(range(0, heads.count, heads.step)):
                    here = smaller(heads.step, heads.count - head)  # all heads, or count is 1
                    tile = ((b * tiling.s + at) * heads.count + head) * line.full
                    copy_in(ub.x, heads.x[tile], count * here, line)
                    turn_lines(ub, vf.lines, cos, sin, count, here)
                    copy_out(ub.y, heads.y[tile], count * here, gm.result)
            ub.sin.free_tensor(sin)
            ub.cos.free_tensor(cos)


@asc.jit
def walk_heads_before_positions(gm: Memory, tiling: SimpleNamespace, vf: VectorFunctions, shared: bool) -> None:
    """Templates ABA and BA (`shared`: all batches have the same cos rows): x is [B][N][S].

    One copy in loop mode moves a tile [batches][heads][positions]; lines lie in UB as they would in a full tile.
    """
    first_b, batches, first_s, positions = share_of_grid(tiling)
    step_b, step_s = tiling.ubFactorB, tiling.ubFactorS
    ub = gm.buffers(step_b * step_s * gm.step, step_s if shared else step_b * step_s, vf.depth)
    for at in asc.tiles(range(first_s, first_s + positions, step_s)):
        count = smaller(step_s, first_s + positions - at)
        if shared:
            cos, sin = cos_tile(ub, gm, tiling, 0, 1, at, count)
        for b in asc.tiles(range(first_b, first_b + batches, step_b)):
            b_count = smaller(step_b, first_b + batches - b)
            if not shared:
                cos, sin = cos_tile(ub, gm, tiling, b, b_count, at, count)
            for heads in gm.heads:
                for head in asc.tiles(range(0, heads.count, heads.step)):
                    sizes = (b_count, smaller(heads.step, heads.count - head), count)
                    turn_tile(ub, gm, heads, tiling, vf, (cos, sin), (b, head, at), sizes, shared)
            if not shared:
                ub.cos.free_tensor(cos)
                ub.sin.free_tensor(sin)
        if shared:
            ub.cos.free_tensor(cos)
            ub.sin.free_tensor(sin)


@asc.jit
def cos_tile(
    ub: Buffers, gm: Memory, tiling: SimpleNamespace, b: int, batches: int, at: int, positions: int
) -> tuple[asc.LocalTensor, asc.LocalTensor]:
    row = gm.row
    loops = Loops(batches, 1, tiling.s * row.length, tiling.ubFactorS * row.pitch)
    rows = (b * tiling.s + at) * row.length
    copy_in_both_looped(ub.cos, gm.cos[rows], ub.sin, gm.sin[rows], positions, row, loops)
    return ub.cos.deque(row.dtype), ub.sin.deque(row.dtype)


@asc.jit
def turn_tile(
    ub: Buffers,
    gm: Memory,
    tensor: Heads,
    tiling: SimpleNamespace,
    vf: VectorFunctions,
    tables: tuple[asc.LocalTensor, asc.LocalTensor],
    start: tuple[int, int, int],
    sizes: tuple[int, int, int],
    shared: bool,
) -> None:
    """The tile of `sizes` at `start`, both (batches, heads, positions)."""
    line, row = gm.line, gm.row
    (b, head, at), (batches, heads, positions) = start, sizes
    x_steps = (tensor.step * tiling.ubFactorS * line.pitch, tiling.ubFactorS * line.pitch, line.pitch)
    cos_steps = (0 if shared else tiling.ubFactorS * row.pitch, row.pitch)
    loops = Loops(
        heads, batches, tiling.s * line.full, x_steps[1], tensor.count * tiling.s * line.full, x_steps[0]
    )  # fmt: skip
    tile = ((b * tensor.count + head) * tiling.s + at) * line.full
    copy_in_looped(ub.x, tensor.x[tile], positions, line, loops)
    turn_batches(ub, vf.batches, *tables, sizes, x_steps, cos_steps)
    copy_out_looped(ub.y, tensor.y[tile], positions, gm.result, loops)
