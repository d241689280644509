"""The examples run as they stand, and print what they promise."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from helpers.examples import run_python, run_shell

OP = "rotary_position_embedding"


def test_modes() -> None:
    lines = run_python(OP, "modes.py")
    assert lines[0] == "half       [1 2 3 4 5 6 7 8] -> [-5 -6 -7 -8  1  2  3  4]"
    assert lines[1] == "interleave [1 2 3 4 5 6 7 8] -> [-2  1 -4  3 -6  5 -8  7]"
    half, interleave = (float(line.split(" us")[0].split()[-1]) for line in lines[2:])
    assert 0 < half < interleave


def test_templates_950() -> None:
    lines = [line.split() for line in run_python(OP, "templates_950.py")]
    assert lines[0][-4:] == ["half", "interleave", "quarter", "interleave-half"]
    assert [line[1] for line in lines[1:]] == ["A", "B", "AB", "BAB", "ABA", "BA"]
    assert all(0 < float(time) < 20 for line in lines[1:] for time in line[-8::2])


@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a POSIX shell")
def test_from_shell(tmp_path: Path) -> None:
    assert any("key 20020" in line for line in run_shell(OP, "from_shell.sh", tmp_path))
    with np.load(tmp_path / "out.npz") as saved:
        assert np.array_equal(saved["out_y"], saved["golden_y"])
    assert json.loads((tmp_path / "trace.json").read_text())
