"""The tilings that an operator's kernels take beside the one that its host code chooses, and what each of them covers.

An operator declares them in a module of its own (`Support.space`), under the name `SPACE`, with the formulas and field
meanings of its tiling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapreplace
from math import ceil, prod
from typing import TypeVar

from ascend_sim.errors import InputError
from ascend_sim.host.tiling import Loop, Tiling, TilingContext, ceil_div
from ascend_sim.plurals import counted
from ascend_sim.soc.models import MAX_BLOCKS

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Steps:
    """How a block walks one axis: `steps` steps of `per_step` from `start` on, of which the last one takes `last`."""

    start: int
    per_step: int
    steps: int
    last: int

    @classmethod
    def of(cls, start: int, loop: Loop) -> Steps:
        return cls(start, loop.per_loop, loop.loops, loop.last)

    @classmethod
    def whole(cls, size: int) -> Steps:
        """All of an axis at once."""
        return cls(0, size, 1, size)

    @classmethod
    def over(cls, start: int, total: int, per_step: int) -> Steps:
        """`total` from `start` on, in steps of `per_step`."""
        return cls.of(start, Loop.over("", total, per_step))

    @property
    def total(self) -> int:
        return (self.steps - 1) * self.per_step + self.last if self.steps > 0 else 0

    @property
    def end(self) -> int:
        return self.start + self.total

    def each(self) -> Iterator[range]:
        """The steps one by one."""
        for step in range(self.steps):
            start = self.start + step * self.per_step
            yield range(start, start + (self.per_step if step < self.steps - 1 else self.last))


@dataclass(frozen=True, slots=True)
class Piece:
    """What one block works on: a walk over each axis of the space, each combination of steps being one tile."""

    block: int
    axes: tuple[Steps, ...]

    @property
    def volume(self) -> int:
        return prod(steps.total for steps in self.axes)


@dataclass(frozen=True, slots=True)
class Space:
    """The tilings of an operator on one architecture.

    `axes` names what is to be covered, with its sizes ({"rows": 32768, "heads": 32}). `candidates` yields about `limit`
    tilings, first that of the host code, then other ones that are legal; `coverage` what each block of a tiling works
    on; `choices` what a tiling has chosen, under the names that people know ("rows per loop"). `rebuild` makes a tiling
    from the fields of the operator's tiling struct, as they are, and of "block_dim" where it is known (raw words do not
    tell it: the host code's rule does); `fields` sorts raw words into them. `problems` says what else is wrong with a
    tiling: fields that do not fit the call, limits of instructions. `word_bytes`: what the raw words take in a dump of
    a board's memory, in order, the last size for all that follow.
    """

    axes: Callable[[TilingContext], Mapping[str, int]]
    candidates: Callable[[TilingContext, int], Iterator[Tiling]]
    coverage: Callable[[Tiling, TilingContext], Iterable[Piece]]
    choices: Callable[[Tiling], Mapping[str, int | str]]
    fields: Callable[[Sequence[int], TilingContext], Mapping[str, int]]
    rebuild: Callable[[TilingContext, Mapping[str, int | str]], Tiling]
    problems: Callable[[Tiling, TilingContext], list[str]]
    word_bytes: Sequence[int] = (8,)

    def faults(self, tiling: Tiling, context: TilingContext) -> list[str]:
        """Everything for which a tiling is not legal; none for a legal one."""
        if not 1 <= tiling.block_dim <= MAX_BLOCKS:
            return [f"its block dim is {tiling.block_dim:,}; allowed are 1 to {MAX_BLOCKS:,}"]
        found = []
        if tiling.ub_used_bytes > context.ub_bytes:
            found.append(
                f"its buffers take {tiling.ub_used_bytes:,} B of unified buffer, {context.ub_bytes:,} B are there"
            )
        problems = self.problems(tiling, context)
        return found + (problems or uncovered(self.coverage(tiling, context), self.axes(context)))


def uncovered(pieces: Iterable[Piece], axes: Mapping[str, int]) -> list[str]:
    """What keeps `pieces` from covering everything exactly once."""
    found = list(pieces)
    for piece in found:
        for (name, size), steps in zip(axes.items(), piece.axes, strict=True):
            if steps.start < 0 or steps.end > size:
                return [f"block {piece.block} works on {name} {steps.start} to {steps.end - 1}, there are {size:,}"]
            if steps.steps > 0 and not 0 < steps.last <= steps.per_step:
                return [f"block {piece.block} takes {steps.last} {name} in its last step of up to {steps.per_step}"]
    for one, other in _neighbours([piece for piece in found if piece.volume]):
        overlap = [range(max(a.start, b.start), min(a.end, b.end)) for a, b in zip(one.axes, other.axes, strict=True)]
        if all(overlap):
            text = ", ".join(f"{name} {part[0]} to {part[-1]}" for name, part in zip(axes, overlap, strict=True))
            return [f"blocks {one.block} and {other.block} both work on {text}"]
    total, done = prod(axes.values()), sum(piece.volume for piece in found)
    if done != total:
        what = " x ".join(f"{size:,} {name}" for name, size in axes.items())
        return [f"{total - done:,} of {what} are worked on by no block"]
    return []


def _neighbours(pieces: Sequence[Piece]) -> Iterator[tuple[Piece, Piece]]:
    """The pairs with a place in common on the axis that is cut most."""
    if not pieces:
        return
    axis = max(range(len(pieces[0].axes)), key=lambda axis: len({piece.axes[axis].start for piece in pieces}))
    ordered = sorted(pieces, key=lambda piece: piece.axes[axis].start)
    for index, one in enumerate(ordered):
        following = index + 1
        while following < len(ordered) and ordered[following].axes[axis].start < one.axes[axis].end:
            yield one, ordered[following]
            following += 1


def loads(pieces: Iterable[Piece], cores: int | None = None) -> list[int]:
    """How much each core works on. More blocks than `cores` take turns, each on the core that has least so far; without
    `cores` every block has its own."""
    blocks: dict[int, int] = {}
    for piece in pieces:
        blocks[piece.block] = blocks.get(piece.block, 0) + piece.volume
    found = [0] * (len(blocks) if cores is None else cores)
    for volume in blocks.values():
        heapreplace(found, found[0] + volume)
    return found


def balance(pieces: Iterable[Piece], cores: int | None = None) -> float:
    """Mean work of a core over that of the core that has most: 1 when all have the same."""
    return evenness(loads(pieces, cores))


def evenness(work: Sequence[int]) -> float:
    """The mean of `work` over the most of it; see `balance`."""
    most = max(work, default=0)
    return sum(work) / len(work) / most if most else 1.0


# --- what enumerations have in common --------------------------------------------------------------------------------


def block_dims(total: int, cores: int, count: int) -> list[int]:
    """At most `count` numbers of blocks for `total` equal shares of work: as many cores as can be used, then fewer,
    with growing distance. A number that leaves the largest share as it would be with fewer blocks is not one."""
    first = min(total, cores)
    useful = [
        blocks for blocks in range(first, 0, -1) if blocks == 1 or ceil_div(total, blocks - 1) > ceil_div(total, blocks)
    ]
    if first not in useful:
        useful.insert(0, first)
    return thinned(useful, count)


def step_sizes(total: int, most: int, count: int) -> list[int]:
    """At most `count` sizes of a step over `total`, up to `most`, largest first: those that cut it most evenly."""
    if total < 1 or most < 1:
        return []
    sizes = [min(total, most)]
    while sizes[-1] > 1:  # the fewest steps that a smaller size needs, and the smallest size that takes so many
        sizes.append(ceil_div(total, ceil_div(total, sizes[-1] - 1)))
    return thinned(sizes, count)


def thinned(values: Sequence[T], count: int) -> list[T]:
    """`count` of `values`, the best ones first: the first half as they come, then fewer and fewer, down to the last."""
    if len(values) <= count:
        return list(values)
    head = list(values[: count // 2])
    rest = values[count // 2 :]
    left = count - len(head)
    if left == 1:
        return [*head, rest[-1]]
    ratio = len(rest) ** (1 / (left - 1))
    picked = sorted({min(len(rest) - 1, round(ratio**step) - 1) for step in range(left)})
    return head + [rest[index] for index in picked]


FEW_BLOCKS, MOST_BLOCKS = 4, 40
"""Numbers of blocks that are tried at least and at most, as far as there are so many."""


def tilings_by_blocks(total: int, cores: int, limit: int, forms: Callable[[int], Iterable[Tiling]]) -> Iterator[Tiling]:
    """About `limit` tilings of `total` shares of work: `forms` of as many numbers of blocks as that takes."""
    per_block = max(1, sum(1 for _ in forms(cores)))
    for blocks in block_dims(total, cores, min(MOST_BLOCKS, max(FEW_BLOCKS, limit // per_block))):
        yield from forms(blocks)


def tilings_by_step(total: int, count: int, ub_bytes: int, tiling: Callable[[int], Tiling]) -> Iterator[Tiling]:
    """`tiling` of at most `count` sizes of a step over `total`, beginning with the largest that fits UB."""
    yield from (tiling(size) for size in step_sizes(total, _largest_that_fits(total, ub_bytes, tiling), count))


def _largest_that_fits(total: int, ub_bytes: int, tiling: Callable[[int], Tiling]) -> int:
    """0 for none; what UB holds grows with the step."""
    low, high = 0, total
    while low < high:
        middle = (low + high + 1) // 2
        if tiling(middle).ub_used_bytes <= ub_bytes:
            low = middle
        else:
            high = middle - 1
    return low


def evenly(values: Iterable[T], count: int) -> list[T]:
    """`count` of `values`, from the first on at equal distances, or all where there are no more."""
    found = list(values)
    return [found[index * len(found) // count] for index in range(count)] if len(found) > count else found


FULL, FAR = 3 / 4, 1 / 4
"""Of the most blocks: tilings with at least so many use the cores, those with fewer than so many leave most idle."""
FULL_SHARE, FAR_SHARE = 0.7, 0.1
"""Of those that are picked: how many use the cores, as far as there are such, and how many leave most of them idle, as
long as there are others."""


def picked(tilings: Sequence[Tiling], count: int) -> list[Tiling]:
    """`count` of `tilings` in their order, with the first: mostly of many blocks, where steps, kernels and templates
    make the difference, some of fewer, and few of those that leave most cores idle."""
    if len(tilings) <= count:
        return list(tilings)
    most = max(tiling.block_dim for tiling in tilings)
    full, between, far = list[int](), list[int](), list[int]()
    for place, tiling in enumerate(tilings[1:], 1):
        share = tiling.block_dim / most
        (full if share >= FULL else far if share < FAR else between).append(place)
    left = count - 1
    of_far = min(len(far), max(int(FAR_SHARE * left), left - len(full) - len(between)))
    of_full = min(len(full), max(ceil(FULL_SHARE * left), left - of_far - len(between)))
    of_between = min(len(between), left - of_far - of_full)
    of_full = min(len(full), left - of_far - of_between)
    places = [0, *evenly(full, of_full), *evenly(between, of_between), *evenly(far, of_far)]
    return [tilings[place] for place in sorted(places)]


def distinct(own: Tiling, others: Iterable[Tiling]) -> Iterator[Tiling]:
    """`own`, then those of the others that differ from it and from each other."""
    seen = {same_as(own)}
    yield own
    for tiling in others:
        key = same_as(tiling)
        if key not in seen:
            seen.add(key)
            yield tiling


def same_as(tiling: Tiling) -> tuple[object, ...]:
    """Equal for tilings that make the same launch."""
    return tiling.key, tiling.block_dim, *tiling.data.values()


def number(given: Mapping[str, int | str], name: str, default: int | None = None) -> int:
    """A whole number among the fields of somebody's tiling."""
    value = given.get(name, default)
    if value is None:
        raise InputError(f"the tiling data has no field {name}")
    try:
        return int(value)
    except ValueError:
        raise InputError(f"field {name} of the tiling data is {value!r}, it has to be a whole number") from None


Word = str | tuple[str, ...] | None
"""What a raw word holds: a field, fields of 32 bits (low half first), or nothing that is read here."""


def words_as_fields(words: Sequence[int], struct: Sequence[Word]) -> dict[str, int]:
    """Raw words by the names of the tiling struct; a dump may go on behind it with zeros."""
    if len(words) < len(struct):
        raise InputError(f"the tiling data has {counted(len(words), 'word')}, the tiling struct has {len(struct)}")
    if any(words[len(struct) :]):
        raise InputError(
            f"the tiling data has {len(words)} words, the tiling struct has {len(struct)}, and the words behind it are "
            "not all 0"
        )
    found: dict[str, int] = {}
    for word, names in zip(words, struct, strict=False):
        if isinstance(names, str):
            found[names] = word
        for place, name in enumerate(names if isinstance(names, tuple) else ()):
            found[name] = word >> 32 * place & 0xFFFFFFFF
    return found
