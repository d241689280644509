"""Templates BAB and AB of the gradient: positions of query and key, which share their rows of cos and sin.

Query's and key's heads of the same number are in UB together. With query and key given, their products for grad_cos and
grad_sin meet in a tile of float32 sums there: the one with more heads stores, the other adds; the sums go to the
workspace, a line per head of the one with more.
"""

from collections.abc import Iterator
from types import SimpleNamespace

from ascend_sim import asc

from ..shared.tiles_arch35 import VECIN, VECOUT, Line, copy_in, copy_in_both, copy_out, lines_out
from ..shared.turns_back_arch35_vf import HALF_BACK
from ..shared.walks_arch35 import core_index, share_of_grid, smaller
from .turns_arch35_vf import HALVES, half_back_with_sums_vf

Tables = tuple[asc.LocalTensor, asc.LocalTensor]  # sin, cos: the order in which they are loaded
Sums = tuple[asc.LocalTensor, asc.LocalTensor]  # for grad_cos, for grad_sin
DEPTH = 2


def in_gm(address: asc.GlobalAddress) -> asc.GlobalTensor:
    tensor = asc.GlobalTensor()
    tensor.set_global_buffer(address)
    return tensor


def past_l2(address: asc.GlobalAddress) -> asc.GlobalTensor:
    """Read once: it need not displace anything from L2."""
    tensor = in_gm(address)
    tensor.set_l2_cache_hint(asc.CacheMode.CACHE_MODE_DISABLE)
    return tensor


class Path:
    """Query or key: gradients in and out and the forward values (or None) in GM, `heads` at each position, queues."""

    def __init__(self, g: asc.GlobalAddress, dx: asc.GlobalAddress, x: asc.GlobalAddress | None, heads: int) -> None:
        self.g, self.dx = past_l2(g), in_gm(dx)
        self.x = in_gm(x) if x is not None else None
        self.heads = heads
        self.g_in, self.x_in, self.dx_out = asc.TQue(VECIN, DEPTH), asc.TQue(VECIN, DEPTH), asc.TQue(VECOUT, DEPTH)

    def share(self, head: int, step: int) -> int:
        """How many of the heads from `head` to `head` + `step` there are."""
        return max(smaller(step, self.heads - head), 0)


class Job:
    """What a core of phase 1 works with. `lines` counts lines of a tile, `rows` rows of cos, `step` heads."""

    def __init__(
        self,
        pipe: asc.TPipe,
        paths: tuple[Path, Path],
        tables: tuple[asc.GlobalAddress, asc.GlobalAddress],
        sums: tuple[asc.GlobalAddress, asc.GlobalAddress] | None,
        dim: int,
        rows: int,
        step: int,
    ) -> None:
        self.paths, self.step = paths, step
        self.cos, self.sin = (in_gm(table) for table in tables)
        self.line = Line(self.cos.dtype, dim, dim, HALVES)
        self.sums_line = Line(asc.float32, dim, dim, HALVES)
        self.sums = tuple(in_gm(part) for part in sums) if sums is not None else ()
        self.cos_in, self.sin_in = asc.TQue(VECIN, DEPTH), asc.TQue(VECIN, DEPTH)
        self.sums_out = asc.TQue(VECOUT, DEPTH), asc.TQue(VECOUT, DEPTH)
        self._take_buffers(pipe, rows)

    def _take_buffers(self, pipe: asc.TPipe, rows: int) -> None:
        tile = rows * self.step * self.line.pitch_bytes
        for queue in (self.cos_in, self.sin_in):
            pipe.init_buffer(queue, 2, rows * self.line.pitch_bytes)
        query, key = self.paths
        for queue in (query.g_in, key.g_in, query.dx_out, key.dx_out):
            pipe.init_buffer(queue, 2, tile)
        if self.sums:
            for queue in (query.x_in, key.x_in):
                pipe.init_buffer(queue, 2, tile)
            for queue in self.sums_out:
                pipe.init_buffer(queue, 2, rows * self.step * self.sums_line.pitch_bytes)

    @property
    def heads(self) -> int:
        return max(path.heads for path in self.paths)


@asc.jit
def walk_batches_and_positions(job: Job, tiling: SimpleNamespace) -> None:
    """Template BAB: cores share batches and positions; all batches have the same cos rows, and fetch them anew."""
    first_b, batches, first_s, positions = share_of_grid(tiling)
    heads = range(0, job.heads, job.step)
    for b in asc.tiles(range(first_b, first_b + batches)):
        for at in asc.tiles(range(first_s, first_s + positions, tiling.ubFactorS)):
            count = smaller(tiling.ubFactorS, first_s + positions - at)
            turn_positions(job, at, b * tiling.s + at, count, heads)


@asc.jit
def walk_positions_and_heads(job: Job, tiling: SimpleNamespace) -> None:
    """Template AB: cores share the positions, each with a cos row of its own, and, when there are few, the heads."""
    core = core_index()
    at_bs, at_n = core // tiling.blockNumN, core % tiling.blockNumN
    positions = tiling.blockTailBS if at_bs == tiling.blockNumBS - 1 else tiling.blockFactorBS
    count_n = tiling.blockTailN if at_n == tiling.blockNumN - 1 else tiling.blockFactorN
    first, first_head = at_bs * tiling.blockFactorBS, at_n * tiling.blockFactorN
    heads = range(first_head, first_head + count_n, job.step)
    for at in asc.tiles(range(first, first + positions, tiling.ubFactorBS)):
        turn_positions(job, at, at, smaller(tiling.ubFactorBS, first + positions - at), heads)


@asc.jit
def turn_positions(job: Job, row: int, position: int, count: int, heads: range) -> None:
    """`count` positions, whose cos rows begin at `row`. Several at a time: a tile then holds all their heads."""
    line = job.line
    place = row * line.length
    copy_in_both(job.sin_in, job.sin[place], job.cos_in, job.cos[place], count, line)
    tables = job.sin_in.deque(line.dtype), job.cos_in.deque(line.dtype)
    for head in asc.tiles(heads):
        step = smaller(heads.step, heads.stop - head)
        if job.sums:
            sums = job.sums_out[0].alloc_tensor(asc.float32), job.sums_out[1].alloc_tensor(asc.float32)
            turn_tile(job, tables, sums, (position, count), (head, step))
            sums_to_workspace(job, sums, (position * job.heads + head) * line.length, count * step)
        else:
            turn_tile(job, tables, None, (position, count), (head, step))
    for queue, table in zip((job.sin_in, job.cos_in), tables, strict=True):
        queue.free_tensor(table)


def in_order(job: Job, head: int, step: int) -> Iterator[tuple[Path, int]]:
    """Query and key with their shares of the heads, the larger share first; an empty one is left out."""
    shares = [(path, path.share(head, step)) for path in job.paths]
    for path, share in sorted(shares, key=lambda item: -item[1]):
        if share > 0:
            yield path, share


@asc.jit
def turn_tile(job: Job, tables: Tables, sums: Sums | None, positions: tuple[int, int], heads: tuple[int, int]) -> None:
    """`positions`: the first one, and how many; `heads` the same. `sums`: take products with the forward values."""
    (position, count), (head, step), line = positions, heads, job.line
    sin, cos = tables
    first = True
    for path, share in in_order(job, head, step):
        place, lines = (position * path.heads + head) * line.length, count * share
        copy_in(path.g_in, path.g[place], lines, line)
        g, dx = path.g_in.deque(line.dtype), path.dx_out.alloc_tensor(line.dtype)
        if sums is None or path.x is None:
            HALF_BACK.lines(dx, g, cos, sin, count, share, line.length, (line.pitch,) * 3)
        else:
            copy_in(path.x_in, path.x[place], lines, line)
            x = path.x_in.deque(line.dtype)
            sizes, pitches = (count, share, job.step), (line.pitch, job.sums_line.pitch)
            half_back_with_sums_vf(dx, g, cos, sin, x, *sums, sizes, line.length, pitches, first)
        path.dx_out.enque(dx)
        copy_out(path.dx_out, path.dx[place], lines, line)
        path.g_in.free_tensor(g)
        if sums is not None:
            path.x_in.free_tensor(x)
        first = False


@asc.jit
def sums_to_workspace(job: Job, sums: Sums, place: int, lines: int) -> None:
    for queue, tile in zip(job.sums_out, sums, strict=True):
        queue.enque(tile)
    ready = [queue.deque(asc.float32) for queue in job.sums_out]
    for gm, tile in zip(job.sums, ready, strict=True):
        lines_out(gm[place], tile, lines, job.sums_line)
    for queue, tile in zip(job.sums_out, ready, strict=True):
        queue.free_tensor(tile)
