"""Every cycle of every pipe is work or a gap with one reason; what is not in flight is msprof's idle time."""

from __future__ import annotations

import numpy as np
import pytest

from ascend_sim.api import run
from ascend_sim.explain import Reason, account
from ascend_sim.report.metrics import PIPES, measure, union_cycles
from tests.explain.kernels import EXAMPLES


def check_account(program, timeline, soc):
    """The account against the timeline, block by block and pipe by pipe."""
    found = account(program, timeline, soc)
    for block, line in zip(found.blocks, timeline.cores, strict=True):
        pipe_of = np.array([instr.pipe for instr in line.program.instrs])
        for name, pipe in block.pipes.items():
            gaps = pipe.gaps
            assert (gaps.end > gaps.begin).all()
            assert (gaps.begin[1:] >= gaps.end[:-1]).all(), name
            if len(gaps):
                assert line.begin <= gaps.begin[0]
                assert gaps.end[-1] <= line.finish
            assert pipe.work_cycles == work_cycles(block.columns, name, line)
            assert pipe.busy_cycles == busy_cycles(line, name, pipe_of)
            assert sum(pipe.by_reason(in_flight=False).values()) == line.finish - line.begin - pipe.busy_cycles
    return found


def work_cycles(columns, name, line):
    prices = columns.prices
    if name == "scalar":
        return line.scalar_cycles
    at = prices.queues[("vec", "mte2", "mte3").index(name)]
    return int((prices.occupancy - prices.conflict)[at].sum()) if name == "vec" else int(columns.own[at].sum())


def busy_cycles(line, name, pipe_of):
    if name == "scalar":
        return line.scalar_cycles
    at = [i for i, instr in enumerate(line.program.instrs) if instr.pipe is PIPES[name] and works(instr)]
    return union_cycles(np.array([line.start[i] for i in at]), np.array([line.end[i] for i in at]))


def works(instr):
    return type(instr.work).__name__ not in ("FlagWork", "BarrierWork", "SyncWork")


@pytest.mark.parametrize(("op", "soc"), EXAMPLES)
def test_gaps_of_examples_add_up_and_name_their_lines(op, soc):
    result = run(op, values=False, soc=soc)
    found = check_account(result.program, result.timeline, result.chip)
    for total in found.sums:
        named = total.cause if total.reason is Reason.DONE else total.instr
        if total.pipe == "scalar" and total.reason is Reason.DONE:
            named = total.cause
        assert named is not None, total
        assert named.place is not None, total
        assert named.place.line > 0
    metrics = measure(result.program, result.timeline)
    for name, use in metrics.pipes.items():
        idle = sum(s.us * (1 - s.in_flight_cycles / s.cycles) for s in found.sums if s.pipe == name)
        assert use.busy_us == pytest.approx(metrics.aiv_time_us.mean - idle, abs=1e-9)
