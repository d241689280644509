"""Mode half on A2 and A3: dx, and with x given also dcos and dsin.

The work is cut along cos: every core owns a run of its elements, in tiles of whole lines. For each tile it loads cos
and sin once, then goes over all lines of dy that they were broadcast to:

    dy   GM -> UB ; 16 bit: Cast to fp32
    res = cos * g ; b = sin * g
    res = res + (second half of b, -first half of b)
    16 bit: Cast, half to even ; dx UB -> GM
    with x: dcos += x * g ; dsin += (-second half of x, first half of x) * g

No core adds to what another one owns, so dcos and dsin need no reduction between cores and are deterministic. All
queues have a single buffer (`tune` tries two: `bufferNum`, which the tiling struct lacks), and the vector unit is
fenced by explicit barriers.
"""

from types import SimpleNamespace

from ascend_sim import asc

from .half_plan import BLOCK_BYTES, FP32_BYTES, Sizes, Walk

VECIN, VECOUT, VECCALC = asc.TPosition.VECIN, asc.TPosition.VECOUT, asc.TPosition.VECCALC
BUFFER_NUM = 1
FP32_PER_BLOCK = 8


class Buffers:
    """The unified buffer of one core; `with_x` adds what dcos and dsin need."""

    def __init__(self, sizes: Sizes, with_x: bool, buffers: int) -> None:
        pipe = asc.TPipe()
        self.dy, self.cos, self.sin = asc.TQue(VECIN, 1), asc.TQue(VECIN, 1), asc.TQue(VECIN, 1)
        self.x, self.dx = asc.TQue(VECIN, 1), asc.TQue(VECOUT, 1)
        self.dcos, self.dsin = asc.TQue(VECOUT, 1), asc.TQue(VECOUT, 1)
        queues = [self.dy, self.cos, self.sin, self.dx] + ([self.x, self.dcos, self.dsin] if with_x else [])
        for queue in queues:
            pipe.init_buffer(queue, buffers, sizes.buffer * sizes.itemsize)
        self.a, self.b, self.c = asc.TBuf(VECCALC), asc.TBuf(VECCALC), asc.TBuf(VECCALC)
        self.sum_cos, self.sum_sin = asc.TBuf(VECCALC), asc.TBuf(VECCALC)
        self.dy32, self.cos32, self.sin32, self.res32 = (asc.TBuf(VECCALC) for _ in range(4))
        temporaries = [self.a, self.b, self.c] + ([self.sum_cos, self.sum_sin] if with_x else [])
        for buffer in temporaries + ([self.dy32, self.cos32, self.sin32, self.res32] if sizes.widen else []):
            pipe.init_buffer(buffer, sizes.buffer * FP32_BYTES)


class Memory:
    """The tensors in GM."""

    def __init__(self, *addresses: asc.GlobalAddress) -> None:
        self.dy, self.cos, self.sin, self.x, self.dx, self.dcos, self.dsin = (tensor_at(a) for a in addresses)


def tensor_at(address: asc.GlobalAddress) -> asc.GlobalTensor:
    tensor = asc.GlobalTensor()
    tensor.set_global_buffer(address)
    return tensor


@asc.jit
def half_grad(
    dy: asc.GlobalAddress,
    cos: asc.GlobalAddress,
    sin: asc.GlobalAddress,
    dx: asc.GlobalAddress,
    tiling: asc.ConstExpr[SimpleNamespace],
) -> None:
    """dx alone (keys 1000 and up)."""
    walk_tiles(Memory(dy, cos, sin, dy, dx, cos, sin), tiling, False)


@asc.jit
def half_grad_with_x(
    dy: asc.GlobalAddress,
    cos: asc.GlobalAddress,
    sin: asc.GlobalAddress,
    x: asc.GlobalAddress,
    dx: asc.GlobalAddress,
    dcos: asc.GlobalAddress,
    dsin: asc.GlobalAddress,
    tiling: asc.ConstExpr[SimpleNamespace],
) -> None:
    """dx, dcos and dsin (keys below 1000)."""
    walk_tiles(Memory(dy, cos, sin, x, dx, dcos, dsin), tiling, True)


@asc.jit
def walk_tiles(gm: Memory, tiling: SimpleNamespace, with_x: bool) -> None:
    sizes = Sizes(tiling, gm.dy.dtype)
    walk = Walk(tiling, asc.get_block_idx())
    ub = Buffers(sizes, with_x, getattr(tiling, "bufferNum", BUFFER_NUM))
    for tile in asc.tiles(range(walk.all_tiles)):
        elements = walk.tile if tile < walk.tiles else walk.last
        first = walk.first_element + tile * walk.tile
        for batch in asc.tiles(range(walk.batches)):
            cos_at = first + batch * walk.cos_batch
            dy_at = first * walk.scale + batch * walk.dy_batch
            one_tile(ub, gm, cos_at, dy_at, elements // sizes.line, walk, sizes, with_x)


@asc.jit
def one_tile(
    ub: Buffers, gm: Memory, cos_at: int, dy_at: int, lines: int, walk: Walk, sizes: Sizes, with_x: bool
) -> None:
    """`lines` lines of cos and sin and everything that they were broadcast to."""
    count = lines * sizes.pitch
    copy_in_lines(ub.cos, gm.cos[cos_at], lines, sizes)
    copy_in_lines(ub.sin, gm.sin[cos_at], lines, sizes)
    cos, sin = ub.cos.deque(sizes.dtype), ub.sin.deque(sizes.dtype)
    if with_x:
        asc.duplicate(ub.sum_cos.get(asc.float32), 0.0, count)
        asc.duplicate(ub.sum_sin.get(asc.float32), 0.0, count)
    cos32, sin32 = widen(cos, ub.cos32, count, sizes), widen(sin, ub.sin32, count, sizes)
    for first in asc.tiles(range(walk.first_reduce)):
        for second in asc.tiles(range(walk.second_reduce)):
            at = dy_at + first * walk.gap + second * sizes.line
            copy_in_run(ub.dy, gm.dy[at], lines, walk, sizes)
            if with_x:
                copy_in_run(ub.x, gm.x[at], lines, walk, sizes)
            g = compute_dx(ub, cos32, sin32, lines, sizes)
            copy_out_run(gm.dx[at], ub.dx, lines, walk, sizes)
            if with_x:
                add_to_sums(ub, g, lines, sizes)
            if not sizes.widen:
                ub.dy.free_tensor(g)
    ub.cos.free_tensor(cos)
    ub.sin.free_tensor(sin)
    if with_x:
        copy_out_sum(ub.dcos, ub.sum_cos, gm.dcos[cos_at], lines, sizes)
        copy_out_sum(ub.dsin, ub.sum_sin, gm.dsin[cos_at], lines, sizes)


@asc.jit
def widen(narrow: asc.LocalTensor, buffer: asc.TBuf, count: int, sizes: Sizes) -> asc.LocalTensor:
    if not sizes.widen:
        return narrow
    wide = buffer.get(asc.float32)
    asc.cast(wide, narrow, asc.RoundMode.CAST_NONE, count)
    return wide


@asc.jit
def compute_dx(ub: Buffers, cos: asc.LocalTensor, sin: asc.LocalTensor, lines: int, sizes: Sizes) -> asc.LocalTensor:
    """dx into its queue; the result is dy as fp32."""
    count = lines * sizes.pitch
    dy = ub.dy.deque(sizes.dtype)
    dx = ub.dx.alloc_tensor(sizes.dtype)
    g = widen(dy, ub.dy32, count, sizes)
    if sizes.widen:
        ub.dy.free_tensor(dy)
        asc.pipe_barrier(asc.PipeID.PIPE_V)
    a, b, c = ub.a.get(asc.float32), ub.b.get(asc.float32), ub.c.get(asc.float32)
    res = ub.res32.get(asc.float32) if sizes.widen else dx
    asc.mul(res, cos, g, count)
    asc.mul(b, sin, g, count)
    asc.pipe_barrier(asc.PipeID.PIPE_V)
    asc.muls(a, b, -1.0, count)  # of which only the first halves are used
    asc.pipe_barrier(asc.PipeID.PIPE_V)
    swap_halves(c, b, a, lines, sizes)
    asc.pipe_barrier(asc.PipeID.PIPE_V)
    asc.add(res, c, res, count)
    if sizes.widen:
        asc.pipe_barrier(asc.PipeID.PIPE_V)
        asc.cast(dx, res, asc.RoundMode.CAST_RINT, count)
    ub.dx.enque(dx)
    return g


@asc.jit
def swap_halves(
    out: asc.LocalTensor, second: asc.LocalTensor, first: asc.LocalTensor, lines: int, sizes: Sizes
) -> None:
    """out = (second halves of `second`, first halves of `first`), by two moves inside UB."""
    half_blocks = sizes.half_pitch // FP32_PER_BLOCK
    every_other = asc.DataCopyParams(lines, half_blocks, half_blocks, half_blocks)
    asc.data_copy(out, second[sizes.half_pitch], every_other)
    asc.data_copy(out[sizes.half_pitch], first, every_other)


@asc.jit
def add_to_sums(ub: Buffers, g: asc.LocalTensor, lines: int, sizes: Sizes) -> None:
    """dcos += x * g and dsin += (-second half of x, first half of x) * g."""
    count = lines * sizes.pitch
    a, b = ub.a.get(asc.float32), ub.b.get(asc.float32)
    sum_cos, sum_sin = ub.sum_cos.get(asc.float32), ub.sum_sin.get(asc.float32)
    narrow = ub.x.deque(sizes.dtype)
    x = widen(narrow, ub.c, count, sizes)
    if sizes.widen:
        ub.x.free_tensor(narrow)
        asc.pipe_barrier(asc.PipeID.PIPE_V)
    res = ub.res32.get(asc.float32) if sizes.widen else b
    asc.mul(res, x, g, count)
    asc.pipe_barrier(asc.PipeID.PIPE_V)
    asc.add(sum_cos, sum_cos, res, count)
    asc.pipe_barrier(asc.PipeID.PIPE_V)
    asc.muls(a, x, -1.0, count)
    asc.pipe_barrier(asc.PipeID.PIPE_V)
    swap_halves(b, a, x, lines, sizes)
    asc.pipe_barrier(asc.PipeID.PIPE_V)
    res = res if sizes.widen else a
    asc.mul(res, b, g, count)
    asc.pipe_barrier(asc.PipeID.PIPE_V)
    asc.add(sum_sin, sum_sin, res, count)
    if not sizes.widen:
        ub.x.free_tensor(narrow)


@asc.jit
def copy_out_sum(queue: asc.TQue, total: asc.TBuf, gm: asc.GlobalTensor, lines: int, sizes: Sizes) -> None:
    """One finished tile of dcos or dsin."""
    count = lines * sizes.pitch
    out = queue.alloc_tensor(sizes.dtype)
    asc.pipe_barrier(asc.PipeID.PIPE_V)
    if sizes.widen:
        asc.cast(out, total.get(asc.float32), asc.RoundMode.CAST_RINT, count)
    else:
        asc.data_copy(out, total.get(asc.float32), count)
    queue.enque(out)
    out = queue.deque(sizes.dtype)
    if sizes.padded:
        asc.data_copy_pad(gm, out, asc.DataCopyExtParams(2 * lines, sizes.half * sizes.itemsize, 0, 0))
    else:
        asc.data_copy(gm, out, lines * sizes.line)
    queue.free_tensor(out)


@asc.jit
def copy_in_lines(queue: asc.TQue, gm: asc.GlobalTensor, lines: int, sizes: Sizes) -> None:
    """Lines that follow each other in GM; padded halves come one by one."""
    tensor = queue.alloc_tensor(sizes.dtype)
    if sizes.padded:
        params = asc.DataCopyExtParams(2 * lines, sizes.half * sizes.itemsize, 0, 0)
        asc.data_copy_pad(tensor, gm, params, asc.DataCopyPadExtParams(sizes.dtype))
    else:
        asc.data_copy(tensor, gm, lines * sizes.line)
    queue.enque(tensor)


@asc.jit
def copy_in_run(queue: asc.TQue, gm: asc.GlobalTensor, lines: int, walk: Walk, sizes: Sizes) -> None:
    """Lines of dy or x that share the tile's cos, with other heads between them."""
    tensor = queue.alloc_tensor(sizes.dtype)
    if sizes.padded:
        half_blocks = sizes.half_pitch * sizes.itemsize // BLOCK_BYTES
        params = asc.DataCopyExtParams(lines, sizes.half * sizes.itemsize, walk.half_gap_bytes, half_blocks)
        no_pad = asc.DataCopyPadExtParams(sizes.dtype)
        asc.data_copy_pad(tensor, gm, params, no_pad)
        asc.data_copy_pad(tensor[sizes.half_pitch], gm[sizes.half], params, no_pad)
    else:
        asc.data_copy(tensor, gm, run(lines, walk, sizes, to_ub=True))
    queue.enque(tensor)


@asc.jit
def copy_out_run(gm: asc.GlobalTensor, queue: asc.TQue, lines: int, walk: Walk, sizes: Sizes) -> None:
    """dx to where `copy_in_run` read dy."""
    tensor = queue.deque(sizes.dtype)
    if sizes.padded:
        half_blocks = sizes.half_pitch * sizes.itemsize // BLOCK_BYTES
        params = asc.DataCopyExtParams(lines, sizes.half * sizes.itemsize, half_blocks, walk.half_gap_bytes)
        asc.data_copy_pad(gm, tensor, params)
        asc.data_copy_pad(gm[sizes.half], tensor[sizes.half_pitch], params)
    else:
        asc.data_copy(gm, tensor, run(lines, walk, sizes, to_ub=False))
    queue.free_tensor(tensor)


def run(lines: int, walk: Walk, sizes: Sizes, to_ub: bool) -> asc.DataCopyParams:
    """Whole 32 B blocks: one burst where lines follow each other, else one per line."""
    if walk.contiguous:
        return asc.DataCopyParams(1, lines * sizes.line * sizes.itemsize // BLOCK_BYTES, 0, 0)
    if to_ub:
        return asc.DataCopyParams(lines, walk.block_len, walk.block_gap, 0)
    return asc.DataCopyParams(lines, walk.block_len, 0, walk.block_gap)
