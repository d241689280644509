"""What each source line of a kernel costs: instructions, work, waits, its part of the critical path."""

from __future__ import annotations

import linecache
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ascend_sim.explain.columns import PIPE_NAMES, SCALAR, Prices
from ascend_sim.machine.costs import COPY, VECTOR
from ascend_sim.program import Instr

if TYPE_CHECKING:
    from ascend_sim.explain import Account, BlockAccount


@dataclass(slots=True)
class LineCost:
    """One source line; times in us. `work_us` by pipe and `wait_us` (gaps of the pipes in front of and in the line's
    instructions) are means over the cores, `path_us` is its part of the critical path. `text` is the line itself."""

    line: str
    text: str
    instructions: int = 0
    work_us: dict[str, float] = field(default_factory=dict)
    wait_us: float = 0.0
    path_us: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return {
            "line": self.line,
            "text": self.text,
            "instructions": self.instructions,
            "work_us": {pipe: round(us, 4) for pipe, us in self.work_us.items()},
            "wait_us": round(self.wait_us, 4),
            "path_us": round(self.path_us, 4),
        }


def line_costs(account: Account) -> list[LineCost]:
    """Every line that issued an instruction, the largest part of the critical path first."""
    table = _Table()
    per_us = account.cores * account.timeline.clock_mhz
    for block in account.blocks:
        _add_block(table, block, per_us)
    for gaps in account.sums:
        if gaps.instr is not None:
            table.of(gaps.instr).wait_us += gaps.us
    for step in account.path:
        if step.instr is not None:
            table.of(step.instr).path_us += account.timeline.to_us(step.cycles)
    return sorted(table.lines.values(), key=lambda cost: (-cost.path_us, -cost.wait_us, cost.line))


class _Table:
    def __init__(self) -> None:
        self.lines: dict[str, LineCost] = {}
        self._known: dict[int, LineCost] = {}

    def of(self, instr: Instr) -> LineCost:
        found = self._known.get(id(instr))
        if found is None:
            place = instr.place
            line = str(place or "")
            text = linecache.getline(place.file, place.line).strip() if place else ""
            found = self._known[id(instr)] = self.lines.setdefault(line, LineCost(line, text))
        return found


def _add_block(table: _Table, block: BlockAccount, per_us: float) -> None:
    columns, prices = block.columns, block.columns.prices
    size = len(prices.instrs)
    vector = np.where(prices.kind == VECTOR, prices.occupancy - prices.conflict, 0)
    scalar = np.bincount(prices.code, prices.issue + _accesses(prices), size)
    queued = np.bincount(prices.code, np.where(prices.kind == COPY, columns.own, vector), size)
    counts = np.bincount(prices.code, minlength=size)
    pipes = _pipes(prices)
    for code, instr in enumerate(prices.instrs):
        cost = table.of(instr)
        cost.instructions += int(counts[code])
        work = {PIPE_NAMES[SCALAR]: float(scalar[code])}
        if pipes[code] != SCALAR:
            work[PIPE_NAMES[pipes[code]]] = float(queued[code])
        for pipe, cycles in work.items():
            if cycles:
                cost.work_us[pipe] = cost.work_us.get(pipe, 0.0) + cycles / per_us


def _accesses(prices: Prices) -> Any:
    """Cycles of GetValue and SetValue themselves."""
    queued = prices.working & ((prices.kind == VECTOR) | (prices.kind == COPY))
    return np.where(prices.working & ~queued, prices.occupancy, 0)


def _pipes(prices: Prices) -> list[int]:
    """The pipe of each distinct instruction."""
    pipes = np.full(len(prices.instrs), SCALAR)
    for queue, positions in enumerate(prices.queues):
        pipes[prices.code[positions]] = queue
    found: list[int] = pipes.tolist()
    return found
