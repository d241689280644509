"""Random programs: the account adds up, the path is as long as the slowest core, the replay gives the times back."""

from __future__ import annotations

from hypothesis import given, settings

from ascend_sim.errors import DeadlockError
from ascend_sim.explain.columns import Columns
from ascend_sim.explain.replay import replay
from ascend_sim.machine import Machine
from tests.explain.test_account import check_account
from tests.explain.test_path import check_path
from tests.machine.test_reference import SETTINGS, launches


@settings(SETTINGS, max_examples=60)
@given(launches())
def test_random_programs_are_accounted_for(launch):
    program, soc = launch
    try:
        timeline = Machine(soc).run(program, l2="cold")
    except DeadlockError:
        return
    check_account(program, timeline, soc)
    check_path(program, timeline, soc)
    assert replay(Columns(program, timeline, soc)) == [line.finish for line in timeline.cores]
