"""Mode interleave on A2 and A3: dx, and with x given also dcos and dsin. Positions are dealt out to the cores.

    split by positions  a step is some positions with all their batches and heads, cos and sin spread over them
    large               a position with all its batches and heads does not fit: it is cut into chunks of heads

One step or chunk:

    c = cos * g ; d = sin * g ; t = pairs of d swapped ; d = t * (1, -1, 1, -1, ...) ; dx = c + d
    with x: dcos += g * x ; dsin += g * (pairs of x swapped) * (-1, 1, -1, 1, ...)
"""

from types import SimpleNamespace

from ascend_sim import asc

from ..inplace_partial_rotary_mul.kernel_common import complete_gather_table, write_first_entries
from .interleave_plan import BNSD, BSND, SBND, Buffers, Sizes, Walk

FP32_PER_BLOCK = 8
FP32_PER_REPEAT = 64


class Memory:
    """The tensors in GM; without x its place and those of dcos and dsin hold dy and are not touched."""

    def __init__(self, *addresses: asc.GlobalAddress) -> None:
        self.dy, self.cos, self.sin, self.x, self.dx, self.dcos, self.dsin = (tensor_at(a) for a in addresses)


def tensor_at(address: asc.GlobalAddress) -> asc.GlobalTensor:
    tensor = asc.GlobalTensor()
    tensor.set_global_buffer(address)
    return tensor


@asc.jit
def interleave_grad(
    dy: asc.GlobalAddress,
    cos: asc.GlobalAddress,
    sin: asc.GlobalAddress,
    dx: asc.GlobalAddress,
    tiling: asc.ConstExpr[SimpleNamespace],
    large: asc.ConstExpr[bool],
) -> None:
    """dx alone."""
    gm = Memory(dy, cos, sin, dy, dx, dy, dy)
    if large:
        walk_heads(gm, tiling, False)
    else:
        walk_positions(gm, tiling, False)


@asc.jit
def interleave_grad_with_x(
    dy: asc.GlobalAddress,
    cos: asc.GlobalAddress,
    sin: asc.GlobalAddress,
    x: asc.GlobalAddress,
    dx: asc.GlobalAddress,
    dcos: asc.GlobalAddress,
    dsin: asc.GlobalAddress,
    tiling: asc.ConstExpr[SimpleNamespace],
    large: asc.ConstExpr[bool],
) -> None:
    """dx, dcos and dsin."""
    gm = Memory(dy, cos, sin, x, dx, dcos, dsin)
    if large:
        walk_heads(gm, tiling, True)
    else:
        walk_positions(gm, tiling, True)


@asc.jit
def write_tables(ub: Buffers, with_x: bool) -> asc.LocalTensor:
    """The gather table that swaps pairs, and one block of signs for each direction."""
    table = write_first_entries(ub.table)
    backward = ub.backward.get(asc.float32)
    for i in range(FP32_PER_BLOCK):
        backward.set_value(i, 1.0 if i % 2 == 0 else -1.0)
    if with_x:
        forward = ub.forward.get(asc.float32)
        for i in range(FP32_PER_BLOCK):
            forward.set_value(i, -1.0 if i % 2 == 0 else 1.0)
    return complete_gather_table(table, ub.count)


# --- whole positions --------------------------------------------------------------------------------------------------


@asc.jit
def walk_positions(gm: Memory, tiling: SimpleNamespace, with_x: bool) -> None:
    sizes = Sizes(tiling, gm.dy.dtype)
    walk = Walk(tiling, asc.get_block_idx())
    ub = Buffers(tiling, sizes, walk.step * sizes.copies * sizes.pitch, with_x)
    table = write_tables(ub, with_x)
    for step in asc.tiles(range(walk.steps)):
        positions = walk.step if step < walk.steps - 1 else walk.last
        first = walk.first + step * walk.step
        count = positions * sizes.copies * sizes.pitch
        angles = ub.cos_sin.alloc_tensor(sizes.dtype)
        asc.data_copy_pad(angles, gm.cos[first * sizes.line], lines_of(positions, sizes), sizes.padding)
        asc.data_copy_pad(angles[count], gm.sin[first * sizes.line], lines_of(positions, sizes), sizes.padding)
        loaded = ub.pipe.alloc_event_id(asc.HardEvent.MTE2_V)  # cos and sin are spread while dy is still coming in
        asc.set_flag(asc.HardEvent.MTE2_V, loaded)
        copy_in_positions(ub.dy, gm.dy, first, positions, sizes)
        if with_x:
            copy_in_positions(ub.x, gm.x, first, positions, sizes)
        asc.wait_flag(asc.HardEvent.MTE2_V, loaded)
        ub.pipe.release_event_id(loaded, asc.HardEvent.MTE2_V)
        spread(ub, angles, positions, sizes)
        spread(ub, angles[count], positions, sizes)
        g = compute_dx(ub, angles, table, count, sizes)
        copy_out_positions(gm.dx, ub.dx, first, positions, sizes)
        if with_x:
            sums = start_sums(ub, positions * sizes.pitch, sizes)
            add_to_sums(ub, sums, g, table, positions, sizes.copies, sizes)
            copy_out_sums(ub, sums, gm, first, positions, sizes)
        if not sizes.widen:
            ub.dy.free_tensor(g)


@asc.jit
def spread(ub: Buffers, angle: asc.LocalTensor, positions: int, sizes: Sizes) -> None:
    """Lines of cos (or sin) over all lines of dy that they belong to, in dy's order in UB."""
    block = positions * sizes.pitch
    if sizes.layout == BNSD:  # [batch][head][position]: the block of positions again and again
        for i in range(1, sizes.copies):
            asc.data_copy(angle[i * block], angle, block)
        asc.pipe_barrier(asc.PipeID.PIPE_V)
        return
    inner = sizes.heads if sizes.layout == BSND else sizes.copies
    gap = (inner - 1) * sizes.line_blocks
    wide = ub.spread.get(sizes.dtype)
    for i in range(inner):  # [position][head]: every line `inner` times in a row
        asc.data_copy(wide[i * sizes.pitch], angle, asc.DataCopyParams(positions, sizes.line_blocks, 0, gap))
    asc.pipe_barrier(asc.PipeID.PIPE_V)
    for batch in range(sizes.copies // inner):
        asc.data_copy(angle[batch * inner * block], wide, inner * block)
    asc.pipe_barrier(asc.PipeID.PIPE_V)


@asc.jit
def copy_in_positions(queue: asc.TQue, gm: asc.GlobalTensor, first: int, positions: int, sizes: Sizes) -> None:
    """All batches and heads of some positions: one copy for each run that lies together in GM."""
    tensor = queue.alloc_tensor(sizes.dtype)
    runs, lines, distance, start = runs_of(first, positions, sizes)
    for run in range(runs):
        at = gm[start + run * distance]
        asc.data_copy_pad(tensor[run * lines * sizes.pitch], at, lines_of(lines, sizes), sizes.padding)
    queue.enque(tensor)


@asc.jit
def copy_out_positions(gm: asc.GlobalTensor, queue: asc.TQue, first: int, positions: int, sizes: Sizes) -> None:
    tensor = queue.deque(sizes.dtype)
    runs, lines, distance, start = runs_of(first, positions, sizes)
    for run in range(runs):
        asc.data_copy_pad(gm[start + run * distance], tensor[run * lines * sizes.pitch], lines_of(lines, sizes))
    queue.free_tensor(tensor)


def runs_of(first: int, positions: int, sizes: Sizes) -> tuple[int, int, int, int]:
    """`(runs, lines of a run, elements from run to run, first element)` of some positions in dy."""
    if sizes.layout == BNSD:
        return sizes.copies, positions, sizes.positions * sizes.line, first * sizes.line
    if sizes.layout == BSND:
        row = sizes.heads * sizes.line
        return sizes.batches, positions * sizes.heads, sizes.positions * row, first * row
    return 1, positions * sizes.copies, 0, first * sizes.copies * sizes.line


def lines_of(lines: int, sizes: Sizes, gap_lines: int = 0, to_ub: bool = True) -> asc.DataCopyExtParams:
    """`lines` lines, in GM `gap_lines` lines apart from each other."""
    gap = gap_lines * sizes.line * sizes.itemsize
    return asc.DataCopyExtParams(lines, sizes.line * sizes.itemsize, gap if to_ub else 0, 0 if to_ub else gap)


# --- chunks of heads --------------------------------------------------------------------------------------------------


@asc.jit
def walk_heads(gm: Memory, tiling: SimpleNamespace, with_x: bool) -> None:
    sizes = Sizes(tiling, gm.dy.dtype)
    walk = Walk(tiling, asc.get_block_idx())
    by_batch = sizes.layout == BSND  # heads of one batch lie together, else those of all batches
    chunk: int = tiling.numHeadsLength if by_batch else tiling.batchNumHeadsLength
    chunks: int = tiling.numHeadsLoop if by_batch else tiling.batchNumHeadsLoop
    tail: int = tiling.numHeadsTail if by_batch else tiling.batchNumHeadsTail
    ub = Buffers(tiling, sizes, chunk * sizes.pitch, with_x)
    table = write_tables(ub, with_x)
    for position in asc.tiles(range(walk.positions)):
        at = walk.first + position
        sums = start_sums(ub, sizes.pitch, sizes) if with_x else None
        for batch in asc.tiles(range(sizes.batches if by_batch else 1)):
            for step in asc.tiles(range(chunks)):
                heads = chunk if step < chunks - 1 or tail == 0 else tail
                one_chunk(ub, gm, table, sums, at, batch, step * chunk, heads, sizes)
        if sums is not None:
            copy_out_sums(ub, sums, gm, at, 1, sizes)


@asc.jit
def one_chunk(
    ub: Buffers,
    gm: Memory,
    table: asc.LocalTensor,
    sums: asc.LocalTensor | None,
    position: int,
    batch: int,
    first_head: int,
    heads: int,
    sizes: Sizes,
) -> None:
    count = heads * sizes.pitch
    start, gap = heads_of(position, batch, first_head, sizes)
    angles = ub.cos_sin.alloc_tensor(sizes.dtype)
    asc.data_copy_pad(angles, gm.cos[position * sizes.line], lines_of(1, sizes), sizes.padding)
    asc.data_copy_pad(angles[count], gm.sin[position * sizes.line], lines_of(1, sizes), sizes.padding)
    loaded = ub.pipe.alloc_event_id(asc.HardEvent.MTE2_V)  # cos and sin are spread while dy is still coming in
    asc.set_flag(asc.HardEvent.MTE2_V, loaded)
    copy_in_heads(ub.dy, gm.dy[start], heads, gap, sizes)
    if sums is not None:
        copy_in_heads(ub.x, gm.x[start], heads, gap, sizes)
    asc.wait_flag(asc.HardEvent.MTE2_V, loaded)
    ub.pipe.release_event_id(loaded, asc.HardEvent.MTE2_V)
    for head in range(1, heads):
        asc.data_copy(angles[head * sizes.pitch], angles, sizes.pitch)
        asc.data_copy(angles[count + head * sizes.pitch], angles[count], sizes.pitch)
    asc.pipe_barrier(asc.PipeID.PIPE_V)
    g = compute_dx(ub, angles, table, count, sizes)
    dx = ub.dx.deque(sizes.dtype)
    asc.data_copy_pad(gm.dx[start], dx, lines_of(heads, sizes, gap, to_ub=False))
    ub.dx.free_tensor(dx)
    if sums is not None:
        add_to_sums(ub, sums, g, table, 1, heads, sizes)
    if not sizes.widen:
        ub.dy.free_tensor(g)


@asc.jit
def copy_in_heads(queue: asc.TQue, gm: asc.GlobalTensor, heads: int, gap: int, sizes: Sizes) -> None:
    tensor = queue.alloc_tensor(sizes.dtype)
    asc.data_copy_pad(tensor, gm, lines_of(heads, sizes, gap), sizes.padding)
    queue.enque(tensor)


def heads_of(position: int, batch: int, head: int, sizes: Sizes) -> tuple[int, int]:
    """`(first element, lines between one head and the next)` of the heads from `head` on at a position."""
    if sizes.layout == BNSD:
        return (head * sizes.positions + position) * sizes.line, sizes.positions - 1
    if sizes.layout == SBND:
        return (position * sizes.copies + head) * sizes.line, 0
    return ((batch * sizes.positions + position) * sizes.heads + head) * sizes.line, 0


# --- arithmetic -------------------------------------------------------------------------------------------------------


@asc.jit
def compute_dx(
    ub: Buffers, angles: asc.LocalTensor, table: asc.LocalTensor, count: int, sizes: Sizes
) -> asc.LocalTensor:
    """dx into its queue; the result is dy as fp32."""
    g: asc.LocalTensor = ub.dy.deque(sizes.dtype)
    cos, sin = angles, angles[count]
    if sizes.widen:
        wide, dy = ub.cos_sin32.get(asc.float32), g
        asc.cast(wide, angles, asc.RoundMode.CAST_NONE, count)
        asc.cast(wide[count], angles[count], asc.RoundMode.CAST_NONE, count)
        g = ub.dy32.get(asc.float32)
        asc.cast(g, dy, asc.RoundMode.CAST_NONE, count)
        ub.dy.free_tensor(dy)
        cos, sin = wide, wide[count]
        asc.pipe_barrier(asc.PipeID.PIPE_V)
    dx = ub.dx.alloc_tensor(sizes.dtype)
    along = ub.dx32.get(asc.float32) if sizes.widen else dx
    across, swapped = ub.product.get(asc.float32), ub.swapped.get(asc.float32)
    asc.mul(across, sin, g, count)
    asc.mul(along, cos, g, count)
    ub.cos_sin.free_tensor(angles)
    asc.pipe_barrier(asc.PipeID.PIPE_V)
    asc.gather(swapped, across, table, 0, count)
    asc.pipe_barrier(asc.PipeID.PIPE_V)
    multiply_by_signs(across, swapped, ub.backward.get(asc.float32), count)
    asc.pipe_barrier(asc.PipeID.PIPE_V)
    asc.add(along, along, across, count)
    if sizes.widen:
        asc.pipe_barrier(asc.PipeID.PIPE_V)
        to_half = sizes.dtype is asc.float16  # where CAST_NONE rounds half to even as well
        asc.cast(dx, along, asc.RoundMode.CAST_NONE if to_half else asc.RoundMode.CAST_RINT, count)
    ub.dx.enque(dx)
    return g


@asc.jit
def multiply_by_signs(dst: asc.LocalTensor, src: asc.LocalTensor, signs: asc.LocalTensor, count: int) -> None:
    """Every block of 8 times the one block of signs, which stays where it is."""
    full, rest = count // FP32_PER_REPEAT, count % FP32_PER_REPEAT
    params = asc.BinaryRepeatParams(1, 1, 0, 8, 8, 0)
    if full > 0:
        asc.mul(dst, src, signs, FP32_PER_REPEAT, full, params)
    if rest > 0:
        asc.mul(dst[count - rest], src[count - rest], signs, rest, 1, params)


@asc.jit
def start_sums(ub: Buffers, count: int, sizes: Sizes) -> asc.LocalTensor:
    """dcos from element 0 and dsin from the buffer's middle on, both 0; fp32 adds up in the output's own buffer."""
    sums: asc.LocalTensor = ub.sums32.get(asc.float32) if sizes.widen else ub.sums.alloc_tensor(asc.float32)
    asc.duplicate(sums, 0.0, count)
    asc.duplicate(sums[ub.count], 0.0, count)
    return sums


@asc.jit
def add_to_sums(
    ub: Buffers,
    sums: asc.LocalTensor,
    g: asc.LocalTensor,
    table: asc.LocalTensor,
    positions: int,
    copies: int,
    sizes: Sizes,
) -> None:
    """dcos += g * x and dsin += g * rot(x), line by line."""
    count = positions * copies * sizes.pitch
    x = narrow = ub.x.deque(sizes.dtype)
    if sizes.widen:
        x = ub.x32.get(asc.float32)
        asc.cast(x, narrow, asc.RoundMode.CAST_NONE, count)
        asc.pipe_barrier(asc.PipeID.PIPE_V)
    product, swapped = ub.product.get(asc.float32), ub.swapped.get(asc.float32)
    asc.mul(product, g, x, count)
    asc.gather(swapped, x, table, 0, count)
    ub.x.free_tensor(narrow)
    asc.pipe_barrier(asc.PipeID.PIPE_V)
    add_lines(sums, product, positions, copies, sizes)
    multiply_by_signs(product, swapped, ub.forward.get(asc.float32), count)
    asc.pipe_barrier(asc.PipeID.PIPE_V)
    asc.mul(product, product, g, count)
    asc.pipe_barrier(asc.PipeID.PIPE_V)
    add_lines(sums[ub.count], product, positions, copies, sizes)


@asc.jit
def add_lines(total: asc.LocalTensor, lines: asc.LocalTensor, positions: int, copies: int, sizes: Sizes) -> None:
    """total[position] += every one of its lines, batches and heads in order."""
    for copy in range(copies):
        for position in range(positions):
            line = line_in_ub(copy, position, positions, copies, sizes) * sizes.pitch
            sum_line = total[position * sizes.pitch]
            asc.add(sum_line, sum_line, lines[line], sizes.pitch)
        asc.pipe_barrier(asc.PipeID.PIPE_V)


def line_in_ub(copy: int, position: int, positions: int, copies: int, sizes: Sizes) -> int:
    """Where the line of a position and its `copy`-th batch and head lies in UB, in lines."""
    if sizes.layout == BNSD:
        return copy * positions + position
    inner = min(sizes.heads, copies) if sizes.layout == BSND else copies
    return (copy // inner * positions + position) * inner + copy % inner


@asc.jit
def copy_out_sums(ub: Buffers, sums: asc.LocalTensor, gm: Memory, first: int, positions: int, sizes: Sizes) -> None:
    count = positions * sizes.pitch
    out = sums
    if sizes.widen:
        out = ub.sums.alloc_tensor(sizes.dtype)
        asc.cast(out, sums, asc.RoundMode.CAST_RINT, count)
        asc.cast(out[ub.count], sums[ub.count], asc.RoundMode.CAST_RINT, count)
    ub.sums.enque(out)
    out = ub.sums.deque(sizes.dtype)
    asc.data_copy_pad(gm.dcos[first * sizes.line], out, lines_of(positions, sizes))
    asc.data_copy_pad(gm.dsin[first * sizes.line], out[ub.count], lines_of(positions, sizes))
    ub.sums.free_tensor(out)
