"""The statements of a kernel as stages and bodies.

A body is a run of stores without a loop between them: what one iteration of the loops around it does. A stage is what
runs between two meetings of all cores: statements of the kernel's top level, as long as none needs what an earlier one
of the stage has written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ascend_sim.frontends.pypto.errors import LoweringError
from ascend_sim.frontends.pypto.graph import Block, Guard, Loop, Node, Store
from ascend_sim.frontends.pypto.symbols import Symbol, value_of

Reads = frozenset[tuple[int, int]]  # (uid of a global tensor, how often it had been written)


@dataclass(eq=False, slots=True)
class Body:
    """Stores that belong together, and the loops around them, outermost first."""

    stores: list[Store]
    loops: tuple[Loop, ...]
    index: int = 0

    @property
    def reads(self) -> Reads:
        return frozenset().union(*(reads_of(store.source) for store in self.stores))

    @property
    def writes(self) -> frozenset[int]:
        return frozenset(store.target.uid for store in self.stores)


Item = Body | tuple[Loop | Guard, "list[Item]"]


@dataclass(eq=False, slots=True)
class Stage:
    """Statements that no meeting of the cores separates. `chained`: its iterations depend on each other, in order."""

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


def stages_of(root: Block) -> list[Stage]:
    """The kernel's stages."""
    counts: dict[int, int] = {}  # stores so far per global tensor, in program order
    stages: list[Stage] = [Stage()]
    for items, bodies in _segments(root, counts):
        stage = stages[-1]
        if stage.bodies and _depends(stage.bodies, bodies):
            stage = Stage()
            stages.append(stage)
        stage.items += items
        for body in bodies:
            body.index = len(stage.bodies)
            stage.bodies.append(body)
    return stages


def _segments(root: Block, counts: dict[int, int]) -> Iterator[tuple[list[Item], list[Body]]]:
    """The top level's statements one by one, runs of stores as bodies."""
    items = _items(root, (), counts)
    for item in items:
        yield [item], list(_bodies(item))


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


def _depends(before: list[Body], after: list[Body]) -> bool:
    """Whether a later segment reads or rewrites what an earlier one wrote, or writes what it reads."""
    written = frozenset().union(*(body.writes for body in before))
    read = {uid for body in before for uid, _ in body.reads}
    then_written = frozenset().union(*(body.writes for body in after))
    then_read = {uid for body in after for uid, _ in body.reads}
    return bool(written & (then_read | then_written) or read & then_written)
