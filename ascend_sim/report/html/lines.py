"""Source lines of the kernel with what they cost: work and waits of all blocks, and the code around them."""

from __future__ import annotations

import linecache
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import PurePath

import numpy as np

from ascend_sim.explain import Account
from ascend_sim.explain.columns import PIPE_NAMES

AROUND = 2
"""Lines of code shown before and after a line that costs time."""


@dataclass(slots=True)
class Cost:
    """Of one source line, mean over the cores: work by pipe and waits of the pipes before its instructions, in us."""

    count: int = 0
    work_us: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    waits_us: float = 0.0
    names: dict[str, None] = field(default_factory=dict)

    @property
    def total_us(self) -> float:
        return sum(self.work_us.values())


@dataclass(frozen=True, slots=True)
class CodeLine:
    """One line of a file; `cost` is None where no instruction stands."""

    number: int
    text: str
    cost: Cost | None


def costs(account: Account) -> dict[str, dict[int, Cost]]:
    """By file and line."""
    found: dict[str, dict[int, Cost]] = defaultdict(lambda: defaultdict(Cost))
    per_us = account.timeline.clock_mhz * account.cores
    for block in account.blocks:
        prices = block.columns.prices
        for number, queue in enumerate(prices.queues):
            cycles = np.bincount(
                prices.code[queue],
                weights=prices.occupancy[queue] * prices.working[queue],
                minlength=len(prices.instrs),
            )
            for code in np.unique(prices.code[queue]).tolist():
                instr = prices.instrs[code]
                if instr.place is not None and cycles[code]:
                    cost = found[instr.place.file][instr.place.line]
                    cost.work_us[PIPE_NAMES[number]] += float(cycles[code]) / per_us
                    cost.names[instr.name] = None
        for code, count in enumerate(np.bincount(prices.code, minlength=len(prices.instrs)).tolist()):
            place = prices.instrs[code].place
            if place is not None:
                found[place.file][place.line].count += count
    for entry in account.sums:
        place = entry.instr.place if entry.instr else None
        if place is not None and entry.reason.name not in {"DONE", "START"}:
            found[place.file][place.line].waits_us += entry.us * (1 - entry.in_flight_cycles / max(entry.cycles, 1))
    return found


def code(file: str, by_line: dict[int, Cost]) -> list[CodeLine]:
    """The lines that cost something and those around them."""
    wanted = sorted({n + d for n in by_line for d in range(-AROUND, AROUND + 1) if n + d > 0})
    linecache.checkcache(file)
    count = len(linecache.getlines(file))
    return [CodeLine(n, linecache.getline(file, n).rstrip("\n"), by_line.get(n)) for n in wanted if n <= count]


def short(file: str) -> str:
    return "/".join(PurePath(file).parts[-2:])
