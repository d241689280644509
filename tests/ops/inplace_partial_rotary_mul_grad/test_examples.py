"""The example runs as it stands, and prints what it promises."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "ops/inplace_partial_rotary_mul_grad/examples"


def test_forward_and_back() -> None:
    command = [sys.executable, str(EXAMPLES / "forward_and_back.py")]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    rotated, back, *pairs = done.stdout.splitlines()
    assert float(rotated.split("up to ")[1].split(",")[0]) > 1
    assert float(back.split("up to ")[1].split(",")[0]) < 1e-5
    assert [line.split()[1] for line in pairs] == ["float16", "bfloat16", "float32"]
