"""The critical path: steps that touch each other from the slowest core's begin to its finish."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ascend_sim.api import run
from ascend_sim.explain import account
from tests.explain.kernels import EXAMPLES


def check_path(program, timeline, soc):
    steps = account(program, timeline, soc).path
    slowest = max(timeline.cores, key=lambda line: line.finish)
    mine = [line for line in timeline.cores if line.core == slowest.core]
    assert steps[0].begin == min(line.begin for line in mine)
    assert steps[-1].end == slowest.finish == timeline.duration_cycles
    assert all(step.end > step.begin for step in steps)
    assert all(later.begin == step.end for step, later in pairwise(steps))
    return steps


@pytest.mark.parametrize(("op", "soc"), EXAMPLES)
def test_path_of_examples(op, soc):
    result = run(op, values=False, soc=soc)
    check_path(result.program, result.timeline, result.chip)
