"""L2 as an excerpt of a launch finds it: full of lines that nobody asks for."""

from __future__ import annotations

from ascend_sim.machine.l2 import L2, LINE_BYTES, Footprint, evenly_rounded

LINE = Footprint(((0, 32, (1 << 32) - 1, 0),), 32, LINE_BYTES, 1, 8)


def test_whole_numbers_of_a_mean():
    assert list(evenly_rounded(2.5, 5)) == [2, 3, 2, 3, 2]
    assert list(evenly_rounded(32.0, 2)) == [32, 32]
    assert sum(evenly_rounded(10.78, 1000)) == 10_780


def test_lines_go_in_the_order_of_the_parts_and_again():
    l2 = L2(6 * LINE_BYTES)
    l2.fill([(2, 1.5), (0, 9.0), (2, 32.0)])
    assert len(l2) == 6
    assert l2.dirty_grains == 1 + 2 + 32 + 32 + 1 + 2
    found = [l2.load(LINE, number * LINE_BYTES, allocate=True) for number in range(8)]
    assert found == [(32, dirty) for dirty in (1, 2, 32, 32, 1, 2, 0, 0)]
    assert l2.dirty_grains == 0
