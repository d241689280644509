"""How far a tile is filled: tails leave the end of a tile's buffers without data, and nothing works there.

What is filled depends on the values of the valid shapes alone, so it is worked out once per set of values, together
with the calls that follow from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ascend_sim.frontends.pypto.graph import Node
from ascend_sim.frontends.pypto.lowering.demand import pieces_of
from ascend_sim.frontends.pypto.lowering.operands import Call
from ascend_sim.frontends.pypto.lowering.plan import MOVES, Placement, Plan, Step
from ascend_sim.frontends.pypto.regions import Box
from ascend_sim.frontends.pypto.symbols import Scalar, key_of

Sizes = tuple[int, ...]
Frames = tuple[int, int]  # which frame of the loads, which of the results


@dataclass(eq=False, slots=True)
class Filling:
    """Sizes of what is filled, per buffer and per store; `inner`: what a step must know beside its result's sizes.

    `calls` are the steps' calls by the frames that they work on.
    """

    buffers: tuple[Sizes, ...]
    stores: tuple[Sizes, ...]
    inner: tuple[Any, ...]
    calls: dict[Frames, list[list[Call]]] = field(default_factory=dict)

    @property
    def key(self) -> Any:
        return self.buffers, self.stores, self.inner


def scalars_of(plan: Plan) -> list[Scalar]:
    """The symbolic sizes that decide how far a plan's buffers are filled."""
    nodes = [*plan.buffers.nodes, *(out.write.source for out in plan.outs)]
    nodes += [source for step in plan.steps for source in step.node.inputs]
    found = {key_of(size): size for node in nodes for size in node.valid if not isinstance(size, int)}
    return list(found.values())


def filling(plan: Plan, placement: Placement, value: Callable[[Scalar], int]) -> Filling:
    """How far a tile is filled when `value` gives the symbolic sizes."""

    def sizes(node: Node, box: Box) -> Sizes:
        ends = [value(size) for size in node.valid]
        return tuple(max(0, min(high, end) - low) for (low, high), end in zip(box, ends, strict=True))

    buffers = tuple(map(sizes, plan.buffers.nodes, placement.boxes))
    stores = tuple(sizes(out.write.source, placement.parts[out.part]) for out in plan.outs)
    inner = tuple(_inner(step, buffers[step.out], placement.boxes[step.out], sizes, value) for step in plan.steps)
    return Filling(buffers, stores, inner)


def _inner(
    step: Step, result: Sizes, box: Box, sizes: Callable[[Node, Box], Sizes], value: Callable[[Scalar], int]
) -> Any:
    """A reduction's source, a move's pieces."""
    node = step.node
    if node.op in ("sum", "amax", "amin"):
        axis = node.attrs["axis"]
        return (*result[:axis], value(node.inputs[0].valid[axis]), *result[axis + 1 :])
    if node.op == "copy":
        return (result,)
    if node.op in MOVES:
        return tuple(sizes(source, inside) for source, inside, _ in pieces_of(node, box))
    return None
