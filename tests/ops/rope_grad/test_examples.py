"""The examples of the ATB pair run as they stand, and print what they promise."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def run(example: str) -> list[str]:
    """Lines that an example prints with this clone's ascend_sim."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "ops" / example)],
        env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_first_run() -> None:
    lines = run("rope_grad/examples/first_run.py")
    assert lines[0] == "every bit is as the operator defines it"
    assert lines[1] == "its distance from the gradient of the rotation is 36 % of that gradient"
    assert lines[2].startswith("8 cores, 1400 instructions, ")


def test_forward_and_backward() -> None:
    wrong, right, _ = run("rope_grad/examples/forward_and_backward.py")
    assert re.fullmatch(r"rope_grad +\d+\.\d\d us, off the gradient by +77\.\d\d %", wrong)
    assert re.fullmatch(r"atb_rope with -sin +\d+\.\d\d us, off the gradient by +0\.0\d %", right)


def test_walk_through_atb() -> None:
    lines = run("rope_grad/examples/walk_through_atb.py")
    assert [line[:15].strip() for line in lines] == [
        "CreateOperation", "InferShape", "Setup", "Runner", "kernel graph", "kernel", "Execute", "on the device",
        "destroyed",
    ]  # fmt: skip
    assert lines[4].endswith("1 node: RopeGradOperation, RopeGrad(qSeqLen=(2, 1, 4, 4))")
    assert lines[5].endswith("RopeGradKernel: 2 blocks, 56 B of tiling data")
    assert lines[8].endswith("0 slots in use")


def test_first_run_of_the_forward_operator() -> None:
    lines = run("atb_rope/examples/first_run.py")
    assert float(lines[0].split()[-1]) < 5e-3
    assert lines[1].startswith("id 23, 34 cores, ")


def test_tiling_ids() -> None:
    lines = run("atb_rope/examples/tiling_ids.py")
    assert [int(line[37:39]) for line in lines] == [20, 20, 23, 23, 21, 21, 22, 22, 24, 22]


@pytest.mark.parametrize("operator", ["rope_grad", "atb_rope"])
def test_the_page_names_every_example(operator: str) -> None:
    folder = ROOT / "ops" / operator
    page = (folder / "README.md").read_text()
    assert all(f"`examples/{example.name}`" in page for example in (folder / "examples").glob("*.py"))
