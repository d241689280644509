"""The examples run as they stand, and print what they promise."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "ops/inplace_partial_rotary_mul/examples"


def run(command: list[str], path: str = "") -> str:
    """Output of a command that finds this clone's ascend_sim, and the programs in `path` first."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PATH": f"{path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_first_run() -> None:
    lines = run([sys.executable, str(EXAMPLES / "first_run.py")]).splitlines()
    assert lines[0].startswith("a rotation keeps lengths: largest change ")
    assert float(lines[0].split()[-1]) < 2e-3
    assert lines[1].startswith("40 blocks, 2384 instructions, ")


def test_paths() -> None:
    lines = run([sys.executable, str(EXAMPLES / "paths.py")]).splitlines()
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
    lines = [line.split() for line in run([sys.executable, str(EXAMPLES / "templates_950.py")]).splitlines()]
    assert [line[1] for line in lines] == ["A", "B", "AB", "BAB", "ABA", "BA"]
    assert all(float(line[-2]) > 0 for line in lines)


@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a POSIX shell")
def test_from_shell(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    start = "import sys; from ascend_sim.cli import main; sys.exit(main())"
    for name, command in (("python", ""), ("ascend-sim", f"-c '{start}'")):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {command} "$@"\n')
        program.chmod(0o755)
    text = run(["sh", str(EXAMPLES / "from_shell.sh"), str(tmp_path)], str(programs))
    assert "key 2030" in text
    with np.load(tmp_path / "out.npz") as saved:
        assert np.array_equal(saved["out_x"], saved["golden_x"])
        assert not np.array_equal(saved["out_x"], saved["in_x"])
    assert json.loads((tmp_path / "trace.json").read_text())
