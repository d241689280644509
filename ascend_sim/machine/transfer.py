"""One GM transfer on its way."""

from __future__ import annotations

from collections.abc import Callable


class Transfer:
    """`parts`: how many of port, L2 and HBM have not yet passed its bytes. When none is left, `done(cycle, latency)`
    is called: the engine is free in that cycle, the last byte arrives `latency_cycles` later. An engine has one
    transfer at a time and uses its one object again. `in_l2`: L2 has not yet passed it; `watched`: its port has, and
    its end in L2 must be noticed at once. `stage`: what passed its bytes last (`timeline.Stage`); `hbm_bytes`: what HBM
    was asked for, `missed_bytes`: what of the touched bytes L2 did not hold."""

    __slots__ = ("done", "hbm_bytes", "in_l2", "latency_cycles", "missed_bytes", "parts", "stage", "watched")

    def __init__(self, done: Callable[[int, int], None]) -> None:
        self.done = done
        self.latency_cycles = 0
        self.parts = self.stage = self.hbm_bytes = self.missed_bytes = 0
        self.in_l2 = self.watched = False
