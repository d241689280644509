"""The work of a stage as tasks, and which core does which.

A task is one tile of one iteration. Tasks are dealt out in runs, so that a core meets neighbours; equal shares of
elements each. Tasks that depend on one another (a later one rewrites or reads what an earlier one wrote) stay in order
on one core.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ascend_sim.frontends.pypto.lowering.bodies import Body, Stage
from ascend_sim.frontends.pypto.lowering.tiles import Component, Tile
from ascend_sim.frontends.pypto.regions import volume
from ascend_sim.frontends.pypto.symbols import Symbol

_MAX_CELLS = 1 << 27  # of the coverage check


@dataclass(frozen=True, slots=True)
class Task:
    """A tile of a component, with the values of the loop indices around its body."""

    component: Component
    values: tuple[int, ...]
    tile: Tile

    def env(self, dims: Mapping[Symbol, int]) -> dict[Symbol, Any]:
        """Values of all symbols."""
        loops = self.component.body.loops
        return {**dims, **{loop.symbol: value for loop, value in zip(loops, self.values, strict=True)}}


def tasks_of(stage: Stage, components: Mapping[Body, Sequence[Component]], dims: Mapping[Symbol, int]) -> list[Task]:
    """All tasks of a stage, in program order."""
    found = []
    env: dict[Symbol, Any] = dict(dims)
    tiles = {c: tuple(c.tiles()) for group in components.values() for c in group}
    for body in stage.iterations(env):
        values = tuple(env[loop.symbol] for loop in body.loops)
        for component in components[body]:
            found += [Task(component, values, tile) for tile in tiles[component]]
    return found


def shares(tasks: Sequence[Task], cores: int, chained: bool) -> list[range]:
    """Which tasks each core does; cores without work are left out."""
    if not tasks:
        return []
    if chained:
        return [range(len(tasks))]
    work = np.cumsum([volume(task.component.box(task.tile)) for task in tasks])
    middle = work - np.diff(work, prepend=0) / 2
    core = np.minimum((middle * cores / work[-1]).astype(np.int64), cores - 1)
    starts = np.flatnonzero(np.diff(core, prepend=-1))
    ends = [*starts[1:], len(tasks)]
    return [range(int(a), int(b)) for a, b in zip(starts, ends, strict=True)]
