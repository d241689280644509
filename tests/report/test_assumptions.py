from __future__ import annotations

import pytest

from ascend_sim.program import Instr, PipeID, SyncWork
from ascend_sim.report.assumptions import notes_on
from ascend_sim.report.metrics import measure
from ascend_sim.soc import load
from ascend_sim.timeline import Cause

from . import handmade as hm

SYNC_ALL = Instr(hm.Name("SyncAll"), PipeID.PIPE_ALL, SyncWork(), place=hm.place(36))


def notes(instrs, times, *, finish=1000, blocks=1, overrides=None):
    program, timeline = hm.launch([hm.core(n, instrs, times, finish=finish) for n in range(blocks)])
    return notes_on(program, timeline, measure(program, timeline), load("Ascend910B3", overrides))


QUIET = [(0, 0, 30, Cause.NONE, -1, 0)]


def test_a_run_that_hangs_on_nothing_has_no_notes():
    assert notes([hm.ADD], QUIET) == []


def test_overridden_parameters_are_named():
    assert notes([hm.ADD], QUIET, overrides={"clock_mhz": 900, "ub.bytes": "256 KiB"}) == [
        "clock_mhz is 900.0 MHz, in place of 1800 (official, RT) of ascend910b.yaml",
        "ub.bytes is 262144 B, in place of 192 KiB (official, RT) of arch2201.yaml",
    ]


def test_sync_all_and_waves():
    assert notes([SYNC_ALL], QUIET) == ["SyncAll: timing.sync.sync_all_cycles = 600 cycles is assumed"]
    assert notes([hm.ADD], QUIET, blocks=41) == [
        "more blocks than cores: timing.launch.next_block_cycles = 200 cycles is assumed"
    ]


@pytest.mark.parametrize(("wait", "said"), [(19, 0), (20, 1)])
def test_a_full_queue_counts_from_two_percent_on(wait, said):
    times = [*QUIET, (60, 60, 90, Cause.QUEUE, -1, wait)]
    text = (
        "the scalar unit waits 2.0 % of the AIV time for room in the queue of aiv_vec: "
        "timing.queues.vector_entries = 32 entries is assumed"
    )
    assert notes([hm.ADD, hm.MULS], times) == [text] * said


def test_the_queue_of_a_pipe_that_is_always_busy_decides_nothing():
    times = [(0, 0, 900, Cause.NONE, -1, 0), (500, 900, 1000, Cause.QUEUE, -1, 400)]
    assert notes([hm.ADD, hm.ADD], times) == []


def test_waits_for_assumed_tails():
    times = [*QUIET, (1, 30, 60, Cause.AUTO_SYNC, 0, 22)]
    text = "waits for results of Muls are 2.2 % of the AIV time: their timing.vector.tail_cycles are assumed"
    assert notes([hm.MULS, hm.ADD], times) == [text]
    assert notes([hm.ADD, hm.MULS], times) == []  # the tail of Add is measured
