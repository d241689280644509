"""The example runs as it stands, and prints what it promises."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_modes() -> None:
    example = ROOT / "ops/rotary_position_embedding/examples/modes.py"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(example)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "half       [1 2 3 4 5 6 7 8] -> [-5 -6 -7 -8  1  2  3  4]"
    assert lines[1] == "interleave [1 2 3 4 5 6 7 8] -> [-2  1 -4  3 -6  5 -8  7]"
    half, interleave = (float(line.split(" us")[0].split()[-1]) for line in lines[2:])
    assert 0 < half < interleave
