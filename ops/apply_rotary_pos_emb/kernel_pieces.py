"""Keys 1, 3 and 4: query and key of a position side by side in UB, computed together.

A core owns a run of positions and takes them piece by piece (key 1: its only one):

    cos, sin, q, k   GM -> UB, q and k of a position into one row
    sin' = (-first half, second half), once for all heads
    out = halves of every head swapped, by two moves inside UB
    by_sin = out * sin', by_cos = x * cos; out = by_sin + by_cos
    out              UB -> GM, back to q and k

float16 computes in float16. bfloat16 is widened first and rounded at the end, halves away from zero; the float32 values
take the place of the bfloat16 ones, whose buffers are large enough. Key 3 computes a piece in rounds, since its
temporaries are smaller than its input; with the keys 1 and 4 there is one round.

The kernel sets no flags and no barriers: the queues order the pipes, the compiler's auto sync orders V.
"""

from types import SimpleNamespace

from ascend_sim import asc

from .pieces_plan import Buffers, Piece, Sizes, Walk


class Tensors:
    """The four tensors in GM, from a core's first position on."""

    def __init__(self, tiling: SimpleNamespace, core: int, *addresses: asc.GlobalAddress) -> None:
        offsets = (tiling.qCoreOffset, tiling.kCoreOffset, tiling.cosCoreOffset, tiling.cosCoreOffset)
        self.q, self.k, self.cos, self.sin = (asc.GlobalTensor() for _ in addresses)
        for tensor, address, offset in zip((self.q, self.k, self.cos, self.sin), addresses, offsets, strict=True):
            tensor.set_global_buffer(address + core * offset)


@asc.jit
def rotary_pieces(
    query: asc.GlobalAddress,
    key: asc.GlobalAddress,
    cos: asc.GlobalAddress,
    sin: asc.GlobalAddress,
    tiling: asc.ConstExpr[SimpleNamespace],
    path: asc.ConstExpr[str],
) -> None:
    """Rotate query and key in place by cos and sin."""
    sizes = Sizes(tiling, query.dtype)
    core = asc.number(asc.get_block_idx(), asc.int64)  # 64 bits: offsets may pass 2**31 elements
    gm = Tensors(tiling, core, query, key, cos, sin)
    ub = Buffers(tiling, sizes, path)
    for piece in asc.tiles(Walk(tiling, core, path).pieces):
        copy_in(ub, gm, piece, sizes)
        if sizes.widen:
            compute_widened(ub, piece.positions, sizes)
        else:
            compute(ub, piece, sizes)
        copy_out(ub, gm, piece, sizes)


@asc.jit
def copy_in(ub: Buffers, gm: Tensors, piece: Piece, sizes: Sizes) -> None:
    heads, cos, sin = (queue.alloc_tensor(sizes.dtype) for queue in (ub.heads, ub.cos, ub.sin))
    asc.data_copy(cos, gm.cos[piece.first * sizes.dim], piece.positions * sizes.dim)
    asc.data_copy(sin, gm.sin[piece.first * sizes.dim], piece.positions * sizes.dim)
    for in_gm, in_ub, lines, gap, pitch in moves(gm, heads, piece, sizes):
        asc.data_copy(in_ub, in_gm, asc.DataCopyParams(*lines, gap, pitch))
    ub.heads.enque(heads)
    ub.cos.enque(cos)
    ub.sin.enque(sin)


@asc.jit
def copy_out(ub: Buffers, gm: Tensors, piece: Piece, sizes: Sizes) -> None:
    """Back to where `copy_in` read."""
    out = ub.out.deque(sizes.dtype)
    for in_gm, in_ub, lines, gap, pitch in moves(gm, out, piece, sizes):
        asc.data_copy(in_gm, in_ub, asc.DataCopyParams(*lines, pitch, gap))
    ub.out.free_tensor(out)


Move = tuple[asc.GlobalTensor, asc.LocalTensor, tuple[int, int], int, int]


def moves(gm: Tensors, rows: asc.LocalTensor, piece: Piece, sizes: Sizes) -> list[Move]:
    """(in GM, in UB, (bursts, blocks of each), gap in GM, gap in UB) of every copy of a piece.

    Whole heads: two copies, a burst per position. Half heads: a copy per position, a burst per head, as the head's
    other half lies between; a single key head per position still is one copy.
    """
    q, k = gm.q[piece.first * sizes.q_position], gm.k[piece.first * sizes.k_position]
    part = sizes.copied_blocks
    q_blocks, k_blocks = sizes.q_heads * part, sizes.k_heads * part
    k_rows = rows[sizes.q_row]
    if sizes.whole:
        return [
            (q, rows, (piece.positions, q_blocks), 0, k_blocks),
            (k, k_rows, (piece.positions, k_blocks), 0, q_blocks),
        ]
    found: list[Move] = []
    for i in range(piece.positions):
        found.append((q[i * sizes.q_position], rows[i * sizes.row], (sizes.q_heads, part), part, 0))
        if sizes.k_heads > 1:
            found.append((k[i * sizes.k_position], k_rows[i * sizes.row], (sizes.k_heads, part), part, 0))
    if sizes.k_heads == 1:
        found.append((k, k_rows, (piece.positions, k_blocks), k_blocks, q_blocks))
    return found


@asc.jit
def compute(ub: Buffers, piece: Piece, sizes: Sizes) -> None:
    """float16 and float32: in their own type."""
    heads, cos, sin = ub.heads.deque(sizes.dtype), ub.cos.deque(sizes.dtype), ub.sin.deque(sizes.dtype)
    negate_first_halves(sin, piece.positions, sizes)
    out = ub.out.alloc_tensor(sizes.dtype)
    swap_halves(out, heads, piece.positions, sizes)
    by_sin, by_cos = ub.by_sin.get(sizes.dtype), ub.by_cos.get(sizes.dtype)
    for i in range(piece.full_rounds + 1):
        first = i * piece.rounds
        positions = piece.rounds if i < piece.full_rounds else piece.last
        row, line = first * sizes.row, first * sizes.dim
        multiply((by_sin, out[row], sin[line]), (by_cos, heads[row], cos[line]), positions, sizes)
        asc.add(out[row], by_sin, by_cos, positions * sizes.row)
    ub.heads.free_tensor(heads)
    ub.cos.free_tensor(cos)
    ub.sin.free_tensor(sin)
    ub.out.enque(out)


@asc.jit
def compute_widened(ub: Buffers, positions: int, sizes: Sizes) -> None:
    """bfloat16: in float32."""
    heads, cos, sin = ub.heads.deque(sizes.dtype), ub.cos.deque(sizes.dtype), ub.sin.deque(sizes.dtype)
    out = ub.out.alloc_tensor(sizes.dtype)
    swapped, by_cos = out.reinterpret_cast(asc.float32), heads.reinterpret_cast(asc.float32)
    x, by_sin, cos32, sin32 = (buffer.get(asc.float32) for buffer in (ub.by_cos, ub.by_sin, ub.cos32, ub.sin32))
    count = positions * sizes.row
    asc.cast(x, heads, asc.RoundMode.CAST_NONE, count)
    swap_halves(swapped, x, positions, sizes)
    asc.cast(cos32, cos, asc.RoundMode.CAST_NONE, positions * sizes.dim)
    asc.cast(sin32, sin, asc.RoundMode.CAST_NONE, positions * sizes.dim)
    negate_first_halves(sin32, positions, sizes)
    multiply((by_sin, swapped, sin32), (by_cos, x, cos32), positions, sizes)
    asc.add(x, by_sin, by_cos, count)
    asc.cast(out, x, asc.RoundMode.CAST_ROUND, count)
    ub.heads.free_tensor(heads)
    ub.cos.free_tensor(cos)
    ub.sin.free_tensor(sin)
    ub.out.enque(out)


@asc.jit
def negate_first_halves(sin: asc.LocalTensor, positions: int, sizes: Sizes) -> None:
    """So that the rotation needs no sign later: one repeat per position."""
    params = asc.UnaryRepeatParams(1, 1, sizes.line_blocks, sizes.line_blocks)
    asc.muls(sin, sin, -1.0, sizes.half, positions, params)


@asc.jit
def swap_halves(out: asc.LocalTensor, x: asc.LocalTensor, positions: int, sizes: Sizes) -> None:
    """Two moves inside UB, each of every other half."""
    every_other = asc.DataCopyParams(positions * sizes.heads, sizes.half_blocks, sizes.half_blocks, sizes.half_blocks)
    asc.data_copy(out, x[sizes.half], every_other)
    asc.data_copy(out[sizes.half], x, every_other)


Product = tuple[asc.LocalTensor, asc.LocalTensor, asc.LocalTensor]


@asc.jit
def multiply(one: Product, other: Product, positions: int, sizes: Sizes) -> None:
    """(result, heads, angles) of two products, in turns; the heads of a position share its line of angles.

    Of the two ways to walk the one with fewer instructions: a position at a time, with a repeat per head, or all heads
    of one number, with a repeat per position.
    """
    line = sizes.line_blocks
    if sizes.heads >= positions:
        steps = [(i * sizes.row, i * sizes.dim) for i in range(positions)]
        repeats, params = sizes.heads, asc.BinaryRepeatParams(1, 1, 1, line, line, 0)
    else:
        steps = [(head * sizes.dim, 0) for head in range(sizes.heads)]
        row = sizes.heads * line
        repeats, params = positions, asc.BinaryRepeatParams(1, 1, 1, row, row, line)
    for place, angle in steps:
        for column in range(0, sizes.dim, sizes.lanes):
            for result, heads, angles in (one, other):
                asc.mul(
                    result[place + column],
                    heads[place + column],
                    angles[angle + column],
                    sizes.lanes,
                    repeats,
                    params,
                )
