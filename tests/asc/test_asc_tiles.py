"""Tile loops: nothing but their rounds, unless an excerpt is recorded."""

from __future__ import annotations

import pytest

from ascend_sim import asc
from ascend_sim.asc.tiles import Excerpt
from ascend_sim.host.device import Device

SEEN: list[tuple[int, ...]] = []


@asc.jit
def copies(
    x: asc.GlobalAddress, outer: asc.ConstExpr[int], inner: asc.ConstExpr[int], count: asc.ConstExpr[int]
) -> None:
    """`outer` x `inner` tiles of `count` float32 in and out."""
    x_gm = asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    pipe, queue = asc.TPipe(), asc.TQue(asc.TPosition.VECIN, 1)
    pipe.init_buffer(queue, 2, count * 4)
    for i in asc.tiles(range(outer)):
        for j in asc.tiles(range(inner)):
            SEEN.append((i, j))
            tile = queue.alloc_tensor(asc.float32)
            asc.data_copy(tile, x_gm[(i * inner + j) * count], count)
            queue.enque(tile)
            queue.free_tensor(queue.deque(asc.float32))


def record(outer: int, inner: int, count: int = 1024, patterns: dict | None = None) -> tuple[Excerpt, list]:
    excerpt = Excerpt(patterns)
    SEEN.clear()
    with Device(values=False) as device:
        device.excerpt = excerpt
        copies[1](asc.memory.DeviceArray((outer * inner * count,), "float32"), outer, inner, count)
    return excerpt, list(SEEN)


def test_a_loop_as_it_stands():
    rounds = range(7)
    assert asc.tiles(rounds) is rounds
    SEEN.clear()
    with Device(values=False):
        copies[1](asc.memory.DeviceArray((3 * 5 * 8,), "float32"), 3, 5, 8)
    assert [(i, j) for i in range(3) for j in range(5)] == SEEN


def test_first_rounds_pattern_and_last():
    excerpt, seen = record(1, 100)
    (inner,) = excerpt.blocks[0].loops[0].rounds[0].loops
    kept = len(inner.rounds)
    assert seen == [(0, j) for j in (*range(kept - 1), 99)]
    assert (inner.total, inner.lead + len(inner.pattern) + 1) == (100, kept)
    assert (100 - kept) % 2 == 0  # in pairs: kernels count rounds to choose a buffer
    instructions = inner.rounds[1].end - inner.rounds[1].first  # queues are not yet waited for
    assert len(inner.pattern) * instructions >= 64 > (len(inner.pattern) - 2) * instructions


@pytest.mark.parametrize(("count", "period"), [(1024, 1), (512, 2), (128, 8), (768, 4), (1000, 128)])
def test_rounds_are_left_out_by_lines_of_l2(count: int, period: int):
    excerpt, _ = record(1, 2000, count)
    (inner,) = excerpt.blocks[0].loops[0].rounds[0].loops
    assert inner.period == period
    assert (inner.total - len(inner.rounds)) % period == 0
    assert len(inner.pattern) % (2 * period) == 0


def test_loops_in_loops():
    excerpt, seen = record(50, 60)
    (outer,) = excerpt.blocks[0].loops
    assert {len(this.loops) for this in outer.rounds} == {1}
    assert len(seen) == sum(len(this.loops[0].rounds) for this in outer.rounds)
    assert seen[-1] == (49, 59)
    assert [loop.total for loop in excerpt.blocks[0].all_loops()][:2] == [50, 60]


def test_longer_patterns_where_they_are_asked_for():
    before, _ = record(1, 100)
    (inner,) = before.blocks[0].loops[0].rounds[0].loops
    after, _ = record(1, 100, patterns={inner.key: 40})
    (longer,) = after.blocks[0].loops[0].rounds[0].loops
    assert len(longer.pattern) == 40
    assert not longer.whole


@pytest.mark.parametrize("inner", [0, 1, 2, 3, 4])
def test_short_loops_are_whole(inner: int):
    _, seen = record(2, inner)
    assert seen == [(i, j) for i in range(2) for j in range(inner)]
