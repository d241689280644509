"""The replay knows every cause: with nothing changed it gives the timeline back."""

from __future__ import annotations

import pytest

from ascend_sim.api import run
from ascend_sim.explain.columns import Columns
from ascend_sim.explain.replay import replay
from tests.explain.kernels import EXAMPLES


@pytest.mark.parametrize(("op", "soc"), EXAMPLES)
def test_replay_gives_examples_back(op, soc):
    result = run(op, values=False, soc=soc)
    found = replay(Columns(result.program, result.timeline, result.chip))
    assert found == [line.finish for line in result.timeline.cores]
