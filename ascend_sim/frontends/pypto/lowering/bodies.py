"""The statements of a kernel as stages and bodies.

A body is a run of stores without a loop between them: what one iteration of the loops around it does. A stage is what
runs between two meetings of all cores: statements of the kernel's top level, as long as none needs, or writes again,
what an earlier one of the stage has written. In a chained stage already the iterations do, and one core runs them in
order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ascend_sim.frontends.pypto.errors import LoweringError
from ascend_sim.frontends.pypto.graph import Block, Guard, Loop, Node, Store
from ascend_sim.frontends.pypto.lowering.demand import is_leaf
from ascend_sim.frontends.pypto.regions import Box, shifted, whole
from ascend_sim.frontends.pypto.symbols import Symbol, key_of, value_of

_MAX_CELLS = 1 << 27  # of the check whether boxes are apart
Reads = frozenset[tuple[int, int]]  # (uid of a global tensor, how often it had been written)


@dataclass(eq=False, slots=True)
class Body:
    """Stores that belong together, and the loops around them, outermost first."""

    stores: list[Store]
    loops: tuple[Loop, ...]

    @property
    def reads(self) -> Reads:
        return frozenset().union(*(reads_of(store.source) for store in self.stores))

    @property
    def writes(self) -> frozenset[int]:
        return frozenset(store.target.uid for store in self.stores)


Item = Body | tuple[Loop | Guard, "list[Item]"]


@dataclass(eq=False, slots=True)
class Stage:
    """Statements that no meeting of the cores separates."""

    items: list[Item] = field(default_factory=list)
    bodies: list[Body] = field(default_factory=list)
    chained: bool = False

    def iterations(self, env: dict[Symbol, Any]) -> Iterator[Body]:
        """The bodies in program order; `env` holds the values of the loop indices while each is looked at."""
        yield from _walk(self.items, env)


def _walk(items: list[Item], env: dict[Symbol, Any]) -> Iterator[Body]:
    for item in items:
        if isinstance(item, Body):
            yield item
            continue
        statement, inner = item
        if isinstance(statement, Guard):
            if all(bool(value_of(condition, env)) == wanted for condition, wanted in statement.conditions):
                yield from _walk(inner, env)
            continue
        for value in range(value_of(statement.start, env), value_of(statement.stop, env), statement.step):
            env[statement.symbol] = value
            yield from _walk(inner, env)


def reads_of(node: Node, seen: dict[Node, Reads] | None = None) -> Reads:
    """The global tensors that a node comes from, each with the state in which it was read."""
    seen = {} if seen is None else seen
    if node not in seen:
        own = frozenset(
            (source.uid, version)
            for source, version in zip(node.inputs, node.attrs.get("versions", ()), strict=False)
            if source.is_global
        )
        seen[node] = own.union(*(reads_of(source, seen) for source in node.inputs))
    return seen[node]


def stages_of(root: Block, dims: Mapping[Symbol, int]) -> list[Stage]:
    """The kernel's stages that have something to do."""
    stages: list[Stage] = []
    written: dict[Node, list[Box]] = {}  # by the last stage
    for item in _items(root, (), {}):
        segment = Stage([item], list(_bodies(item)))
        for body in segment.bodies:
            _check_old_values(body, segment.bodies)
        writes = _writes(segment, dims)
        segment.chained = _reads_what_it_writes(segment) or not all(map(apart, writes.values()))
        last = stages[-1] if stages else None
        together = [[*written.get(target, ()), *boxes] for target, boxes in writes.items()]
        if last is None or last.chained or segment.chained or _depends(last, segment) or not all(map(apart, together)):
            stages.append(segment)
            written = writes
        else:
            last.items += segment.items
            last.bodies += segment.bodies
            for target, boxes in writes.items():
                written.setdefault(target, []).extend(boxes)
    return stages


def _writes(stage: Stage, dims: Mapping[Symbol, int]) -> dict[Node, list[Box]]:
    """What every iteration writes, by tensor; loops and assembles that are marked parallel are taken at their word."""
    found: dict[Node, list[Box]] = {}
    env: dict[Symbol, Any] = dict(dims)
    for body in stage.iterations(env):
        if body.loops and all(loop.parallel for loop in body.loops):
            continue
        for store in body.stores:
            if not store.parallel:
                at = [value_of(offset, env) for offset in store.offsets]
                found.setdefault(store.target, []).append(shifted(whole(store.source.shape), at))
    return found


def apart(boxes: Sequence[Box]) -> bool:
    """Whether boxes have no element in common."""
    if len(boxes) < 2:
        return True
    ends = np.array(boxes, np.int64)  # boxes, axes, low and high
    count, axes, _ = ends.shape
    cells = np.empty_like(ends)
    shape = []
    for axis in range(axes):  # every axis as the pieces between the boxes' ends
        marks, places = np.unique(ends[:, axis, :].reshape(-1), return_inverse=True)
        cells[:, axis, :] = places.reshape(count, 2)
        shape.append(len(marks))
    if (cells[:, :, 1] - cells[:, :, 0] == 1).all():
        return bool(len(np.unique(np.ravel_multi_index(tuple(cells[:, :, 0].T), shape))) == count)
    if math.prod(shape) > _MAX_CELLS:
        return False
    taken = np.zeros(shape, np.bool_)
    for box in cells:
        part = taken[tuple(slice(low, high) for low, high in box)]
        if part.any():
            return False
        part[...] = True
    return True


def _reads_what_it_writes(stage: Stage) -> bool:
    """Whether an iteration reads what another one writes: in any way but at its own place, in the same body."""
    stores = [store for body in stage.bodies for store in body.stores]
    for body in stage.bodies:
        for leaf in leaves(body.stores):
            others = [store for store in stores if store.target is memory_of(leaf)]
            if not all(same_place(leaf, store) and store in body.stores for store in others):
                return True
    return False


def leaves(stores: Sequence[Store]) -> set[Node]:
    """What the sources of stores are loaded from."""
    found: set[Node] = set()
    waiting = [store.source for store in stores]
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


def _check_old_values(body: Body, bodies: Sequence[Body]) -> None:
    """What was read before a loop is loaded when an iteration uses it: the loop must not have written there by then."""
    for node in _below(body):
        scope = node.attrs.get("scope", ())
        later = next((loop for loop in body.loops if loop not in scope), None)
        if later is None:
            continue
        overwritten = {uid for other in bodies if later in other.loops for uid in other.writes}
        for source in node.inputs:
            if source.is_global and source.uid in overwritten:
                raise LoweringError(
                    f"{node.name} ({node.site}) reads {source.name} before loop {later.name!r} ({later.site}), which "
                    f"writes to {source.name} and uses {node.name}: this lowering reads it in every iteration; "
                    "assemble it into a tensor of the kernel's own in a pypto.loop(1) before"
                )


def _below(body: Body) -> set[Node]:
    """Every node that a body's stores come from and that reads a global tensor."""
    found: set[Node] = set()
    waiting = [store.source for store in body.stores]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += node.inputs
    return {node for node in found if any(source.is_global for source in node.inputs)}


def memory_of(leaf: Node) -> Node:
    """The global tensor behind a leaf."""
    return leaf if leaf.is_global else leaf.inputs[0]


def same_place(leaf: Node, store: Store) -> bool:
    """Whether a leaf begins where a store writes and is no larger, so that equal boxes of both are the same memory."""
    offsets = leaf.attrs.get("offsets", (0,) * leaf.rank)
    inside = all(isinstance(a, int) and a <= b for a, b in zip(leaf.shape, store.source.shape, strict=True))
    return inside and [key_of(a) for a in offsets] == [key_of(b) for b in store.offsets]


def _bodies(item: Item) -> Iterator[Body]:
    if isinstance(item, Body):
        yield item
        return
    for inner in item[1]:
        yield from _bodies(inner)


def _items(block: Block, loops: tuple[Loop, ...], counts: dict[int, int]) -> list[Item]:
    """A block's statements; a store that reads what its run has written starts a new body."""
    found: list[Item] = []
    run: Body | None = None
    begun: dict[int, int] = {}  # the state of every tensor when the run began
    for statement in block.items:
        if not isinstance(statement, Store):
            run = None
            inner = (*loops, statement) if isinstance(statement, Loop) else loops
            found.append((statement, _items(statement.block, inner, counts)))
            continue
        reads = reads_of(statement.source)
        if run is None or any(uid in run.writes and version > begun.get(uid, 0) for uid, version in reads):
            run = Body([], loops)
            begun = dict(counts)
            found.append(run)
        for uid, version in reads:
            if uid in counts and version < begun.get(uid, 0) and _rewritten_here(run, uid, counts, begun):
                raise LoweringError(
                    f"{statement.source.name} was read from a tensor that has been written to since; take the view "
                    "after the write, or use the value before it"
                )
        run.stores.append(statement)
        counts[statement.target.uid] = counts.get(statement.target.uid, 0) + 1
    return found


def _rewritten_here(run: Body, uid: int, counts: dict[int, int], begun: dict[int, int]) -> bool:
    return counts.get(uid, 0) >= begun.get(uid, 0)


def _depends(before: Stage, after: Stage) -> bool:
    """Whether a later segment reads what an earlier one wrote, or writes what it reads."""

    def tensors(stage: Stage) -> tuple[set[int], set[int]]:
        read = {uid for body in stage.bodies for uid, _ in body.reads}
        return read, {uid for body in stage.bodies for uid in body.writes}

    (read, written), (then_read, then_written) = tensors(before), tensors(after)
    return bool(written & then_read or read & then_written)
