"""Which plans the 950's templates take for a call: views of x, grids of cores, sizes of UB steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from ascend_sim.host.space import block_dims, step_sizes, thinned
from ascend_sim.host.tiling import ceil_div

from .cuts_arch35 import (
    HEADS_BEFORE_POSITIONS,
    ONE_AXIS,
    POSITIONS_AND_HEADS,
    Plan,
    View,
    batches_and_positions,
    heads_before_positions,
    one_axis,
    positions_and_heads,
)
from .rope_layout import RopeDims
from .splits_arch35 import GridBS, GridPositionsN

T = TypeVar("T")

QUEUES = 4  # x and result, double-buffered, or cos and sin, double-buffered
STEP_SIZES = 8
"""At most so many sizes of a step along the axis that is cut first; a third of them along each other axis."""
FEW_GRIDS = 4
"""At least so many grids are tried for each view."""


@dataclass(frozen=True, slots=True)
class Room:
    """Unified buffer, and what a line and a cos row take of it."""

    ub_bytes: int
    x_row: int
    cos_row: int

    def lines(self, cos_rows: int) -> int:
        """Lines of a step with so many cos rows."""
        return max(0, self.ub_bytes // QUEUES - cos_rows * self.cos_row) // self.x_row

    def times(self, lines: int, cos_rows: int = 1) -> int:
        """How often so many lines and cos rows fit."""
        return self.ub_bytes // QUEUES // (lines * self.x_row + cos_rows * self.cos_row)

    def beside_one_row(self) -> int:
        """Lines beside one cos row in a single buffer."""
        return max(0, self.ub_bytes - 2 * self.cos_row) // (QUEUES * self.x_row)


def views(dims: RopeDims) -> list[View]:
    """Every template that finds the lines and cos rows where this call has them; the host's own first.

    Axes of one index may stand anywhere, and axes that all share a cos row may be taken together. ABA with one batch is
    left out: BA does the same.
    """
    own = View.of(dims)
    runs = own.runs
    sizes = runs.sizes
    found = [own]
    match runs.kinds:
        case "A":
            (a,) = sizes
            found += [View("A", a, a, 1, 1), _ab(a, 1), View("BAB", 1, 0, a, 1), View("BA", 1, 1, a, 1)]
        case "R":
            (r,) = sizes
            found += [View("B", r, 1, 1, 1), _ab(1, r)]
            found += [View("BAB", dims.b * dims.s, 0, 1, dims.n), View("BA", dims.b * dims.s, 1, 1, dims.n)]
        case "AR":
            a, r = sizes
            found += [_ab(a, r), View("BAB", 1, 0, a, r), View("ABA", a, a, 1, r)]
        case "RA":
            r, a = sizes
            found += [View("BA", r, 1, a, 1), View("BA", 1, 1, a, r), View("BAB", r, 0, a, 1)]
    seen = {(view.template, view.axes): view for view in reversed(found)}
    return [view for view in found if seen[view.template, view.axes] is view]


def _ab(positions: int, heads: int) -> View:
    return View("AB", 1, 1, positions, heads, positions)


def plans(found: list[View], room: Room, cores: int, limit: int) -> Iterator[Plan]:
    """At most about `limit` plans, the views taking turns; what some have no use for the others get."""
    return by_turns([partial(on_grids, *_sizes(view), cores, partial(_on_grid, view, room)) for view in found], limit)


def by_turns(found: Sequence[Callable[[int], Sequence[T]]], limit: int) -> Iterator[T]:
    """About `limit` of what is made when so many are asked for: the first of each, the second of each, and so on; what
    some have no use for the others get."""
    share = ceil_div(limit, len(found))
    turns = [make(share) for make in found]
    spare = limit - sum(map(len, turns))
    if spare > 0:
        turns = [make(share + spare) for make in found]
    for turn in range(max(map(len, turns), default=0)):
        yield from (made[turn] for made in turns if turn < len(made))


def on_grids(
    first: int, second: int, cores: int, on_grid: Callable[[tuple[int, int]], Iterable[T]], count: int
) -> list[T]:
    """About `count` of what `on_grid` makes of a core's shares of two axes: all of it on one grid after the other,
    those that deal out most evenly, then some of the others."""
    cuts = grids(first, second, cores)
    tried, found = FEW_GRIDS, list[T]()
    while len(found) < count and tried < 2 * len(cuts) + FEW_GRIDS:
        found = [made for cut in thinned(cuts, tried) for made in on_grid(cut)]
        tried *= 2
    return found


def _sizes(view: View) -> tuple[int, int]:
    """The axes that cores share."""
    if view.template in ONE_AXIS:
        return view.b, 1
    return (view.positions, view.n) if view.template in POSITIONS_AND_HEADS else (view.b, view.s)


def grids(first: int, second: int, cores: int) -> list[tuple[int, int]]:
    """What a core may get of two axes, the smallest shares first, and of equal ones those of fewer cores."""
    found = set()
    for along in block_dims(first, cores, cores):
        factor = ceil_div(first, along)
        for across in block_dims(second, cores // ceil_div(first, factor), cores):
            found.add((factor, ceil_div(second, across)))

    def order(factors: tuple[int, int]) -> tuple[int, int, int]:
        one, other = factors
        return one * other, ceil_div(first, one) * ceil_div(second, other), one

    return sorted(found, key=order)


def _on_grid(view: View, room: Room, factors: tuple[int, int]) -> Iterator[Plan]:
    first, second = factors
    if view.template in ONE_AXIS:
        most = room.times(1) if view.template == "A" else room.beside_one_row()
        for size in step_sizes(first, most, STEP_SIZES):
            yield one_axis(view, ceil_div(view.b, first), first, size)
    elif view.template in POSITIONS_AND_HEADS:
        grid = positions_by_heads(view.positions, view.n, first, second)
        for steps in whole_or_part(room, first, second, view.n):
            yield positions_and_heads(view, grid, *steps)
    else:
        cut = GridBS(ceil_div(view.b, first), first, ceil_div(view.s, second), second)
        if view.template in HEADS_BEFORE_POSITIONS:
            for sizes in tiles_of(room, second, first, view.n, shared=view.template == "BA"):
                yield heads_before_positions(view, cut, *sizes)
        else:
            for steps in whole_or_part(room, second, view.n, view.n):
                yield batches_and_positions(view, cut, *steps)


def positions_by_heads(positions: int, heads: int, factor_bs: int, factor_n: int) -> GridPositionsN:
    num_bs, num_n = ceil_div(positions, factor_bs), ceil_div(heads, factor_n)
    tail_bs, tail_n = positions - (num_bs - 1) * factor_bs, heads - (num_n - 1) * factor_n
    return GridPositionsN(num_bs, factor_bs, tail_bs, num_n, factor_n, tail_n)


def whole_or_part(room: Room, positions: int, heads: int, all_heads: int) -> Iterable[tuple[int, int]]:
    """(positions, heads) of a step: all heads of some positions, or some of one position."""
    if heads == all_heads:
        for size in step_sizes(positions, room.times(heads), STEP_SIZES):
            yield size, heads
    for size in step_sizes(heads, room.lines(1), STEP_SIZES // 2 if heads == all_heads else STEP_SIZES):
        if size < all_heads:
            yield 1, size


def tiles_of(room: Room, positions: int, batches: int, heads: int, shared: bool) -> Iterator[tuple[int, int, int]]:
    """(positions, batches, heads) of a step; `shared`: all batches have the same cos rows."""
    few = STEP_SIZES // 3
    for size_s in step_sizes(positions, room.times(1), STEP_SIZES):
        for size_n in step_sizes(heads, room.lines(size_s) // size_s, few + 1):
            lines = size_s * size_n
            most = room.lines(size_s) // lines if shared else room.times(lines, size_s)
            for size_b in step_sizes(batches, most, few):
                yield size_s, size_b, size_n
