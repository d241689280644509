"""How many registers a vector function needs at once, and whether every register is written before it is read."""

from __future__ import annotations

from collections.abc import Sequence

from ascend_sim.asc.operands import refuse
from ascend_sim.asc.reg.registers import MASK_REGISTERS, REGISTERS
from ascend_sim.asc.reg.trace import Body, Loop, Node

Items = Sequence[Loop | Node]
Most = dict[str, tuple[int, Node | None]]  # by kind of register: how many at once, and at which instruction


def check_registers(body: Body) -> None:
    """Refuse a body that needs more registers than there are, or reads one that nothing has written."""
    _check_written(body.items, set())
    most: Most = {"v": (0, None), "p": (0, None)}
    masks = frozenset(slot for slot, kind in enumerate(body.kinds) if kind == "p")
    _live_before(body.items, frozenset(), masks, most)
    for kind, limit, name in (("v", REGISTERS, "vector"), ("p", MASK_REGISTERS, "mask")):
        count, node = most[kind]
        if count > limit:
            where = f" at {node.place}" if node is not None else ""
            refuse(
                body.name,
                f"{count} {name} registers hold values that are still needed{where}, the hardware has {limit}: store "
                "some, or split the vector function",
            )


def _check_written(items: Items, written: set[int]) -> None:
    for item in items:
        if isinstance(item, Loop):
            _check_written(item.items, written)
            continue
        if any(slot not in written for slot in item.reads):
            refuse(f"Reg::{item.name}", f"at {item.place} reads a register that nothing has written yet")
        written.update(item.writes)


def _live_before(items: Items, after: frozenset[int], masks: frozenset[int], most: Most) -> frozenset[int]:
    """The slots whose values are needed in front of `items`, when those of `after` are needed behind."""
    live = after
    for item in reversed(items):
        if isinstance(item, Loop):
            first = _live_before(item.items, live, masks, most)
            live = _live_before(item.items, live | first, masks, most)
            continue
        _count(live.union(item.writes), item, masks, most)
        live = live.difference(item.writes).union(item.reads)
        _count(live, item, masks, most)
    return live


def _count(live: frozenset[int], node: Node, masks: frozenset[int], most: Most) -> None:
    of_masks = len(live & masks)
    for kind, count in (("p", of_masks), ("v", len(live) - of_masks)):
        if count > most[kind][0]:
            most[kind] = (count, node)


def carried_loops(items: Items) -> set[Loop]:
    """Loops in which a round reads a register that an earlier round wrote."""
    found: set[Loop] = set()
    for item in items:
        if isinstance(item, Loop):
            found |= carried_loops(item.items)
            exposed, written = _exposed(item.items)
            if exposed & written:
                found.add(item)
    return found


def _exposed(items: Items) -> tuple[set[int], set[int]]:
    """Slots read before they are written in one pass over `items`, and slots written."""
    exposed: set[int] = set()
    written: set[int] = set()
    for item in items:
        if isinstance(item, Loop):
            inner_exposed, inner_written = _exposed(item.items)
            exposed |= inner_exposed - written
            written |= inner_written
        else:
            exposed |= set(item.reads) - written
            written |= set(item.writes)
    return exposed, written
