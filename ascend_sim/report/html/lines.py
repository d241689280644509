"""The kernel's files with what their lines cost beside the code."""

from __future__ import annotations

import linecache
from collections import defaultdict
from dataclasses import dataclass
from pathlib import PurePath

from ascend_sim.explain import Account
from ascend_sim.report.lines import LineCost, line_costs

AROUND = 2
"""Lines of code shown before and after a line that costs time."""


@dataclass(frozen=True, slots=True)
class CodeLine:
    """One line of a file; `cost` is None where no instruction stands."""

    number: int
    text: str
    cost: LineCost | None


def by_file(account: Account) -> dict[str, dict[int, LineCost]]:
    """Costs by file and line number; what has no source line is left out."""
    found: dict[str, dict[int, LineCost]] = defaultdict(dict)
    for cost in line_costs(account):
        file, colon, number = cost.line.rpartition(":")
        if colon:
            found[file][int(number)] = cost
    return found


def code(file: str, costs: dict[int, LineCost]) -> list[CodeLine]:
    """The lines that cost something and those around them."""
    wanted = sorted({n + d for n in costs for d in range(-AROUND, AROUND + 1) if n + d > 0})
    linecache.checkcache(file)
    count = len(linecache.getlines(file))
    return [CodeLine(n, linecache.getline(file, n).rstrip("\n"), costs.get(n)) for n in wanted if n <= count]


def worked_us(cost: LineCost) -> float:
    """Work of all pipes, mean over the cores."""
    return sum(cost.work_us.values())


def short(file: str) -> str:
    return "/".join(PurePath(file).parts[-2:])
