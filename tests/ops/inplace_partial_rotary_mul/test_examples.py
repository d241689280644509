"""The examples run as they stand, and print what they promise."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from helpers.examples import run_python, run_shell

OP = "inplace_partial_rotary_mul"


def test_first_run() -> None:
    lines = run_python(OP, "first_run.py")
    assert lines[0].startswith("a rotation keeps lengths: largest change ")
    assert float(lines[0].split()[-1]) < 2e-3
    assert lines[1].startswith("40 blocks, 2384 instructions, ")


def test_paths() -> None:
    lines = run_python(OP, "paths.py")
    assert [line[39:60].split() for line in lines] == [
        ["1", "noop"],
        ["1", "fast_broadcast"],
        ["2", "fast_elementwise"],
        ["2000", "split_s"],
        ["2001", "split_s"],
        ["2200", "split_bsn"],
    ]
    assert all(float(line.split()[-2]) > 0 for line in lines)


def test_templates_950() -> None:
    lines = [line.split() for line in run_python(OP, "templates_950.py")]
    assert [line[1] for line in lines] == ["A", "B", "AB", "BAB", "ABA", "BA"]
    assert all(float(line[-2]) > 0 for line in lines)


@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a POSIX shell")
def test_from_shell(tmp_path: Path) -> None:
    assert any("key 2030" in line for line in run_shell(OP, "from_shell.sh", tmp_path))
    with np.load(tmp_path / "out.npz") as saved:
        assert np.array_equal(saved["out_x"], saved["golden_x"])
        assert not np.array_equal(saved["out_x"], saved["in_x"])
    assert json.loads((tmp_path / "trace.json").read_text())
