from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from ascend_sim.cli.guard import invoke

ROOT = Path(__file__).parents[2]


@dataclass
class Answer:
    """What a command line left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def cli(capsys):
    """Run a command line in this process: `cli("run", "inplace_partial_rotary_mul")`."""

    def call(*arguments: str) -> Answer:
        capsys.readouterr()
        code = invoke(arguments)
        return Answer(code, *capsys.readouterr())

    return call


@pytest.fixture
def refused(cli):
    """Run a command line that must end with one line on stderr and exit code 2, and give that line."""

    def call(*arguments: str) -> str:
        answer = cli(*arguments)
        assert (answer.code, answer.out) == (2, "")
        assert answer.err.startswith("error: ")
        assert answer.err.count("\n") == 1
        return answer.err.removeprefix("error: ").rstrip("\n")

    return call


@pytest.fixture
def shell():
    """Run a command line in a process of its own, as a shell does."""

    def call(*arguments: str, **options) -> subprocess.CompletedProcess:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "ascend_sim", *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, **options)

    return call
