"""Loading a chip is fast enough for a command line."""

from __future__ import annotations

from time import process_time

import pytest

from ascend_sim.soc import files, load
from tests.speed.yardstick import reference_seconds


@pytest.mark.parametrize("name", ["ascend910b", "Ascend950PR_9599"])
def test_one_chip_loads_in_12_ms(name: str) -> None:
    def once() -> float:
        files._parse.cache_clear()  # as in a new process
        begin = process_time()  # other processes do not count
        load(name)
        return process_time() - begin

    assert reference_seconds(once, tries=8) < 0.012
