"""Lines taken in all at once are those that an L2 without bounds would hold."""

from __future__ import annotations

import random

from ascend_sim.machine.l2 import GRAIN_BYTES, L2, LINE_BYTES, Footprint
from ascend_sim.machine.lines import Lines
from ascend_sim.program import CopyWork


def test_like_an_l2_that_displaces_nothing():
    chance = random.Random(5)
    lines, l2 = Lines(), L2(1 << 40)
    assert (len(lines), lines.dirty_grains_per_line) == (0, 0.0)
    for _ in range(3):
        moves = []
        for _ in range(60):
            address = chance.randrange(0, 1 << 19, GRAIN_BYTES)
            work = CopyWork(chance.random() < 0.5, chance.randrange(1, 20), 256, chance.choice((256, 768, 5000)))
            moves.append((Footprint.of(work, address % LINE_BYTES, 512), address, not work.to_ub))
        lines.take_in(iter(moves))
        for touched, address, store in moves:
            (l2.store if store else l2.load)(touched, address, True)
        assert len(lines) == len(l2)
        assert lines.dirty_grains == l2.dirty_grains > 0
        assert lines.dirty_grains_per_line == l2.dirty_grains_per_line
    lines.take_in(())
    assert len(lines) == len(l2)
