"""Sums of lines in GM on the 950, or of products of lines, in a fixed order: the step in which the real gradients call
CANN's reduce library, which is not modelled. This kernel is our own.

The lines are [groups][rows][terms][inner]; every row and inner index gets one result. Its terms of the first group come
one after the other, then those of the next group: the order in which they lie in memory. Each is widened to float32 (of
two factors: their product, rounded once) and added in float32; the total is rounded half to even to the result's dtype.
One core makes a whole result, so that no bit depends on how many there are.

    rows    0 ............................ R-1         inner    0 ....................... I-1
            |core 0  |core 2  |core 4  |c6|                     |core 0    |core 1    |
            |step |step|                                        |step |step|
    a step  group 0 [t0][t1]... group 1 [t0][t1]...             as many terms at once as unified buffer takes

Where there are fewer results than cores a line counts as several inner indexes, one for each 128 B that GM is moved in.
Where there is one inner index a step is whole rows with all their terms of a group, or one row's terms in several
tiles; where there are more it is a run of them, in one row.
"""

from dataclasses import dataclass

from ascend_sim import asc
from ascend_sim.asc import reg

from .limits import MOST_COPIED_BLOCKS
from .registers_arch35 import LANES, Mask, Pointer, Register, load_widened, registers, store_narrowed
from .rope_layout import Runs
from .splits_arch35 import split_by_cores
from .tiles_arch35 import VECIN, VECOUT, Line, Loops, copy_in, copy_in_looped, copy_out
from .walks_arch35 import core_index, smaller

BUFFERS = 2
PIECE_BYTES = 128  # what GM is moved in: shorter pieces of lines would be read in vain
Terms = tuple[Pointer, ...]  # one tile, or two whose products are summed


@dataclass(frozen=True, slots=True)
class SumShape:
    """Lines of `length` elements: [groups][rows][terms][inner]."""

    groups: int
    rows: int
    terms: int
    inner: int
    length: int

    @classmethod
    def of(cls, lines: tuple[int, ...], results: tuple[int, ...], length: int) -> "SumShape":
        """Lines of these dims, summed along those in which `results` is 1."""
        runs = Runs.between(lines, results)
        groups, rows, terms, inner = {
            "": (-1, -1, -1, -1),
            "A": (-1, 0, -1, -1),
            "R": (-1, -1, 0, -1),
            "AR": (-1, 0, 1, -1),
            "RA": (-1, -1, 0, 1),
            "ARA": (-1, 0, 1, 2),
            "RAR": (0, 1, 2, -1),
        }[runs.kinds]
        sizes = (*runs.sizes, 1)  # index -1: an axis that is not there
        return cls(sizes[groups], sizes[rows], sizes[terms], sizes[inner], length)

    def spread(self, cores: int, itemsize: int) -> "SumShape":
        """Where there are fewer results than cores, lines cut into pieces: a piece is an inner index more."""
        pieces, rest = divmod(self.length * itemsize, PIECE_BYTES)
        if rest or pieces < 2 or self.rows * self.inner >= cores:
            return self
        return SumShape(self.groups, self.rows, self.terms, self.inner * pieces, self.length // pieces)


@dataclass(frozen=True, slots=True)
class Sums:
    """What is summed, by how many cores, and how much unified buffer each has for it."""

    shape: SumShape
    cores: int
    ub_bytes: int


class SumSteps:
    """What a core makes, and how many results and terms a tile holds.

    UB: a tile of every factor in two buffers, a float32 line per result for the totals, results in two buffers.
    """

    def __init__(self, sums: Sums, terms: tuple[Line, ...], result: Line) -> None:
        shape, ub_bytes = sums.shape, sums.ub_bytes
        self.grid = split_by_cores(shape.rows, shape.inner, sums.cores)
        self.total = Line(asc.float32, shape.length, shape.length)
        term_bytes = BUFFERS * sum(term.pitch_bytes for term in terms)
        result_bytes = self.total.pitch_bytes + BUFFERS * result.pitch_bytes
        whole = shape.terms if shape.inner == 1 else 1  # terms that belong together in a tile
        share = self.grid.factor_b if shape.inner == 1 else self.grid.factor_s
        fitting = ub_bytes // (whole * term_bytes + result_bytes)
        self.results = max(1, min(share, fitting, MOST_COPIED_BLOCKS // whole))
        fitting = (ub_bytes - self.results * result_bytes) // (self.results * term_bytes)
        self.terms = min(shape.terms, fitting, MOST_COPIED_BLOCKS // self.results)

    def share(self, shape: SumShape) -> tuple[range, range]:
        """This core's rows and inner indexes."""
        core = core_index()
        row = core % self.grid.num_b * self.grid.factor_b
        inner = core // self.grid.num_b * self.grid.factor_s
        return (
            range(row, smaller(row + self.grid.factor_b, shape.rows)),
            range(inner, smaller(inner + self.grid.factor_s, shape.inner)),
        )


def load_term(term: Register, other: Register, terms: Terms, at: Pointer, mask: Mask) -> None:
    """64 elements of a term; `other` is for the second factor."""
    load_widened(term, terms[0] + at, mask)
    if len(terms) > 1:
        load_widened(other, terms[1] + at, mask)
        reg.mul(term, term, other, mask)


@asc.vf
def add_terms_vf(
    totals: Pointer,
    terms: Terms,
    results: int,
    count: int,
    length: int,
    pitches: tuple[int, int, int],
    first: bool,
) -> None:
    """totals[k] += terms[k][0] + terms[k][1] + ..., one after the other; `first`: there is no total yet.

    `pitches`: from a total to the next, from the terms of a result to those of the next, from a term to the next.
    """
    total, term = registers()
    other = reg.RegTensor(asc.float32)
    for k in asc.range(results):
        left = reg.Counter(length)
        for i in asc.range(-(-length // LANES)):
            mask = reg.update_mask(asc.float32, left)
            line = k * pitches[1] + i * LANES
            to = totals + k * pitches[0] + i * LANES
            if first:
                load_term(total, other, terms, line, mask)
            else:
                reg.load_align(total, to)
            for n in asc.range(count - first):
                load_term(term, other, terms, line + (n + int(first)) * pitches[2], mask)
                reg.add(total, total, term, mask)
            reg.store_align(to, total, mask)


@asc.vf
def round_totals_vf(results: Pointer, totals: Pointer, count: int, length: int, pitches: tuple[int, int]) -> None:
    """`pitches` of results and of totals."""
    total = reg.RegTensor(asc.float32)
    for k in asc.range(count):
        left = reg.Counter(length)
        for i in asc.range(-(-length // LANES)):
            mask = reg.update_mask(asc.float32, left)
            reg.load_align(total, totals + k * pitches[1] + i * LANES)
            store_narrowed(results + k * pitches[0] + i * LANES, total, mask)


class SumBuffers:
    """Queues of the factors and of results, and the totals between them."""

    def __init__(self, pipe: asc.TPipe, steps: SumSteps, terms: tuple[Line, ...], result: Line) -> None:
        self.terms = tuple(asc.TQue(VECIN, 1) for _ in terms)
        self.results = asc.TQue(VECOUT, 1)
        self.totals = asc.TBuf(asc.TPosition.VECCALC)
        for queue, term in zip(self.terms, terms, strict=True):
            pipe.init_buffer(queue, BUFFERS, steps.results * steps.terms * term.pitch_bytes)
        pipe.init_buffer(self.totals, steps.results * steps.total.pitch_bytes)
        pipe.init_buffer(self.results, BUFFERS, steps.results * result.pitch_bytes)


@asc.jit
def sum_lines(pipe: asc.TPipe, factors: tuple[asc.GlobalAddress, ...], out: asc.GlobalAddress, sums: Sums) -> None:
    """This core's results in `out`, from one tensor of lines or two."""
    shape = sums.shape
    lines = tuple(Line(factor.dtype, shape.length, shape.length) for factor in factors)
    result = Line(out.dtype, shape.length, shape.length)
    steps = SumSteps(sums, lines, result)
    if core_index() >= steps.grid.cores:
        return
    rows, inner = steps.share(shape)
    gm = tuple(asc.GlobalTensor() for _ in factors)
    for tensor, factor in zip(gm, factors, strict=True):
        tensor.set_global_buffer(factor)
    to_gm = asc.GlobalTensor()
    to_gm.set_global_buffer(out)
    ub = SumBuffers(pipe, steps, lines, result)
    row_step, inner_step = (steps.results, 1) if shape.inner == 1 else (1, steps.results)
    for row in asc.tiles(range(rows.start, rows.stop, row_step)):
        for at in asc.tiles(range(inner.start, inner.stop, inner_step)):
            here = smaller(row_step, rows.stop - row), smaller(inner_step, inner.stop - at)
            sum_step(ub, gm, lines, steps, shape, (row, at), here)
            done = ub.results.alloc_tensor(out.dtype)
            count = here[0] * here[1]
            totals = ub.totals.get(asc.float32)
            round_totals_vf(done, totals, count, shape.length, (result.pitch, steps.total.pitch))
            ub.results.enque(done)
            copy_out(ub.results, to_gm[(row * shape.inner + at) * shape.length], count, result)


@asc.jit
def sum_step(
    ub: SumBuffers,
    gm: tuple[asc.GlobalTensor, ...],
    lines: tuple[Line, ...],
    steps: SumSteps,
    shape: SumShape,
    start: tuple[int, int],
    sizes: tuple[int, int],
) -> None:
    """The totals of `sizes` rows and inner indexes from `start` on; one of the sizes is 1."""
    (row, at), (rows, inner) = start, sizes
    for group in asc.tiles(range(shape.groups)):
        for n in asc.tiles(range(0, shape.terms, steps.terms)):
            count = smaller(steps.terms, shape.terms - n)
            place = (((group * shape.rows + row) * shape.terms + n) * shape.inner + at) * shape.length
            for queue, tensor, line in zip(ub.terms, gm, lines, strict=True):
                if inner == shape.inner:  # neighbours in GM: all terms of some rows, or some of one row
                    copy_in(queue, tensor[place], rows * count * inner, line)
                else:
                    loops = Loops(count, 1, shape.inner * shape.length, inner * line.pitch)
                    copy_in_looped(queue, tensor[place], inner, line, loops)
            tiles = tuple(queue.deque(line.dtype) for queue, line in zip(ub.terms, lines, strict=True))
            pitch = lines[0].pitch
            pitches = (count * pitch, pitch) if shape.inner == 1 else (pitch, inner * pitch)
            totals = ub.totals.get(asc.float32)
            first = group == 0 and n == 0
            add_terms_vf(totals, tiles, rows * inner, count, shape.length, (steps.total.pitch, *pitches), first)
            for queue, tile in zip(ub.terms, tiles, strict=True):
                queue.free_tensor(tile)
