"""What must hold of every timeline, on random programs; and how times answer to the chip's rates."""

from __future__ import annotations

import hashlib
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings

from ascend_sim.errors import DeadlockError
from ascend_sim.machine import Machine
from ascend_sim.program import CopyWork, FlagWork, PipeID, VectorWork
from ascend_sim.soc import load
from ascend_sim.timeline import Cause

from .build import BlockBuilder, program
from .test_reference import launches

SETTINGS = settings(deadline=None, max_examples=25, suppress_health_check=list(HealthCheck))
WAITED_FOR = (Cause.FLAG, Cause.BARRIER, Cause.AUTO_SYNC)


def timed(launch):
    launched, soc = launch
    try:
        return Machine(soc).run(launched, l2="cold")
    except DeadlockError:
        assume(False)


@SETTINGS
@given(launches())
def test_pipes_run_in_order_and_nothing_starts_before_what_it_waits_for(launch):
    for line in timed(launch).cores:
        instrs = line.program.instrs
        for pipe in (PipeID.PIPE_V, PipeID.PIPE_MTE2, PipeID.PIPE_MTE3):
            own = [i for i, instr in enumerate(instrs) if instr.pipe is pipe]
            assert [line.start[i] for i in own] == sorted(line.start[i] for i in own)
        setters: dict[tuple[int, int], list[int]] = {}
        for i, instr in enumerate(instrs):
            if isinstance(instr.work, FlagWork) and not instr.work.wait:
                setters.setdefault((instr.work.event, instr.work.event_id), []).append(i)
        for i, instr in enumerate(instrs):
            assert line.dispatch[i] <= line.start[i] <= line.end[i] <= line.finish
            if isinstance(instr.work, FlagWork) and instr.work.wait:
                setter = setters[instr.work.event, instr.work.event_id].pop(0)
                assert line.start[i] >= line.end[setter]


@SETTINGS
@given(launches())
def test_every_wait_has_a_cause_a_length_and_somebody_waited_for(launch):
    for line in timed(launch).cores:
        for i in range(len(line.program.instrs)):
            cause, peer = Cause(line.cause[i]), line.peer[i]
            assert (cause is Cause.NONE) == (line.wait[i] == 0)
            if cause in WAITED_FOR:
                assert peer >= 0
                assert line.start[i] >= line.start[peer]
            else:
                assert peer == -1


@SETTINGS
@given(launches())
def test_bytes_are_conserved(launch):
    timeline = timed(launch)
    works = [instr.work for line in timeline.cores for instr in line.program.instrs]
    copies = [work for work in works if isinstance(work, CopyWork)]
    memory = timeline.memory
    assert memory.read_bytes == sum(copy.nbytes for copy in copies if copy.to_ub)
    assert memory.written_bytes == sum(copy.nbytes for copy in copies if not copy.to_ub)
    assert 0 <= memory.l2_read_hit_bytes <= memory.read_bytes
    assert 0 <= memory.l2_write_hit_bytes <= memory.written_bytes


@SETTINGS
@given(launches())
def test_the_order_of_the_blocks_does_not_matter(launch):
    launched, soc = launch
    first = timed(launch)
    launched.blocks.reverse()
    second = Machine(soc).run(launched, l2="cold")
    for one, other in zip(first.cores, reversed(second.cores), strict=True):
        assert one.program is other.program
        assert (one.core, one.start, one.end, one.finish) == (other.core, other.start, other.end, other.finish)
    assert first.memory == second.memory


def copying(cores: int, tiles: int = 12, nbytes: int = 16384, buffers: int = 2, mixed: int = 1):
    """Blocks that load, compute and store tile by tile."""
    blocks = []
    for number in range(cores):
        block = BlockBuilder(number)
        for tile in range(tiles):
            slot, at = tile % buffers, (number * tiles + tile) * nbytes
            if tile >= buffers:
                block.wait("V_MTE2", slot)
            block.load(at, slot * nbytes, nbytes).set("MTE2_V", slot).wait("MTE2_V", slot)
            if tile >= buffers:
                block.wait("MTE3_V", slot)
            block.vector("Muls", 0x18000 + slot * nbytes, slot * nbytes, nbytes=nbytes)
            block.set("V_MTE2", slot).set("V_MTE3", slot).wait("V_MTE3", slot)
            block.store((1 << 30) + at, 0x18000 + slot * nbytes, nbytes).set("MTE3_V", slot)
        blocks.append(block)
    return program(*blocks)


@pytest.mark.parametrize("l2", ["warm", "cold"])
@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("hbm.peak_gbps", (200, 400, 800, 1600, 3200)),
        ("l2.read_bytes_per_cycle_per_aic", (10, 40, 110, 400)),
        ("l2.write_bytes_per_cycle_per_aic", (10, 40, 86, 400)),
        ("timing.memory.port_load_bytes_per_cycle", (16, 64, 128, 512)),
        ("timing.memory.port_store_bytes_per_cycle", (16, 43, 86, 512)),
        ("timing.memory.port_total_bytes_per_cycle", (32, 160, 640)),
        ("timing.memory.hbm_gbps_per_core", (20, 100, 500)),
    ],
)
def test_more_bandwidth_is_never_slower(path, values, l2):
    durations = []
    for value in values:
        soc = load("Ascend910B4", {path: value})
        durations.append(Machine(soc).run(copying(24), l2=l2).duration_cycles)
    assert durations == sorted(durations, reverse=True)
    assert durations[0] > durations[-1] or l2 in ("warm" if "hbm" in path else "cold")


@pytest.mark.parametrize(("cores", "measured_gbps"), [(1, 100.9), (20, 68.8), (48, 33.7)])
def test_bandwidth_of_each_core_falls_with_their_number(cores, measured_gbps):
    """Loads from HBM on a 910B1, as TS gives them; other sources give one core alone 84 to 120 GB/s."""
    tiles, nbytes = 24, 32768
    blocks = []
    for number in range(cores):
        block = BlockBuilder(number)
        for tile in range(tiles):
            block.load((number * tiles + tile) * nbytes, 0, nbytes)
        blocks.append(block)
    timeline = Machine(load("Ascend910B1")).run(program(*blocks), l2="cold")
    seconds = [timeline.to_us(line.end[-1] - line.start[0]) * 1e-6 for line in timeline.cores]
    assert tiles * nbytes / (sum(seconds) / cores) / 1e9 == pytest.approx(measured_gbps, rel=0.14)


def test_double_buffering_and_larger_copies_help():
    def duration(**shape):
        return Machine(load("Ascend910B4")).run(copying(20, **shape)).duration_cycles

    assert duration(buffers=2) < 0.85 * duration(buffers=1)
    assert duration(nbytes=16384, tiles=12) < 0.8 * duration(nbytes=2048, tiles=96)


def test_rows_off_512_bytes_cost_a_piece_more():
    """data_copy on A2: rows of 2 KiB whose starts wander take longer (22 % to 28 % there)."""

    def duration(pitch: int) -> int:
        blocks = []
        for number in range(48):
            block = BlockBuilder(number)
            for tile in range(8):
                block.load(number * 64 * 24576 + tile * 2048, 0, 2048, rows=64, pitch=pitch)
            blocks.append(block)
        return Machine(load("Ascend910B1")).run(program(*blocks), l2="cold").duration_cycles

    assert 1.12 < duration(24574) / duration(24576) < 1.3


def test_what_a_launch_leaves_in_l2_the_next_one_finds():
    machine = Machine(load("Ascend910B4"))
    launched = copying(4)
    cold = machine.run(launched, l2="cold")
    kept = machine.run(launched, l2="keep")
    assert cold.memory.l2_read_hit_bytes == 0
    assert kept.memory.l2_read_hit_bytes == kept.memory.read_bytes
    assert kept.duration_cycles == machine.run(launched, l2="warm").duration_cycles < cold.duration_cycles


def test_what_a_warm_launch_leaves_is_worked_out_when_the_next_one_looks():
    soc = load("Ascend910B4", {"l2.bytes": "1 MiB"})
    first, second = BlockBuilder(0), BlockBuilder(0)
    for at in range(0, 3 << 18, 1 << 16):
        first.store(at, 0, 1 << 16)
        second.load((1 << 30) + at, 0, 1 << 16).load(at, 0, 1 << 16)

    def after(l2):
        machine = Machine(soc)
        machine.run(program(first), l2=l2)
        timeline = machine.run(program(second), l2="keep")
        return timeline.memory, timeline.duration_cycles, machine.l2.dirty_grains

    assert after("warm") == after("cold")
    assert after("warm")[0].hbm_written_bytes > 0
    machine = Machine(soc)
    machine.run(program(first))
    assert machine.run(program(first), l2="cold").memory.l2_write_hit_bytes == 0


def test_loads_that_bypass_l2_are_not_kept():
    block = BlockBuilder(0).load(0, 0, 4096, bypass=True).load(0, 0, 4096, bypass=True)
    memory = Machine(load("Ascend910B4")).run(program(block)).memory
    assert (memory.l2_read_hit_bytes, memory.hbm_read_bytes) == (0, 8192)


def test_stores_to_lines_that_l2_does_not_hold_end_later():
    block = BlockBuilder(0).store(0, 0, 65536).store(0, 0, 65536)
    soc = load("Ascend910B3")
    line = Machine(soc).run(program(block), l2="cold").cores[0]
    new, held = (end - start for start, end in zip(line.start, line.end, strict=True))
    assert held == math.ceil(65536 / 86) + 137
    assert new == held + round(soc.require_timing().memory.store_miss_ns * 1.8)


def test_what_is_displaced_waits_for_hbm_when_it_is_busy():
    small = load("Ascend910B4", {"l2.bytes": "1 MiB"})
    blocks = []
    for number in range(40):
        block = BlockBuilder(number)
        for tile in range(16):
            block.store((number * 16 + tile) * 65536, 0, 65536)
        blocks.append(block)
    timeline = Machine(small).run(program(*blocks), l2="cold")
    written = timeline.memory.hbm_written_bytes
    assert written == 40 * 16 * 65536 - (1 << 20)
    assert written / timeline.to_us(timeline.duration_cycles) / 1000 < 744 / 1.75 * 1.1


SCRIPT = """
import hashlib, sys
from ascend_sim.machine import Machine
from ascend_sim.soc import load
from tests.machine.test_invariants import copying, digest
print(digest(Machine(load("Ascend910B4")).run(copying(24), l2="cold")))
"""


def digest(timeline) -> str:
    found = hashlib.sha256()
    for line in timeline.cores:
        for times in (line.dispatch, line.start, line.end, line.cause, line.peer, line.wait):
            found.update(times.tobytes())
    return found.hexdigest()


def test_two_processes_find_the_same_cycles():
    root = Path(__file__).parents[2]
    answers = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            capture_output=True,
            text=True,
            check=True,
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
        ).stdout
        for seed in ("1", "2")
    }
    assert answers == {digest(Machine(load("Ascend910B4")).run(copying(24), l2="cold")) + "\n"}


def test_a_timeline_keeps_at_most_40_bytes_per_instruction():
    line = Machine(load("Ascend910B4")).run(copying(1)).cores[0]
    arrays = (line.dispatch, line.start, line.end, line.cause, line.peer, line.wait)
    assert sum(times.itemsize for times in arrays) <= 40
    assert all(len(times) == len(line.program.instrs) for times in arrays)


def test_vector_work_of_no_element_takes_no_time():
    block = BlockBuilder(0).add("Add", PipeID.PIPE_V, VectorWork("float16", 128, 0, 0, False, ()))
    line = Machine(load("Ascend910B4")).run(program(block)).cores[0]
    assert line.start[0] == line.end[0] == line.dispatch[0]
