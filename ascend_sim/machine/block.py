"""One block on its core: its instructions, its addresses, and the times that the units find out."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator

from ascend_sim.machine.costs import Op
from ascend_sim.machine.layout import SCALAR_USER, Layout
from ascend_sim.program import CoreProgram
from ascend_sim.timeline import CoreTimeline


class Block:
    """`addresses[queue]`: GM addresses of the queue's transfers in order, `scalar_addresses` those of the scalar unit.
    Times in the arrays are -1 until known."""

    __slots__ = (
        "addresses",
        "cause",
        "dispatch",
        "end",
        "hbm_bytes",
        "layout",
        "left",
        "missed_bytes",
        "peer",
        "program",
        "scalar_addresses",
        "stage",
        "start",
        "timeline",
        "wait",
    )

    def __init__(self, program: CoreProgram, layout: Layout, core: int, begin: int, late_cycles: int) -> None:
        self.program = program
        self.layout = layout
        count = len(layout.ops)
        unknown = array("q", [-1]) * count
        self.dispatch, self.start, self.end = unknown, unknown[:], unknown[:]
        self.cause = array("b", bytes(count))
        self.peer = array("i", [-1]) * count
        self.wait = array("i", bytes(array("i").itemsize * count))
        self.left = unknown[:]
        self.stage = array("b", bytes(count))
        self.hbm_bytes = array("i", bytes(array("i").itemsize * count))
        times = (self.dispatch, self.start, self.end, self.cause, self.peer, self.wait)
        self.missed_bytes = self.hbm_bytes[:]
        of_transfers = (self.left, self.stage, self.hbm_bytes, self.missed_bytes)
        self.timeline = CoreTimeline(program, core, begin, -1, 0, *times, *of_transfers, late_cycles)
        self.addresses: tuple[list[int], ...] = ([], [], [])
        self.scalar_addresses: deque[int] = deque()
        takers = (*(addresses.append for addresses in self.addresses), self.scalar_addresses.append)
        assert len(takers) == SCALAR_USER + 1
        for user, address in zip(layout.gm_users, program.gm_addresses, strict=True):
            takers[user](address)


class Transfers:
    """A block's GM transfers in program order, with their addresses."""

    __slots__ = ("_layout", "_program")

    def __init__(self, program: CoreProgram, layout: Layout) -> None:
        self._program = program
        self._layout = layout

    def __iter__(self) -> Iterator[tuple[Op, int]]:
        layout, addresses = self._layout, self._program.gm_addresses
        return zip(layout.transfers, map(addresses.__getitem__, layout.transfer_positions), strict=True)

    @property
    def parts(self) -> int:
        """Of an excerpt: parts of the block in each of which rounds were left out."""
        return len(self._program.repeats)

    def of_part(self, number: int) -> Iterator[tuple[Op, int]]:
        """What was recorded of such a part, up to the next one."""
        layout, addresses = self._layout, self._program.gm_addresses
        firsts = [0, *(repeat.first for repeat in self._program.repeats[1:]), len(addresses)]
        low, high = (bisect_left(layout.transfer_positions, at) for at in firsts[number : number + 2])
        places = layout.transfer_positions[low:high]
        return zip(layout.transfers[low:high], map(addresses.__getitem__, places), strict=True)

    def left_out(self, number: int, most: int) -> Iterator[list[tuple[Op, int]]]:
        """The rounds that were left out of such a part, up to `most` transfers or one round, as they
        would follow."""
        layout, addresses = self._layout, self._program.gm_addresses
        repeat = self._program.repeats[number]
        size = repeat.end - repeat.first
        low, high = (bisect_left(layout.transfer_positions, at) for at in (repeat.first, repeat.end))
        places = layout.transfer_positions[low:high]
        steps = [addresses[at + size] - addresses[at] for at in places]
        for round_number in range(min(max(1, most // max(1, len(places))), repeat.rounds)):
            yield [
                (op, addresses[at] + round_number * step)
                for op, at, step in zip(layout.transfers[low:high], places, steps, strict=True)
            ]

    @property
    def bypass_l2(self) -> bool:
        """Whether some of them do."""
        return self._layout.bypasses_l2
