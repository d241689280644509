"""What to say when a tile does not fit into unified buffer: how much each buffer takes, and which tile would fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ascend_sim.frontends.pypto.lowering.memory import MODES, Memory, Mode, arrange
from ascend_sim.frontends.pypto.lowering.plan import make_plan
from ascend_sim.frontends.pypto.lowering.tiles import Component

if TYPE_CHECKING:
    from ascend_sim.frontends.pypto.lowering.lowered import Lowered

_LISTED = 8


def plan_bytes(lowered: Lowered, component: Component, mode: Mode = MODES[-1], *, hidden: bool = True) -> int:
    """Unified buffer that the first tile of a component takes; without the hidden buffers if not `hidden`."""
    first = (0,) * len(component.shape)
    plan, _ = make_plan(component, first, lowered.dims, lambda node: False, False)
    if not hidden:
        plan = replace(plan, unseen=frozenset(n for n, node in enumerate(plan.buffers.nodes) if node.hidden))
    return arrange([plan], mode).peak_bytes


def halved(lowered: Lowered, component: Component, mode: Mode = MODES[-1]) -> tuple[int, ...] | None:
    """The component's cut with its widest axes halved until it fits; None if it never does."""
    trial = component
    while plan_bytes(lowered, trial, mode) > lowered.ub_bytes:
        cut = list(trial.cut)
        axes = [axis for axis in range(len(cut)) if cut[axis] > 1 and axis not in component.kept_whole]
        if not axes:
            return None
        inner = [axis for axis in axes if axis != len(cut) - 1]
        axis = max(inner or axes, key=lambda a: cut[a])
        cut[axis] = -(-cut[axis] // 2)
        trial = replace(trial, cut=tuple(cut))
    return trial.cut


def in_parts(lowered: Lowered, component: Component) -> tuple[int, ...] | None:
    """The cut with which a tile is worked on in parts; None if it must not be.

    It must be the float32 that bfloat16 is computed in that has no room, which is none of the user's tensors: a tile
    whose own tensors do not fit is the user's to cut.
    """
    if plan_bytes(lowered, component, hidden=False) > lowered.ub_bytes:
        return None
    return halved(lowered, component, MODES[1]) or halved(lowered, component)


def suggestion(lowered: Lowered, components: Sequence[Component]) -> str:
    """A tile shape with which the widest component fits, found by halving its widest axis."""
    widest = max(components, key=lambda component: plan_bytes(lowered, component))
    cut = halved(lowered, widest)
    if cut is None:
        return "no tile of this kernel fits: view smaller blocks, or compute in fewer steps"
    return f"the tile {list(cut)} would fit"


def misfit(lowered: Lowered, memory: Memory, advice: str) -> str:
    """The error's text, for the most sparing map that was tried."""
    work = max(memory.plans, key=lambda plan: sum(place.nbytes for place in memory.plans[plan].places))
    plan = next(p for p in memory.known if id(p) == work)
    component = plan.component
    lines = []
    numbers = sorted(range(len(plan.buffers.nodes)), key=plan.nbytes, reverse=True)
    for number in numbers[:_LISTED]:
        node, box = plan.buffers.nodes[number], plan.buffers.boxes[number]
        sizes = [high - low for low, high in box]
        lines.append(f"  {node.name} {sizes} {node.dtype.name}: {plan.nbytes(number)} B ({node.op} at {node.site})")
    if len(numbers) > _LISTED:
        lines.append(f"  and {len(numbers) - _LISTED} smaller")
    store = component.writes[0].store
    whole = "".join(
        f"; dim {axis} is not cut, because most of a tile's work would be done again for every part"
        for axis in component.kept_whole
    )
    return (
        f"kernel {lowered.kernel!r}: the vector tile {list(component.tile)} of {store.source.name} (stored at "
        f"{store.site}) needs {memory.peak_bytes} B of unified buffer, {lowered.chip} has {lowered.ub_bytes} B{whole}; "
        f"{advice}. Buffers, those alive at one time sharing nothing:\n" + "\n".join(lines)
    )
