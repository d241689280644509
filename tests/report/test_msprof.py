"""Folders as msprof writes them: layout, headers, traces by the documented schema, sums equal to the summary's."""

from __future__ import annotations

import csv
import json
import re
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import ascend_sim
from ascend_sim import asc
from ascend_sim.errors import InputError
from ascend_sim.machine import Machine
from ascend_sim.program import BarrierWork, CopyWork, FlagWork
from ascend_sim.report.metrics import measure
from ascend_sim.report.msprof import folder
from ascend_sim.report.result import Result
from ascend_sim.report.selection import Selection
from ascend_sim.soc import load
from tests.explain.kernels import scale, uneven
from tests.speed.test_machine_speed import split_s

HEADERS = {
    tuple(line.split(" ", 2)[:2]): line.split(" ", 2)[2]
    for line in (Path(__file__).parent / "data" / "msprof_headers.txt").read_text().splitlines()
}
CORE = "core0.veccore1"


@pytest.fixture(scope="module", params=["ascend910b", "ascend950"])
def run(request):
    with ascend_sim.device(request.param, values=False, l2="cold") as device:
        x, y = (asc.memory.DeviceArray((1 << 20,), "float32") for _ in range(2))
        scale[4](x, y, 3, 4096, 2, 2)
    return device.runs[-1]


@pytest.fixture(scope="module")
def written(run, tmp_path_factory):
    return run.write_msprof(tmp_path_factory.mktemp("msprof") / "made")


def rows(path):
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def trace(path):
    text = path.read_text(encoding="utf-8")
    assert "profilingType" in text[: text.index("[")]
    found = json.loads(text)
    assert (found["schemaVersion"], found["displayTimeUnit"], found["profilingType"]) == (2, "ns", "op")
    return found["traceEvents"]


def test_layout(written):
    assert re.fullmatch(r"OPPROF_\d{14}_[A-Z]{16}", written.name)
    cores = [f"core{core // 2}.veccore{core % 2}" for core in range(4)]
    files = {f"simulator/{c}/{c}_{kind}.csv" for c in cores for kind in ("code_exe", "instr_exe")}
    files |= {f"simulator/{c}/trace.json" for c in cores} | {"simulator/trace.json"}
    files |= {f"{name}.csv" for _, name in HEADERS}
    assert {str(path.relative_to(written)) for path in written.rglob("*") if path.is_file()} == files


def test_headers_are_the_documented_ones(written, run):
    for (arch, name), head in HEADERS.items():
        if arch == run.chip.arch:
            assert (written / f"{name}.csv").read_text(encoding="utf-8").split("\n")[0] == head
    core = written / "simulator" / CORE
    assert (
        (core / f"{CORE}_instr_exe.csv")
        .read_text(encoding="utf-8")
        .startswith("instr,addr,pipe,call_count,cycles,running_time(us),detail\n")
    )
    assert (
        (core / f"{CORE}_code_exe.csv")
        .read_text(encoding="utf-8")
        .startswith("code,call_count,cycles,running_time(us)\n")
    )


def check_schema(events):
    """The rules of the trace event format: phases with their keys, events of a lane one after the other, begin and end
    in pairs, arrows between events."""
    lanes: dict[tuple[object, object], list[tuple[float, float]]] = {}
    open_events: dict[tuple[object, object, str], float] = {}
    flows: dict[str, list[tuple[str, float]]] = {}
    for event in events:
        lane = (event["pid"], event.get("tid"))
        phase = event["ph"]
        assert phase in {"M", "X", "B", "E", "C", "s", "t"}
        if phase == "X":
            assert {"name", "cname", "ts", "dur", "args"} <= event.keys()
            lanes.setdefault(lane, []).append((event["ts"], event["ts"] + event["dur"]))
        elif phase == "B":
            open_events[*lane, event["id"]] = event["ts"]
        elif phase == "E":
            lanes.setdefault(lane, []).append((open_events.pop((*lane, event["id"])), event["ts"]))
        elif phase in {"s", "t"}:
            assert event["name"] == "flow"
            flows.setdefault(event["id"], []).append((phase, event["ts"]))
    assert not open_events
    for spans in lanes.values():
        assert all(begin <= end + 1e-9 for begin, end in spans)
        ordered = sorted(spans)
        assert all(later[0] >= before[1] - 1e-6 for before, later in pairwise(ordered))
    assert all([phase for phase, _ in ends] == ["s", "t"] for ends in flows.values())
    return lanes, flows


def test_merged_trace(written, run):
    events = trace(written / "simulator" / "trace.json")
    lanes, flows = check_schema(events)
    instrs = [instr for block in run.program.blocks for instr in block.instrs]
    assert sum(map(len, lanes.values())) == len(instrs)
    assert {pid for pid, _ in lanes} == {f"core{core // 2}.veccore{core % 2}" for core in range(4)}
    assert {tid for _, tid in lanes} == {"VECTOR", "MTE2", "MTE3", "SCALAR"}
    names = Counter(event["name"] for event in events if event["ph"] in "XB")
    sets = sum(isinstance(i.work, FlagWork) and not i.work.wait for i in instrs)
    assert names["SET_FLAG"] == sets
    assert len(flows) == names["WAIT_FLAG"] == sum(isinstance(i.work, FlagWork) and i.work.wait for i in instrs)
    assert names["BAR"] == sum(isinstance(i.work, BarrierWork) for i in instrs)
    moved = [event["args"]["process_bytes"] for event in events if "process_bytes" in event.get("args", {})]
    assert sum(moved) == sum(i.work.nbytes for i in instrs if isinstance(i.work, CopyWork))
    order = {e["pid"]: e["args"]["sort_index"] for e in events if e["name"] == "process_sort_index"}
    assert order == {"core0.veccore0": 2, "core0.veccore1": 3, "core1.veccore0": 5, "core1.veccore1": 6}
    threads = {e["tid"]: e["args"]["sort_index"] for e in events if e["name"] == "thread_sort_index"}
    assert threads == {"SCALAR": 1, "MTE2": 6, "VECTOR": 7, "MTE3": 8}
    details = {e["args"]["detail"] for e in events if e["name"] == "WAIT_FLAG" and e["ph"] == "B"}
    assert "PIPE:MTE2,TRIGGERPIPE:VEC,FLAGID:0" in details


def test_counters_hold_every_byte(written, run):
    events = trace(written / "simulator" / "trace.json")
    for name, nbytes in (("GM_TO_UB", run.memory.read_bytes), ("UB_TO_GM", run.memory.written_bytes)):
        rates = [e["args"]["throughput(MB/s)"] for e in events if e["ph"] == "C" and e["name"] == name]
        assert sum(rates) * 2**20 / 1e6 == pytest.approx(nbytes, rel=1e-4)
        assert rates[-1] == 0
        assert {e["pid"] for e in events if e["ph"] == "C"} == {"MTE Throughput"}


def test_a_cores_own_trace(written):
    lanes, _ = check_schema(trace(written / "simulator" / CORE / "trace.json"))
    assert lanes.keys() >= {(30, "VECTOR_0"), (60, "MTE2_0"), (70, "MTE3_0")}


def test_sums_are_those_of_the_summary(written, run):
    table = rows(written / "PipeUtilization.csv")
    assert [row["block_id"] for row in table] == ["0", "1", "2", "3"]
    assert np.mean([float(row["aiv_time(us)"]) for row in table]) == pytest.approx(run.aiv_time_us.mean, abs=1e-5)
    for name, use in run.pipes.items():
        assert np.mean([float(row[f"aiv_{name}_time(us)"]) for row in table]) == pytest.approx(use.busy_us, abs=1e-5)
        assert np.mean([float(row[f"aiv_{name}_ratio"]) for row in table]) == pytest.approx(use.ratio, abs=1e-5)
    memory = rows(written / "Memory.csv")
    assert sum(float(row["GM_to_UB_datas(KB)"]) for row in memory) * 1024 == run.memory.read_bytes
    assert sum(int(row["aiv_mte2_instructions"]) for row in memory) == run.pipes["mte2"].instructions
    l2 = rows(written / "L2Cache.csv")
    assert all(float(row["aiv_read_hit_rate(%)"]) == 0 for row in l2)
    (basic,) = rows(written / "OpBasicInfo.csv")
    assert float(basic["Task Duration(us)"]) == round(run.duration_us, 4)
    assert (basic["Op Name"], basic["Block Dim"]) == ("scale", "4")


def test_what_is_not_known_stays_empty(written):
    (first, *_) = rows(written / "PipeUtilization.csv")
    assert {first[name] for name in first if name.startswith("aic_") or "icache" in name} == {""}
    (first, *_) = rows(written / "Memory.csv")
    assert first["aiv_main_mem_read_bw(GB/s)"] == first["read_main_memory_datas(KB)"] == ""


def test_lists_of_a_core(written, run):
    core = written / "simulator" / CORE
    instrs, lines = rows(core / f"{CORE}_instr_exe.csv"), rows(core / f"{CORE}_code_exe.csv")
    for table in (instrs, lines):
        cycles = [int(row["cycles"]) for row in table]
        assert cycles == sorted(cycles, reverse=True)
        assert sum(int(row["call_count"]) for row in table) == len(run.program.blocks[1].instrs)
    line = run.timeline.cores[1]
    copies = [i for i, instr in enumerate(line.program.instrs) if isinstance(instr.work, CopyWork) and instr.work.to_ub]
    (load,) = (row for row in instrs if row["pipe"] == "MTE2" and row["instr"] == "DataCopy")
    assert int(load["cycles"]) == sum(line.end[i] - line.start[i] for i in copies)
    assert float(load["running_time(us)"]) == pytest.approx(run.metrics.busy_cycles["mte2"][1] / run.chip.clock_mhz)
    assert {row["addr"] for row in instrs} == {""}


def test_selection(run, tmp_path):
    made = run.write_msprof(tmp_path, Selection(frozenset({2}), 0.8, 1.2))
    assert [path.name for path in sorted((made / "simulator").iterdir())] == ["core1.veccore0", "trace.json"]
    events = trace(made / "simulator" / "trace.json")
    lanes, _ = check_schema(events)
    assert {pid for pid, _ in lanes} == {"core1.veccore0"}
    assert all(end > 0.8 and begin < 1.2 for spans in lanes.values() for begin, end in spans)
    assert len(rows(made / "PipeUtilization.csv")) == 4
    with pytest.raises(InputError) as caught:
        run.write_msprof(tmp_path, Selection(frozenset({1, 77})))
    assert str(caught.value) == "core 77 runs no block: the launch used 4 cores, 0 to 3"


def test_hit_rates_and_waves(tmp_path):
    """More blocks than cores: a core's flags have numbers of their own; hits are those of the summary."""
    with ascend_sim.device("ascend910b", values=False, overrides={"cores.aiv": 2, "cores.aic": 1}) as device:
        x, y = (asc.memory.DeviceArray((1 << 20,), "float32") for _ in range(2))
        uneven[5](x, y, 2, 4096)
    result = device.runs[-1]
    made = result.write_msprof(tmp_path)
    check_schema(trace(made / "simulator" / "trace.json"))
    assert {float(row["aiv_total_hit_rate(%)"]) for row in rows(made / "L2Cache.csv")} == {100.0}


@pytest.mark.slow
def test_a_quarter_of_a_million_instructions_is_traced_in_seconds(tmp_path):
    """A million takes under ten seconds on a quiet machine; the limit is for one that is three times slower."""
    launched = split_s(115)
    soc = load("Ascend910B1")
    timeline = Machine(soc).run(launched)
    result = Result("split_s", "split_s", soc, launched, timeline, 0.0, "warm", 0.0)
    assert launched.instructions > 250_000
    begun = time.process_time()
    made = folder.write_msprof(result, tmp_path)
    assert time.process_time() - begun < 7.5
    assert (made / "simulator" / "trace.json").stat().st_size > 25e6
    assert measure(launched, timeline).instructions == launched.instructions
