"""The example runs as it stands, and prints what it promises."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_keys() -> None:
    example = ROOT / "ops/apply_rotary_pos_emb/examples/keys.py"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(example)], env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split(" key ")[1].split()[0] for line in lines] == ["1", "4", "3", "4"]
    times = [float(line.split(" us")[0].split()[-1]) for line in lines]
    assert 0 < times[0] < times[2] < times[3]
