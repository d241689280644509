"""The replay knows every cause: with nothing changed it gives the timeline back."""

from __future__ import annotations

import pytest

from ascend_sim.api import run
from ascend_sim.explain.columns import Columns
from ascend_sim.explain.replay import replay
from tests.explain.kernels import OPERATORS


@pytest.mark.parametrize("op", OPERATORS)
def test_replay_gives_examples_back(op):
    result = run(op, values=False)
    found = replay(Columns(result.program, result.timeline, result.chip))
    assert found == [line.finish for line in result.timeline.cores]
