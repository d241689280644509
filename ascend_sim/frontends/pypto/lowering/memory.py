"""Which bytes of unified buffer the buffers of a stage's plans get.

    kept | loads, first frame | loads, second frame | results, first frame | results, second frame | the rest

Loads and stored results have two frames where there is room, so that MTE2 and MTE3 work on one while V works on the
other. The rest is shared by lifetime: a buffer takes the place of one that nobody reads any more, or that the very
step reads for the last time which fills it. `shared` lays loads and results there too: the least room, and the pipes
take turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from ascend_sim.frontends.pypto.lowering.layout import Ref, align
from ascend_sim.frontends.pypto.lowering.plan import MOVES, OWN_LAYOUT, Plan, Step


class Region(IntEnum):
    """A part of unified buffer."""

    KEPT = 0
    IN = 1
    OUT = 2
    REST = 3


@dataclass(frozen=True, slots=True)
class Place:
    """`nbytes` from `offset` on in a region, taken from step `first` to step `last`."""

    region: Region
    offset: int
    nbytes: int
    first: int = 0
    last: int = 0


@dataclass(frozen=True, slots=True)
class Mode:
    """How many frames loads and results have, or none at all (`shared`)."""

    loads: int = 2
    results: int = 2
    shared: bool = False

    def __str__(self) -> str:
        if self.shared:
            return "all buffers shared by lifetime, pipes take turns"
        words = {1: "single", 2: "double"}
        return f"loads {words[self.loads]}-buffered, results {words[self.results]}-buffered"


MODES = (Mode(2, 2), Mode(2, 1), Mode(1, 1), Mode(1, 1, shared=True))


@dataclass(slots=True)
class PlanMemory:
    """The places of one plan: of its buffers, of every step's scratch, of its tables."""

    places: list[Place]
    scratch: list[int]  # offset in REST per step
    tables: list[int]  # offset in KEPT
    last_load_use: int = -1  # the step after which the frame of loads is free


@dataclass(slots=True)
class Memory:
    """The map of a stage. `frames`: first byte of every frame of a region."""

    mode: Mode
    frames: dict[Region, list[int]]
    sizes: dict[Region, int]
    plans: dict[int, PlanMemory] = field(default_factory=dict)  # by id of the plan
    known: list[Plan] = field(default_factory=list)

    def summary(self) -> list[tuple[str, int, int]]:
        """Name, bytes and number of frames of every region that is used."""
        names = {Region.KEPT: "kept", Region.IN: "loads", Region.OUT: "results", Region.REST: "rest"}
        return [(names[r], size, len(self.frames[r])) for r, size in self.sizes.items() if size]

    @property
    def peak_bytes(self) -> int:
        return max(self.frames[Region.REST]) + self.sizes[Region.REST]


def arrange(plans: Sequence[Plan], mode: Mode) -> Memory:
    """The map of all plans of a stage; whether it fits is for the caller to see (`peak_bytes`)."""
    found = {id(plan): _arranged(plan, mode) for plan in plans}
    sizes = dict.fromkeys(Region, 0)
    for plan, memory in zip(plans, found.values(), strict=True):
        for place in memory.places:
            sizes[place.region] = max(sizes[place.region], place.offset + place.nbytes)
        for step, at in zip(plan.steps, memory.scratch, strict=True):
            sizes[Region.REST] = max(sizes[Region.REST], at + step.scratch)
        for table, at in zip(plan.tables, memory.tables, strict=True):
            sizes[Region.KEPT] = max(sizes[Region.KEPT], at + table.nbytes)
    counts = {Region.KEPT: 1, Region.IN: mode.loads, Region.OUT: mode.results, Region.REST: 1}
    frames: dict[Region, list[int]] = {}
    start = 0
    for region in Region:
        frames[region] = [start + i * sizes[region] for i in range(counts[region])]
        start += counts[region] * sizes[region]
    return Memory(mode, frames, sizes, found, list(plans))


def _arranged(plan: Plan, mode: Mode) -> PlanMemory:
    lives = _lifetimes(plan)
    stored = {out.ref.buffer for out in plan.outs}
    heirs = _heirs(plan, lives, stored, mode)
    tops = dict.fromkeys((Region.KEPT, Region.IN, Region.OUT), 0)
    places: dict[int, Place] = {}
    rest: list[tuple[int, int, int, int]] = []  # number, bytes, first, last
    for number in range(len(plan.buffers.nodes)):
        if number in plan.hosts or number in heirs:
            continue
        nbytes = plan.nbytes(number)
        first, last = lives[number]
        for heir, holder in heirs.items():
            if _end_of(holder, heirs) == number:
                last = max(last, lives[heir][1])
        region = _region(plan, number, stored, mode)
        if region is Region.REST:
            rest.append((number, nbytes, first, last))
            continue
        places[number] = Place(region, tops[region], nbytes, first, last)
        tops[region] += nbytes
    scratch = [(-1 - i, step.scratch, i, i) for i, step in enumerate(plan.steps) if step.scratch]
    shared = _share([*rest, *scratch])
    for number, nbytes, first, last in rest:
        places[number] = Place(Region.REST, shared[number], nbytes, first, last)
    for number in heirs:
        place = places[_end_of(number, heirs)]
        places[number] = Place(place.region, place.offset, plan.nbytes(number), *lives[number])
    for number in plan.hosts:
        offset, host = 0, number
        while host in plan.hosts:
            host, by = plan.hosts[host]
            offset += by
        held = places[host]
        places[number] = Place(held.region, held.offset + offset, held.nbytes - offset, *lives[number])
    tables = []
    for table in plan.tables:
        tables.append(tops[Region.KEPT])
        tops[Region.KEPT] += table.nbytes
    ordered = [places[number] for number in range(len(plan.buffers.nodes))]
    uses = [p.last for p in ordered if p.region is Region.IN]
    at = [shared.get(-1 - i, 0) for i in range(len(plan.steps))]
    return PlanMemory(ordered, at, tables, max(uses, default=-1))


def _region(plan: Plan, number: int, stored: set[int], mode: Mode) -> Region:
    if number in plan.kept:
        return Region.KEPT
    if mode.shared:
        return Region.REST
    if number in stored:
        return Region.OUT
    return Region.IN if number in plan.loads else Region.REST


def _lifetimes(plan: Plan) -> list[tuple[int, int]]:
    """First and last step of every buffer; loads begin before the first step, stored results last to the end."""
    end = len(plan.steps)
    lives = [[-1, -1] for _ in plan.buffers.nodes]
    for i, step in enumerate(plan.steps):
        lives[step.out][0] = i
        lives[step.out][1] = max(lives[step.out][1], i)
        for ref in (*step.operands, *(piece[0] for piece in step.pieces)):
            lives[ref.buffer][1] = i
    for out in plan.outs:
        lives[out.ref.buffer][1] = end
    for piece, (host, _) in plan.hosts.items():
        lives[host][0] = min(lives[host][0], lives[piece][0])
    return [(first, last) for first, last in lives]


def _heirs(plan: Plan, lives: list[tuple[int, int]], stored: set[int], mode: Mode) -> dict[int, int]:
    """Results that take the place of an operand which their step reads last: result number to operand number."""
    found: dict[int, int] = {}
    hosting = {host for host, _ in plan.hosts.values()}
    for i, step in enumerate(plan.steps):
        number = step.out
        if number in plan.kept or number in plan.hosts or number in hosting or (number in stored and not mode.shared):
            continue
        if step.node.op in OWN_LAYOUT or step.node.op in MOVES:
            continue
        for ref in step.heritable:
            old = ref.buffer
            free = lives[old][1] == i and old not in plan.kept and old not in hosting
            alone = all(other == ref for other in step.operands if other.buffer == old)
            if free and alone and _may_inherit(plan, step, ref):
                found[number] = old
                break
    return found


def _may_inherit(plan: Plan, step: Step, ref: Ref) -> bool:
    """Whether the result has the operand's own layout, so that every element is written where it was read."""
    whole = plan.buffers.whole(ref.buffer)
    return (
        ref.buffer not in plan.hosts
        and ref == whole
        and whole.strides == plan.buffers.strides[step.out]
        and ref.dtype.itemsize == step.node.dtype.itemsize
        and plan.nbytes(ref.buffer) == plan.nbytes(step.out)
    )


def _end_of(number: int, heirs: dict[int, int]) -> int:
    """Whose place a buffer has in the end."""
    while number in heirs:
        number = heirs[number]
    return number


def _share(items: Sequence[tuple[int, int, int, int]]) -> dict[int, int]:
    """Offsets for (number, bytes, first, last): the lowest that is free over the whole lifetime, big ones first."""
    placed: list[tuple[int, int, int, int]] = []  # offset, end, first, last
    found: dict[int, int] = {}
    for number, nbytes, first, last in sorted(items, key=lambda item: (-item[1], item[2])):
        taken = sorted((start, end) for start, end, begin, until in placed if begin <= last and first <= until)
        offset = 0
        for start, end in taken:
            if offset + nbytes <= start:
                break
            offset = max(offset, end)
        found[number] = offset
        placed.append((offset, offset + align(nbytes), first, last))
    return found
