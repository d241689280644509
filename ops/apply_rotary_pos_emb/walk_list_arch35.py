"""Template AB: the query and key heads of a position are one list, and a tile may hold the end of the one and the start
of the other."""

from types import SimpleNamespace
from typing import NamedTuple

from ascend_sim import asc

from ..shared.memory_arch35 import Heads, Memory
from ..shared.tiles_arch35 import Buffers, lines_in, lines_out
from ..shared.walks_arch35 import VectorFunctions, core_index, smaller

Tables = tuple[asc.LocalTensor, asc.LocalTensor]


class Piece(NamedTuple):
    """`lines` neighbouring lines of one tensor, from `place` (elements) in GM, which lie from line `first` on in UB."""

    heads: Heads
    place: int
    first: int
    lines: int


@asc.jit
def walk_list_of_heads(gm: Memory, tiling: SimpleNamespace, vf: VectorFunctions) -> None:
    """Cores share the positions. A step of several positions takes all their query heads, then all their key heads; a
    step of one position takes its list in pieces of ubFactorN."""
    core = core_index()
    positions = tiling.blockTailBS if core == tiling.blockNumBS - 1 else tiling.blockFactorBS
    first, row, step = core * tiling.blockFactorBS, gm.row, tiling.ubFactorBS
    ub = gm.buffers(step * gm.step, step, vf.depth)
    for at in asc.tiles(range(first, first + positions, step)):
        count = smaller(step, first + positions - at)
        cos, sin = ub.cos.alloc_tensor(row.dtype), ub.sin.alloc_tensor(row.dtype)
        lines_in(cos, gm.cos[at * row.length], count, row)
        ub.cos.enque(cos)
        cos = ub.cos.deque(row.dtype)
        lines_in(sin, gm.sin[at * row.length], count, row)
        ub.sin.enque(sin)
        sin = ub.sin.deque(row.dtype)
        if count > 1:
            for heads in gm.heads:
                whole = Piece(heads, at * heads.count * gm.line.full, 0, count * heads.count)
                turn_pieces(ub, [whole], vf, (cos, sin), count, heads.count)
        else:
            for chunk in asc.tiles(range(tiling.ubLoopN)):
                n = tiling.ubFactorN if chunk < tiling.ubLoopN - 1 else tiling.ubTailN
                turn_pieces(ub, pieces_of_list(gm, at, chunk * tiling.ubFactorN, n), vf, (cos, sin), 1, n)
        ub.cos.free_tensor(cos)
        ub.sin.free_tensor(sin)


def pieces_of_list(gm: Memory, position: int, start: int, count: int) -> list[Piece]:
    """Heads `start` to `start` + `count` of the position's list: of query, of key, or of both."""
    pieces, before = [], 0
    for heads in gm.heads:
        low, high = max(start - before, 0), smaller(start + count - before, heads.count)
        if low < high:
            place = (position * heads.count + low) * gm.line.full
            pieces.append(Piece(heads, place, before + low - start, high - low))
        before += heads.count
    return pieces


@asc.jit
def turn_pieces(
    ub: Buffers, pieces: list[Piece], vf: VectorFunctions, tables: Tables, positions: int, heads: int
) -> None:
    """A tile [positions][heads] of lines from one or two tensors; both its buffers are taken first."""
    line = ub.line
    x, y = ub.x.alloc_tensor(line.dtype), ub.y.alloc_tensor(line.dtype)
    for piece in pieces:
        lines_in(x[piece.first * line.pitch], piece.heads.x[piece.place], piece.lines, line)
    ub.x.enque(x)
    x = ub.x.deque(line.dtype)
    vf.lines(y, x, *tables, positions, heads, line.length, (line.pitch, line.pitch, ub.row.pitch))
    ub.x.free_tensor(x)
    ub.y.enque(y)
    y = ub.y.deque(line.dtype)
    for piece in pieces:
        lines_out(piece.heads.y[piece.place], y[piece.first * line.pitch], piece.lines, line)
    ub.y.free_tensor(y)
