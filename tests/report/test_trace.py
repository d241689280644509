from __future__ import annotations

import json
import os
import threading
import time
from collections import defaultdict
from itertools import pairwise

import pytest

from ascend_sim.errors import InputError
from ascend_sim.report.trace import core_name, write_trace
from ascend_sim.timeline import Cause

from . import handmade as hm


@pytest.fixture
def trace(tmp_path):
    write_trace(hm.two_blocks()[1], tmp_path / "trace.json")
    return json.loads((tmp_path / "trace.json").read_text())


def events(trace, phase):
    return [event for event in trace["traceEvents"] if event["ph"] == phase]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_what_is_no_regular_file_is_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    texts: list[str] = []
    reader = threading.Thread(target=lambda: texts.append(pipe.read_text()), daemon=True)
    reader.start()
    write_trace(hm.two_blocks()[1], pipe)
    reader.join(10)
    assert pipe.is_fifo()
    assert json.loads(texts[0])["profilingType"] == "op"


def test_one_event_per_instruction_in_the_right_process_and_thread(trace):
    assert trace["profilingType"] == "op"
    assert len(events(trace, "X")) == 24
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events(trace, "M") if e["name"] == "thread_name"}
    cores = {e["pid"]: e["args"]["name"] for e in events(trace, "M") if e["name"] == "process_name"}
    assert cores == {1: "core0.veccore0", 2: "core0.veccore1"}
    placed = [(cores[e["pid"]], names[e["pid"], e["tid"]], e["name"]) for e in events(trace, "X")]
    assert placed.count(("core0.veccore1", "MTE2", "DataCopy")) == 2
    assert placed.count(("core0.veccore0", "VECTOR", "Add")) == 1
    assert placed.count(("core0.veccore0", "MTE3", "WaitFlag")) == 1


def test_events_of_a_thread_do_not_overlap(trace):
    threads = defaultdict(list)
    for event in events(trace, "X"):
        assert event["dur"] > 0
        threads[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    assert len(threads) == 6
    for intervals in threads.values():
        intervals.sort()
        assert all(a[1] <= b[0] + 1e-9 for a, b in pairwise(intervals))


def test_rounding_makes_no_event_reach_the_next(tmp_path):
    times = [(7 * i, 7 * i, 7 * i + 30, Cause.NONE, -1, 0) for i in range(100)]
    _, timeline = hm.launch([hm.core(0, [hm.ADD] * 100, times, finish=723)])
    timeline.clock_mhz = 1850.0
    write_trace(timeline, tmp_path / "t.json")
    found = events(json.loads((tmp_path / "t.json").read_text()), "X")
    assert all(a["ts"] + a["dur"] <= b["ts"] + 1e-9 for a, b in pairwise(found))
    assert found[-1]["ts"] == pytest.approx(693 / 1850, abs=5e-6)


def test_an_event_ends_where_its_pipe_goes_on_but_tells_when_the_result_was_visible(tmp_path):
    times = [(0, 0, 30, Cause.NONE, -1, 0), (1, 8, 38, Cause.NONE, -1, 0)]
    _, timeline = hm.launch([hm.core(0, [hm.ADD, hm.MULS], times, finish=38)])
    write_trace(timeline, tmp_path / "t.json")
    add, muls = events(json.loads((tmp_path / "t.json").read_text()), "X")
    assert (add["ts"], add["dur"], add["args"]["end_cycle"]) == (0.0, 0.008, 30)
    assert (muls["ts"], muls["dur"], muls["args"]["end_cycle"]) == (0.008, 0.03, 38)


def test_a_wait_is_drawn_from_when_its_pipe_stood_still(trace):
    wait = next(e for e in events(trace, "X") if e["name"] == "WaitFlag" and e["pid"] == 1 and e["tid"] == 7)
    assert wait["ts"] == pytest.approx(0.014)
    assert wait["dur"] == pytest.approx(0.198)
    assert wait["args"] == {
        "code": "/home/user/kernels/add.py:20", "detail": "MTE2_V id 0", "end_cycle": 212, "wait_cycles": 197,
        "wait_cause": "flag",
    }  # fmt: skip


def test_flags_are_flow_arrows_from_set_to_wait(trace):
    starts, ends = ({e["id"]: e for e in events(trace, phase)} for phase in "sf")
    assert len(starts) == len(ends) == 6
    assert starts.keys() == ends.keys()
    slices = defaultdict(list)
    for event in events(trace, "X"):
        slices[event["pid"], event["tid"]].append(event)

    def under(flow):
        inside = [
            e["name"]
            for e in slices[flow["pid"], flow["tid"]]
            if e["ts"] - 1e-9 <= flow["ts"] < e["ts"] + e["dur"] - 1e-9
        ]
        assert len(inside) == 1
        return inside[0]

    for key, start in starts.items():
        end = ends[key]
        assert start["pid"] == end["pid"]
        assert start["ts"] <= end["ts"]
        assert start["cat"] == end["cat"]
        assert (under(start), under(end)) == ("SetFlag", "WaitFlag")
    assert {start["cat"] for start in starts.values()} == {"MTE2ToVECTOR", "VECTORToMTE3"}


def test_half_a_million_events_take_a_few_seconds(tmp_path):
    tiles = 1300
    times = [row for tile in range(tiles) for row in hm.shifted(hm.TILE_TIMES, 400 * tile, 8 * tile)]
    program, timeline = hm.launch([hm.core(0, hm.TILE * tiles, times, finish=400 * tiles)] * 48)
    begin = time.process_time()
    write_trace(timeline, tmp_path / "t.json")
    assert time.process_time() - begin < 4
    assert (tmp_path / "t.json").stat().st_size < 300 * program.instructions


def test_transfers_carry_their_bytes(trace):
    copies = [e for e in events(trace, "X") if e["name"] == "DataCopy"]
    assert {e["args"]["process_bytes"] for e in copies} == {2048}


def test_blocks_that_share_a_core_share_a_process(tmp_path):
    first = hm.core(0, hm.TILE, hm.TILE_TIMES, finish=400, core_index=5)
    second = hm.core(40, hm.TILE, hm.shifted(hm.TILE_TIMES, 400), begin=400, finish=800, core_index=5)
    _, timeline = hm.launch([first, second])
    write_trace(timeline, tmp_path / "t.json")
    trace = json.loads((tmp_path / "t.json").read_text())
    assert {e["pid"] for e in events(trace, "X")} == {6}
    labels = [e["args"]["labels"] for e in events(trace, "M") if e["name"] == "process_labels"]
    assert labels == ["block 0, 40"]
    assert core_name(5) == "core2.veccore1"


def test_an_empty_launch_is_a_valid_trace(tmp_path):
    _, timeline = hm.launch([hm.core(0, [], [], finish=0)])
    write_trace(timeline, tmp_path / "t.json")
    assert events(json.loads((tmp_path / "t.json").read_text()), "X") == []


def test_a_trace_goes_into_an_existing_directory(tmp_path):
    target = tmp_path / "no" / "trace.json"
    with pytest.raises(InputError) as error:
        write_trace(hm.two_blocks()[1], target)
    assert str(error.value) == (
        f"cannot write the trace to {str(target)!r}: there is no directory {str(target.parent)!r}"
    )
    with pytest.raises(InputError, match="it is a directory, give a file name"):
        write_trace(hm.two_blocks()[1], tmp_path)
    assert list(tmp_path.iterdir()) == []
