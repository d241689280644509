"""The examples run as they stand, and print what they promise."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from helpers.examples import run_python, run_shell

OP = "apply_rotary_pos_emb_grad"


def test_phases_950() -> None:
    lines = [line.split(" us") for line in run_python(OP, "phases_950.py")]
    assert [line[0].split()[1] for line in lines] == ["BAB", "AB", "A"]
    assert all(0 < float(alone.split()[-1]) < float(full.split()[-1]) for alone, full, _ in lines)


def test_forward_and_back() -> None:
    rotated, back, table = run_python(OP, "forward_and_back.py")
    assert float(rotated.split("up to ")[1].split(",")[0]) > 1
    assert float(back.split("up to ")[1].split(",")[0]) < 2e-6
    assert float(table.split("up to ")[1].split()[0]) < 1e-4


@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a POSIX shell")
def test_from_shell(tmp_path: Path) -> None:
    assert any("template BAB" in line for line in run_shell(OP, "from_shell.sh", tmp_path))
    with np.load(tmp_path / "out.npz") as saved:
        names = ("grad_query", "grad_key", "grad_cos", "grad_sin")
        assert all(np.array_equal(saved[f"out_{name}"], saved[f"golden_{name}"]) for name in names)
    assert json.loads((tmp_path / "trace.json").read_text())
