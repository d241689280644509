"""The traced body as it stands in the record, for timing and reports."""

from __future__ import annotations

from collections.abc import Sequence

from ascend_sim.asc.reg.trace import Body, Loop, Node
from ascend_sim.program import VfAccess, VfInstr, VfLoop, VfWork


def work_of(body: Body) -> VfWork:
    return VfWork(_items(body.items), _count(body.items))


def _items(items: Sequence[Loop | Node]) -> tuple[VfInstr | VfLoop, ...]:
    return tuple(VfLoop(item.trips, _items(item.items)) if isinstance(item, Loop) else _instr(item) for item in items)


def _instr(node: Node) -> VfInstr:
    access = None
    if node.access is not None:
        address = node.access.address
        strides = tuple(address.steps.get(loop, 0) for loop in node.path)
        access = VfAccess(
            address.const,
            strides,
            node.access.length,
            node.access.blocks,
            node.access.block_stride,
            node.access.indexed,
        )
    return VfInstr(node.name, node.cost, node.unit, node.width, node.reads, node.writes, access, node.place)


def _count(items: Sequence[Loop | Node]) -> int:
    return sum(item.trips * _count(item.items) if isinstance(item, Loop) else 1 for item in items)
