"""One GM transfer on its way."""

from __future__ import annotations

from collections.abc import Callable


class Transfer:
    """`parts`: how many of port, L2 and HBM have not yet passed its bytes. When none is left, `done(cycle, latency)`
    is called: the engine is free in that cycle, the last byte has arrived `latency_cycles` later."""

    __slots__ = ("done", "latency_cycles", "parts")

    def __init__(self, done: Callable[[int, int], None], latency_cycles: int, parts: int) -> None:
        self.done = done
        self.latency_cycles = latency_cycles
        self.parts = parts

    def part_done(self, cycle: int) -> None:
        self.parts -= 1
        if not self.parts:
            self.done(cycle, self.latency_cycles)
