"""Template A of the gradient: every head has a cos row of its own, so nothing is summed over heads; all heads of query
(or of key, which has as many) are one axis of lines.

With query and key given, two more passes follow: rot(query) and rot(key) go to the workspace, and, when all cores have
come so far, grad_cos and grad_sin are computed line by line with the memory form of the vector instructions.
"""

from types import SimpleNamespace

from ascend_sim import asc

from ..shared.tiles_arch35 import BLOCK_BYTES, VECIN, VECOUT, Line, copy_in, copy_out
from ..shared.turns_back_arch35_vf import HALF_BACK
from ..shared.walks_arch35 import core_index, smaller
from .turns_arch35_vf import HALVES, half_rotated_vf
from .walks_arch35 import in_gm, past_l2

Address = asc.GlobalAddress
Pair = tuple[Address, Address]  # of query and of key, or of cos and of sin


class Lines:
    """The lines of this core: `total` from line `first` on, in steps of ubFactorS."""

    def __init__(self, tiling: SimpleNamespace) -> None:
        self.first = core_index() * tiling.blockFactorB
        self.total = smaller(tiling.blockFactorB, tiling.b - self.first)
        self.step = tiling.ubFactorS

    def steps(self) -> list[tuple[int, int]]:
        """(first line, lines) of every step."""
        return [(self.first + at, smaller(self.step, self.total - at)) for at in range(0, self.total, self.step)]


def tile_lines(dtype: asc.DataType, dim: int, lines: int) -> tuple[int, Line]:
    """How a tile is copied: a block per half line, or, where halves fill whole blocks of 32 B, one block for all."""
    halves = Line(dtype, dim, dim, HALVES)
    if halves.part_bytes % BLOCK_BYTES:
        return lines, halves
    return 1, Line(dtype, lines * dim, lines * dim)


class GradientQueues:
    """Gradients of query and of key in and out, cos and sin, all double-buffered."""

    def __init__(self, pipe: asc.TPipe, tile_bytes: int) -> None:
        self.g_in = asc.TQue(VECIN, 1), asc.TQue(VECIN, 1)
        self.cos_in, self.sin_in = asc.TQue(VECIN, 1), asc.TQue(VECIN, 1)
        self.dx_out = asc.TQue(VECOUT, 1), asc.TQue(VECOUT, 1)
        for queue in (*self.g_in, self.cos_in, self.sin_in, *self.dx_out):
            pipe.init_buffer(queue, 2, tile_bytes)


@asc.jit
def turn_all_lines(pipe: asc.TPipe, g: Pair, tables: Pair, dx: Pair, tiling: SimpleNamespace) -> None:
    """grad_query and grad_key."""
    lines, dim, dtype = Lines(tiling), tiling.d, tables[0].dtype
    pitch = Line(dtype, dim, dim, HALVES).pitch
    ub = GradientQueues(pipe, lines.step * pitch * dtype.sizeof())
    g_gm, dx_gm = [past_l2(one) for one in g], [in_gm(one) for one in dx]
    cos_gm, sin_gm = (in_gm(table) for table in tables)
    steps = (lines.step * pitch, lines.step * pitch, pitch)
    for first, count in asc.tiles(lines.steps()):
        place = first * dim
        blocks, line = tile_lines(dtype, dim, count)
        copy_in(ub.cos_in, cos_gm[place], blocks, line)
        copy_in(ub.sin_in, sin_gm[place], blocks, line)
        cos, sin = ub.cos_in.deque(dtype), ub.sin_in.deque(dtype)
        for g_in, dx_out, from_gm, to_gm in zip(ub.g_in, ub.dx_out, g_gm, dx_gm, strict=True):
            copy_in(g_in, from_gm[place], blocks, line)
            tile, result = g_in.deque(dtype), dx_out.alloc_tensor(dtype)
            HALF_BACK.batches(result, tile, cos, sin, (1, 1, count), steps, (steps[0], pitch), dim)
            g_in.free_tensor(tile)
            dx_out.enque(result)
            copy_out(dx_out, to_gm[place], blocks, line)
        ub.cos_in.free_tensor(cos)
        ub.sin_in.free_tensor(sin)


@asc.jit
def rotate_to_workspace(pipe: asc.TPipe, x: Pair, rotated: Pair, tiling: SimpleNamespace) -> None:
    """rot(query) and rot(key), in their own dtype."""
    lines, dtype = Lines(tiling), x[0].dtype
    line = Line(dtype, tiling.d, tiling.d, HALVES)
    x_in, out = asc.TQue(VECIN, 1), asc.TQue(VECOUT, 1)
    for queue in (x_in, out):
        pipe.init_buffer(queue, 2, lines.step * line.pitch_bytes)
    for source, target in zip(x, rotated, strict=True):
        from_gm, to_gm = in_gm(source), in_gm(target)
        for first, count in asc.tiles(lines.steps()):
            copy_in(x_in, from_gm[first * line.length], count, line)
            tile, result = x_in.deque(dtype), out.alloc_tensor(dtype)
            half_rotated_vf(result, tile, count, line.length, line.pitch)
            out.enque(result)
            copy_out(out, to_gm[first * line.length], count, line)
            x_in.free_tensor(tile)


class ProductQueues:
    """Per query and key: gradient, forward value, its rotation. 16-bit ones lie behind the float32 they are widened to.

    Results are float32 until the last Cast, in place.
    """

    def __init__(self, pipe: asc.TPipe, dtype: asc.DataType, elements: int) -> None:
        self.dtype, self.elements = dtype, elements
        self.inputs = tuple(tuple(asc.TQue(VECIN, 1) for _ in range(3)) for _ in range(2))
        self.results = asc.TQue(VECOUT, 1), asc.TQue(VECOUT, 1)
        self.product = asc.TBuf(asc.TPosition.VECCALC)
        wide = elements * asc.float32.sizeof()
        self.behind = 0 if dtype is asc.float32 else -(-wide // BLOCK_BYTES) * BLOCK_BYTES
        for queues in self.inputs:
            for queue in queues:
                pipe.init_buffer(queue, 2, self.behind + elements * dtype.sizeof())
        for queue in self.results:
            pipe.init_buffer(queue, 2, wide)
        pipe.init_buffer(self.product, wide)


@asc.jit
def load_wide(ub: ProductQueues, queue: asc.TQue, gm: asc.GlobalTensor, count: int) -> None:
    tile = queue.alloc_tensor(ub.dtype)
    params = asc.DataCopyExtParams(1, count * ub.dtype.sizeof(), 0, 0)
    padding = asc.DataCopyPadExtParams(ub.dtype, False, 0, 0, 0)
    asc.data_copy_pad(tile[ub.behind // ub.dtype.sizeof()], gm, params, padding)
    queue.enque(tile)


@asc.jit
def widened(ub: ProductQueues, tile: asc.LocalTensor, count: int) -> asc.LocalTensor:
    """The tile as float32, at its front."""
    if ub.dtype is asc.float32:
        return tile
    wide = tile.reinterpret_cast(asc.float32)
    asc.cast(wide, tile[ub.behind // ub.dtype.sizeof()], asc.RoundMode.CAST_NONE, count)
    return wide


@asc.jit
def multiply_lines(pipe: asc.TPipe, g: Pair, x: Pair, rotated: Pair, out: Pair, tiling: SimpleNamespace) -> None:
    """grad_cos = g_q * query + g_k * key, grad_sin = g_q * rot(query) + g_k * rot(key), in float32 until the end."""
    lines, dtype = Lines(tiling), x[0].dtype
    ub = ProductQueues(pipe, dtype, lines.step * tiling.d)
    sources = [[in_gm(one) for one in tensors] for tensors in zip(g, x, rotated, strict=True)]
    targets = [in_gm(one) for one in out]
    for first, line_count in asc.tiles(lines.steps()):
        place, count = first * tiling.d, line_count * tiling.d
        results: list[asc.LocalTensor] = []
        for queues, tensors in zip(ub.inputs, sources, strict=True):
            for queue, gm in zip(queues, tensors, strict=True):
                load_wide(ub, queue, gm[place], count)
            tiles = [queue.deque(dtype) for queue in queues]
            gradient, value, turned = (widened(ub, tile, count) for tile in tiles)
            asc.pipe_barrier(asc.PipeID.PIPE_V)
            if not results:  # query
                results = [queue.alloc_tensor(dtype) for queue in ub.results]
                for result, factor in zip(results, (value, turned), strict=True):
                    asc.mul(result.reinterpret_cast(asc.float32), factor, gradient, count)
            else:
                product = ub.product.get(asc.float32)
                for result, factor in zip(results, (value, turned), strict=True):
                    total = result.reinterpret_cast(asc.float32)
                    asc.mul(product, factor, gradient, count)
                    asc.add(total, total, product, count)
            for queue, tile in zip(queues, tiles, strict=True):
                queue.free_tensor(tile)
        store_rounded(ub, results, targets, place, count)


@asc.jit
def store_rounded(
    ub: ProductQueues, results: list[asc.LocalTensor], targets: list[asc.GlobalTensor], place: int, count: int
) -> None:
    if ub.dtype is not asc.float32:
        for result in results:
            asc.cast(result, result.reinterpret_cast(asc.float32), asc.RoundMode.CAST_RINT, count)
        asc.pipe_barrier(asc.PipeID.PIPE_V)
    for queue, result in zip(ub.results, results, strict=True):
        queue.enque(result)
    for queue, gm in zip(ub.results, targets, strict=True):
        copy_out(queue, gm[place], 1, Line(ub.dtype, count, count))
