"""The examples run as they stand, and print what they promise."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from helpers.examples import run_python, run_shell

OP = "apply_rotary_pos_emb"


def test_keys() -> None:
    lines = run_python(OP, "keys.py")
    assert [line.split(" key ")[1].split()[0] for line in lines] == ["1", "4", "3", "4"]
    times = [float(line.split(" us")[0].split()[-1]) for line in lines]
    assert 0 < times[0] < times[2] < times[3]


def test_templates_950() -> None:
    lines = [line.split() for line in run_python(OP, "templates_950.py")]
    assert lines[0][-3:] == ["half", "interleave", "quarter"]
    assert [line[0] for line in lines[1:]] == ["AB", "BAB", "ABA", "BA"]
    assert all(0 < float(time) < 20 for line in lines[1:] for time in line[2::2])


@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a POSIX shell")
def test_from_shell(tmp_path: Path) -> None:
    assert any("key 20030" in line for line in run_shell(OP, "from_shell.sh", tmp_path))
    with np.load(tmp_path / "out.npz") as saved:
        assert all(np.array_equal(saved[f"out_{name}"], saved[f"golden_{name}"]) for name in ("query", "key"))
    assert json.loads((tmp_path / "trace.json").read_text())
