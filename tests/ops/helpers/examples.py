"""Examples run as they stand, as a user's would: in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def run(command: list[str], path: str = "") -> list[str]:
    """Lines of output of a command that finds this clone's ascend_sim, and the programs in `path` first."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PATH": f"{path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def run_python(operator: str, name: str) -> list[str]:
    """Lines of output of an operator's example."""
    return run([sys.executable, str(ROOT / "ops" / operator / "examples" / name)])


def run_shell(operator: str, name: str, folder: Path) -> list[str]:
    """The same for a shell script, which works in `folder` and finds `python` and `ascend-sim`."""
    programs = folder / "bin"
    programs.mkdir()
    start = "import sys; from ascend_sim.cli import main; sys.exit(main())"
    for program, command in (("python", ""), ("ascend-sim", f"-c '{start}'")):
        file = programs / program
        file.write_text(f'#!/bin/sh\nexec "{sys.executable}" {command} "$@"\n')
        file.chmod(0o755)
    return run(["sh", str(ROOT / "ops" / operator / "examples" / name), str(folder)], str(programs))
