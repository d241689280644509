from __future__ import annotations

import time

import numpy as np
import pytest

from ascend_sim.program import PipeID, Program
from ascend_sim.report.metrics import measure, memory_json, union_cycles
from ascend_sim.timeline import Cause, MemoryCounters, Timeline

from . import handmade as hm


def test_union_counts_overlaps_once_and_gaps_not_at_all():
    def union(*intervals):
        return union_cycles(*(np.array(column, np.int64) for column in zip(*intervals, strict=True)))

    assert union_cycles(np.zeros(0, np.int64), np.zeros(0, np.int64)) == 0
    assert union((0, 10), (10, 20)) == 20
    assert union((0, 10), (5, 20)) == 20
    assert union((0, 100), (5, 20), (30, 40)) == 100
    assert union((0, 10), (50, 60)) == 20
    assert union((50, 60), (0, 10), (55, 70)) == 30
    assert union((3, 3), (3, 8)) == 5


def test_union_equals_counting_cycles_one_by_one():
    random = np.random.default_rng(0)
    for _ in range(50):
        start = random.integers(0, 100, 20)
        end = start + random.integers(0, 30, 20)
        covered = {cycle for low, high in zip(start, end, strict=True) for cycle in range(low, high)}
        assert union_cycles(start, end) == len(covered)


def test_times_and_ratios_follow_msprof():
    metrics = measure(*hm.two_blocks())
    assert metrics.launch_us == 0.6
    assert metrics.duration_us == pytest.approx(0.6 + 0.850)
    aiv = metrics.aiv_time_us
    assert (aiv.mean, aiv.min, aiv.max) == pytest.approx((0.6, 0.4, 0.8))
    assert metrics.instructions == 24
    # per tile: MTE2 in flight 200 cycles, V 212..272, MTE3 100; flags are not work
    assert metrics.busy_cycles["mte2"].tolist() == [200, 400]
    assert metrics.busy_cycles["vec"].tolist() == [60, 120]
    assert metrics.busy_cycles["mte3"].tolist() == [100, 200]
    assert metrics.busy_cycles["scalar"].tolist() == [100, 240]
    assert metrics.pipes["mte2"].busy_us == pytest.approx(0.3)
    assert metrics.pipes["mte2"].ratio == pytest.approx((200 / 400 + 400 / 800) / 2)
    assert metrics.pipes["scalar"].ratio == pytest.approx((100 / 400 + 240 / 800) / 2)
    assert metrics.bound == "mte2"
    assert {name: use.instructions for name, use in metrics.pipes.items()} == {
        "scalar": 0, "vec": 12, "mte2": 6, "mte3": 6,
    }  # fmt: skip


def test_a_core_that_runs_several_blocks_is_one_core():
    program, timeline = hm.two_blocks()
    for block in timeline.cores:
        block.core = 5
    metrics = measure(program, timeline)
    aiv = metrics.aiv_time_us
    assert (aiv.mean, aiv.min, aiv.max) == pytest.approx((1.2, 1.2, 1.2))
    assert metrics.busy_cycles["mte2"].tolist() == [600]
    assert metrics.pipes["mte2"].ratio == pytest.approx(0.5)
    waits = {(wait.pipe, wait.cause): wait for wait in metrics.waits}
    assert waits["mte3", Cause.FLAG].us == pytest.approx(3 * 0.247)
    assert waits["mte3", Cause.FLAG].share == pytest.approx(3 * 247 / 1200)


def test_waits_are_added_up_by_pipe_cause_and_lines():
    metrics = measure(*hm.two_blocks())
    waits = {(wait.pipe, wait.cause): wait for wait in metrics.waits}
    assert len(waits) == len(metrics.waits) == 4
    assert [wait.cause for wait in metrics.waits[:2]] == [Cause.FLAG, Cause.FLAG]
    stored = waits["mte3", Cause.FLAG]
    assert stored.us == pytest.approx(3 * 0.247 / 2)
    assert stored.share == pytest.approx(3 * 247 / 1200)
    assert stored.count == 3
    assert (stored.line, stored.event) == ("/home/user/kernels/add.py:30", "V_MTE3")
    # the flag was set behind Muls: that is what the store waited for
    assert (stored.peer, stored.peer_line) == (hm.MULS, "/home/user/kernels/add.py:22")
    loaded = waits["vec", Cause.FLAG]
    assert (loaded.peer, loaded.count) == (hm.LOAD, 3)
    dependent = waits["vec", Cause.AUTO_SYNC]
    assert (dependent.instr, dependent.peer, dependent.event) == (hm.MULS, hm.ADD, "")
    assert dependent.us == pytest.approx(3 * 0.022 / 2)
    assert loaded.to_json() == {
        "pipe": "vec", "cause": "flag", "event": "MTE2_V", "us": round(3 * 0.197 / 2, 4), "share": round(591 / 1200, 4),
        "count": 3, "instruction": "WaitFlag", "line": "/home/user/kernels/add.py:20", "waits_for": "DataCopy",
        "waits_for_line": "/home/user/kernels/add.py:10",
    }  # fmt: skip


def test_a_full_queue_is_a_wait_of_the_scalar_unit():
    times = [(0, 0, 10, Cause.NONE, -1, 0), (90, 90, 100, Cause.QUEUE, -1, 80)]
    metrics = measure(*hm.launch([hm.core(0, [hm.ADD, hm.MULS], times, finish=100)]))
    assert [(wait.pipe, wait.cause, wait.instr) for wait in metrics.waits] == [("scalar", Cause.QUEUE, hm.MULS)]


def test_a_wait_for_a_flag_with_no_work_before_it_names_the_flag():
    times = [(0, 0, 1, Cause.NONE, -1, 0), (1, 1, 2, Cause.FLAG, 0, 1)]
    metrics = measure(*hm.launch([hm.core(0, [hm.LOADED, hm.WAIT_LOADED], times, finish=100)]))
    assert [wait.peer for wait in metrics.waits] == [hm.LOADED]


def test_an_empty_kernel_has_zeros_and_no_waits():
    metrics = measure(*hm.launch([hm.core(0, [], [], finish=0)]))
    assert metrics.duration_us == 0.6
    assert metrics.instructions == 0
    assert metrics.waits == []
    assert {use.ratio for use in metrics.pipes.values()} == {0.0}
    assert measure(Program("none", []), Timeline(1000.0, [], 0, 0.6)).aiv_time_us.mean == 0.0


def test_memory_counters_in_json():
    assert memory_json(MemoryCounters(100, 50, 25, 50, 75, 0)) == {
        "read_bytes": 100, "written_bytes": 50, "hbm_read_bytes": 75, "hbm_written_bytes": 0,
        "l2_read_hit_ratio": 0.25, "l2_write_hit_ratio": 1.0,
    }  # fmt: skip
    assert memory_json(MemoryCounters())["l2_read_hit_ratio"] is None


def test_a_million_instructions_take_about_a_second():
    tiles, blocks = 2600, 48
    times = [row for tile in range(tiles) for row in hm.shifted(hm.TILE_TIMES, 400 * tile, tile * len(hm.TILE))]
    one = hm.core(0, hm.TILE * tiles, times, finish=400 * tiles, scalar_cycles=1)
    program, timeline = hm.launch([one] * blocks)
    assert program.instructions == 998_400
    begin = time.perf_counter()
    metrics = measure(program, timeline)
    assert time.perf_counter() - begin < 1.5
    assert metrics.pipes["vec"].instructions == blocks * tiles * 4
    assert len(metrics.waits) == 4
    assert PipeID.PIPE_V == 1
