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
import numpy.typing as npt

from ascend_sim.frontends.pypto.graph import Node
from ascend_sim.frontends.pypto.lowering.bodies import Body, Stage
from ascend_sim.frontends.pypto.lowering.demand import is_leaf
from ascend_sim.frontends.pypto.lowering.tiles import Component, Tile, memory_of, same_place
from ascend_sim.frontends.pypto.regions import Box, lows, shifted, volume
from ascend_sim.frontends.pypto.symbols import Symbol, value_of

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


def are_chained(stage: Stage, tasks: Sequence[Task], dims: Mapping[Symbol, int]) -> bool:
    """Whether the tasks of a stage must run in order: one reads, or writes again, what another one writes."""
    written = {store.target for body in stage.bodies for store in body.stores}
    for body in stage.bodies:
        for leaf in _leaves(body):
            memory = memory_of(leaf)
            if memory not in written:
                continue
            others = [store for other in stage.bodies for store in other.stores if store.target is memory]
            if not all(same_place(leaf, store) and store in body.stores for store in others):
                return True
    return not all(_writes_apart(target, tasks, dims) for target in written)


def _leaves(body: Body) -> set[Node]:
    found: set[Node] = set()
    waiting = [store.source for store in body.stores]
    seen: set[Node] = set()
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if is_leaf(node):
            found.add(node)
        else:
            waiting += node.inputs
    return found


def _writes_apart(target: Node, tasks: Sequence[Task], dims: Mapping[Symbol, int]) -> bool:
    """Whether no element of `target` is written twice (loops and assembles marked parallel are taken at their word)."""
    boxes: list[Box] = []
    places: dict[Any, tuple[int, ...]] = {}
    for task in tasks:
        component = task.component
        if component.body.loops and all(loop.parallel for loop in component.body.loops):
            continue
        for write in component.writes:
            if write.store.target is not target or write.store.parallel:
                continue
            key = (id(write), task.values)
            if key not in places:
                env = task.env(dims)
                places[key] = tuple(value_of(offset, env) for offset in write.store.offsets)
            boxes += [shifted(box, places[key]) for box in component.boxes(task.tile)]
    return not boxes or apart(np.array(boxes, np.int64))


def apart(boxes: npt.NDArray[np.int64]) -> bool:
    """Whether boxes, an array (boxes, axes, low and high), have no element in common."""
    count, axes, _ = boxes.shape
    cells = np.empty_like(boxes)
    shape = []
    for axis in range(axes):  # every axis as the pieces between the boxes' ends
        ends, places = np.unique(boxes[:, axis, :].reshape(-1), return_inverse=True)
        cells[:, axis, :] = places.reshape(count, 2)
        shape.append(len(ends))
    if (cells[:, :, 1] - cells[:, :, 0] == 1).all():
        return bool(len(np.unique(np.ravel_multi_index(tuple(cells[:, :, 0].T), shape))) == count)
    if np.prod(shape) > _MAX_CELLS:
        return False
    taken = np.zeros(shape, np.bool_)
    for box in cells:
        part = taken[tuple(slice(low, high) for low, high in box)]
        if part.any():
            return False
        part[...] = True
    return True


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


__all__ = ["Task", "apart", "are_chained", "lows", "shares", "tasks_of"]
