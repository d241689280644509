"""The example runs as it stands, and prints what it promises."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_round_trip() -> None:
    example = ROOT / "ops/rotary_position_embedding_grad/examples/round_trip.py"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(example)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert float(lines[0].split()[-1]) < 2e-6
    assert lines[1].endswith("dcos (1, 64, 1, 128)")
    assert lines[2].startswith("forward ")
