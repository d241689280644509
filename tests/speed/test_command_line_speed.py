"""How long the command line takes from the shell, in processor time: other work on the machine must not decide."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.speed.yardstick import reference_seconds

ROOT = Path(__file__).parents[2]


def seconds(*arguments: str) -> float:
    """Processor time of one command in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "ascend_sim", *arguments]
    subprocess.run(command, capture_output=True, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


@pytest.mark.parametrize(
    ("arguments", "limit"),
    [
        (["--help"], 0.4),
        (["run", "--help"], 0.8),
        (["run", "inplace_partial_rotary_mul"], 1.5),
        (["tiling", "inplace_partial_rotary_mul"], 1.0),
    ],
)
def test_a_command_answers_in_a_moment(arguments, limit):
    assert reference_seconds(lambda: seconds(*arguments), tries=3) < limit
