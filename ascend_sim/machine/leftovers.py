"""Flags that a block leaves set: its core hands them on, and the next SetFlag of the same event and id finds one still
set, which is undefined and may hang (SetFlag/WaitFlag(ISASI) of CANN; facts soc_specs 2.2). No reset between launches
is documented, so a kernel that "works" here may stop the one after it."""

from __future__ import annotations

from collections.abc import Iterable

from ascend_sim.machine.block import Block
from ascend_sim.machine.order import flag_name
from ascend_sim.program import block_ranges


def leftover_flags(blocks: Iterable[Block]) -> list[str]:
    """A warning per flag and source line for the SetFlags that no WaitFlag belongs to."""
    found: dict[tuple[str, str, str, str], list[int]] = {}
    for block in blocks:
        for index in block.layout.order.left_set:
            op = block.layout.ops[index]
            event, place = op.work.event, op.instr.place
            where = f" at {place}" if place else ""
            key = flag_name(op.flag), where, event.source.name, event.destination.name
            found.setdefault(key, []).append(block.program.block)
    return [
        f"SetFlag {flag}{where}: {waiter} never waits for what {setter} sets (block {block_ranges(numbers)}), so the "
        "flag stays set when the kernel ends, and the next one that sets it may hang: add a WaitFlag"
        for (flag, where, setter, waiter), numbers in found.items()
    ]
