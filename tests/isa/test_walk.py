"""Lanes, layouts and regions: hand-made cases; the hypothesis tests of the instructions cover the rest."""

from __future__ import annotations

import pytest

from ascend_sim.asc.walk import Layout, Walk, fold_runs
from ascend_sim.isa.dtypes import float16, float32
from ascend_sim.program import Access, Memory, Region

EVEN = 0x5555_5555_5555_5555_5555_5555_5555_5555
ALL = (1 << 128) - 1


def ub(start: int, length: int, *dims: tuple[int, int]) -> Region:
    return Region(Memory.UB, start, length, dims)


@pytest.mark.parametrize(
    ("walk", "layout", "regions"),
    [
        (Walk.masked(128, 4, ALL), Layout(float16, 64, 32, 256), (ub(64, 1024),)),
        (Walk.masked(128, 4, EVEN), Layout(float16, 64, 32, 256), (ub(64, 2, (4, 256), (64, 4)),)),
        (Walk.masked(128, 4, EVEN), Layout(float16, 0, 64, 512), (ub(0, 2, (4, 512), (8, 64), (8, 4)),)),
        (Walk.masked(128, 3, ALL), Layout(float16, 0, 64, 32), (ub(0, 32, (3, 32), (8, 64)),)),
        (Walk.masked(128, 3, (1 << 64) - 1), Layout(float16, 0, 32, 0), (ub(0, 128),)),
        (Walk.masked(128, 3, ALL), Layout(float16, 0, 0, 0), (ub(0, 32),)),
        (Walk.counted(128, 300), Layout(float16, 0, 32, 256), (ub(0, 600),)),
        (Walk.counted(128, 300), Layout(float16, 0, 32, 512), (ub(0, 256, (2, 512)), ub(1024, 88))),
        (Walk.counted(128, 0), Layout(float16, 0, 32, 256), ()),
        (Walk.masked(64, 2, 0b1011), Layout(float32, 0, 32, 256), (ub(0, 8, (2, 256)), ub(12, 4, (2, 256)))),
    ],
)  # fmt: skip
def test_regions(walk: Walk, layout: Layout, regions: tuple[Region, ...]) -> None:
    assert layout.regions(walk) == regions


def test_runs_fold_in_two_dimensions() -> None:
    runs = [(row * 100 + column * 10, 4, ()) for row in range(3) for column in range(4)]
    assert fold_runs(runs) == [(0, 4, ((3, 100), (4, 10)))]


def test_access_counts_blocks_of_the_operand() -> None:
    walk = Walk.counted(64, 100)
    assert Layout(float32, 256, 32, 256).access(walk) == Access(256, 8, 32, 256)
    assert Layout(float16, 0, 32, 128).access(walk) == Access(0, 4, 32, 128)
    assert Layout(float16, 0, 32, 128).access(Walk.counted(64, 17)) == Access(0, 2, 32, 128)


def test_walk_counts_elements() -> None:
    assert Walk.counted(64, 130).elements == 130
    assert Walk.masked(64, 3, 0b101).elements == 6
    assert Walk.masked(64, 0, 0b101).elements == 0
    assert Walk.masked(64, 2, (1 << 10) - 1).progression == (0, 1, 10)
    assert Walk.masked(128, 2, EVEN << 1).progression == (1, 2, 64)
    assert Walk.masked(64, 2, 0b1000).progression == (3, 1, 1)
    assert Walk.masked(64, 2, 0b1011).progression is None
    assert Walk.counted(64, 130).progression is None
