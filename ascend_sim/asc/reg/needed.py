"""Which lanes of a load anything uses: what it reads behind the line that it is for takes no part in any order.

A load takes no mask, so the tail of a line reads into the next one. Instructions that use the register under a mask
ignore those lanes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ascend_sim.asc.reg.footprint import Footprint, static_masks
from ascend_sim.asc.reg.registers import REGISTER_BYTES
from ascend_sim.asc.reg.trace import Body, Node, Path, nodes_of
from ascend_sim.asc.reg.values import Flags, Mask
from ascend_sim.program import VfUnit

Masks = Mapping[int, tuple[Mask, Path]]


def needed_bytes(body: Body, prints: Sequence[Footprint]) -> list[Footprint]:
    """`prints`, with loads reduced to the bytes of lanes that some instruction uses, where that can be told."""
    masks = static_masks(body)
    nodes = list(nodes_of(body.items))
    found = []
    for footprint in prints:
        flags = None if footprint.is_store else _flags(footprint.node, nodes, masks)
        found.append(footprint if flags is None else replace(footprint, used=flags))
    return found


def _flags(load: Node, nodes: Sequence[Node], masks: Masks) -> Flags | None:
    """A flag per byte; None where any byte may be needed.

    The bytes of such a load follow each other in its register's lanes: all 256, or 128 that are widened to 256.
    """
    access = load.access
    assert access is not None
    if access.indexed or access.blocks > 1 or len(load.writes) > 1 or access.length not in _WHOLE:
        return None
    (slot,) = load.writes
    needed: Flags | None = None
    for node in nodes:
        if slot not in node.reads:
            continue
        active = _active(node, load, masks)
        if active is None:
            return None
        flags = np.repeat(active, access.length // active.shape[-1], -1)
        needed = flags if needed is None else needed | flags
    return needed


_WHOLE = (REGISTER_BYTES, REGISTER_BYTES // 2)


def _active(node: Node, load: Node, masks: Masks) -> Flags | None:
    """The lanes whose sources `node` uses, per round of the loops around `load`; None if that is not known."""
    known = masks.get(node.mask)
    if known is None or node.unit not in (VfUnit.EXECUTE, VfUnit.STORE) or node.path != load.path:
        return None
    mask, path = known
    return mask.moved(path, node.path).lanes(node.lane_bytes)
