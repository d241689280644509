"""The critical path as people read it: steps of one instruction joined into links, repeated stretches folded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ascend_sim.explain.path import Part, Step
from ascend_sim.program import Instr

_LONGEST_PERIOD = 64  # links of a stretch that is looked for


@dataclass(slots=True)
class Link:
    """Steps of `pipe` that follow each other: of one instruction, or of the scalar unit as long as it goes on.

    `first` and `last` are the instructions, `count` says how many (repeats included), `parts` how many cycles on what.
    """

    pipe: str
    first: Instr | None
    last: Instr | None
    begin: int
    end: int
    count: int = 1
    parts: dict[Part, int] = field(default_factory=dict)

    @property
    def cycles(self) -> int:
        return sum(self.parts.values())

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two links alike: pipe and source lines."""
        return self.pipe, _where(self.first), _where(self.last)

    def add(self, other: Link) -> None:
        """Take in a like link."""
        self.count += other.count
        for part, cycles in other.parts.items():
            self.parts[part] = self.parts.get(part, 0) + cycles


@dataclass(slots=True)
class Stretch:
    """Links that follow each other `repeats` times; the links hold the cycles and counts of all repeats."""

    links: list[Link]
    repeats: int

    @property
    def cycles(self) -> int:
        return sum(link.cycles for link in self.links)


def _where(instr: Instr | None) -> tuple[str, str, int]:
    if instr is None or instr.place is None:
        return ("" if instr is None else instr.name, "", 0)
    return instr.name, instr.place.file, instr.place.line


def links_of(path: Sequence[Step]) -> list[Link]:
    """Steps joined into links."""
    links: list[Link] = []
    before = (-1, -1)  # block and position of the last step
    for step in path:
        here = (step.block, step.index)
        last = links[-1] if links else None
        goes_on = last is not None and last.pipe == step.pipe and last.end == step.begin
        if last is not None and goes_on and (here == before or _scalar_work(last, step)):
            last.count += here != before
            last.last = step.instr
            last.end = step.end
            last.parts[step.part] = last.parts.get(step.part, 0) + step.cycles
        else:
            links.append(Link(step.pipe, step.instr, step.instr, step.begin, step.end, parts={step.part: step.cycles}))
        before = here
    return links


def _scalar_work(link: Link, step: Step) -> bool:
    """Whether the scalar unit simply goes on."""
    worked = (Part.ISSUE, Part.ACCESS)
    return step.pipe == "scalar" and step.part in worked and all(part in worked for part in link.parts)


def fold(links: Sequence[Link]) -> list[Stretch]:
    """The links with repeated stretches folded: at each place the period that covers most, the shortest of those."""
    numbers: dict[tuple[Any, ...], int] = {}
    keys = [numbers.setdefault(link.key, len(numbers)) for link in links]
    stretches: list[Stretch] = []
    at = 0
    while at < len(links):
        period, repeats = _period(keys, at)
        merged = [_copy(link) for link in links[at : at + period]]
        for number in range(period, period * repeats):
            merged[number % period].add(links[at + number])
        stretches.append(Stretch(merged, repeats))
        at += period * repeats
    return stretches


def _period(keys: Sequence[int], at: int) -> tuple[int, int]:
    best = (1, 1)
    for period in range(1, min(_LONGEST_PERIOD, (len(keys) - at) // 2) + 1):
        if keys[at] != keys[at + period]:
            continue
        pattern = keys[at : at + period]
        repeats = 1
        while keys[at + repeats * period : at + (repeats + 1) * period] == pattern:
            repeats += 1
        if repeats > 1 and repeats * period > best[0] * best[1]:
            best = (period, repeats)
    return best


def _copy(link: Link) -> Link:
    return Link(link.pipe, link.first, link.last, link.begin, link.end, link.count, dict(link.parts))
