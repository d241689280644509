"""The kernel files and the examples run as they stand, and print what they promise."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from ascend_sim.cli.guard import invoke

OPERATOR = Path(__file__).parents[3] / "ops" / "pypto_rope"
PEAK = r"peak unified buffer ([\d,]+) of 196,352 B"
SMOKE = {
    "skeleton": [r"skeleton \[8, 64, 128\]: exact"],
    "vision": [r"vision \[31, 16, 128\]: right"],
    "mrope": [r"mrope \[1, 16, 31, 128\]: exact", r"mrope \[1, 2, 31, 128\]: exact"],
    "rms_norm_rope": ["rms_norm_rope N=16: right", "rms_norm_rope N=8: right"],
    "interleave": [rf"interleave \[{shape}, 64\]: exact" for shape in ("4, 128, 2", "1, 1, 1024", "2, 8, 32")],
    "half_tables": [f"{layout}, {pairs}: exact" for layout in ("BSND", "BNSD") for pairs in ("halves", "neighbours")],
}


@pytest.mark.parametrize("name", SMOKE)
def test_a_kernel_file_is_its_own_smoke_test(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each prints its kernels' peak of unified buffer, which is within the capacity."""
    runpy.run_path(str(OPERATOR / f"{name}.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(SMOKE[name])
    for line, promised in zip(lines, SMOKE[name], strict=True):
        found = re.fullmatch(f"{promised}; {PEAK}", line)
        assert found, line
        assert 0 < int(found[1].replace(",", "")) <= 196_352


def in_a_process(path: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, str(path)],
        env=os.environ | {"PYTHONPATH": str(OPERATOR.parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, re.sub(r"^note: .*\n", "", done.stderr)) == (0, "")
    return done.stdout.splitlines()


def test_python_runs_a_kernel_file() -> None:
    (line,) = in_a_process(OPERATOR / "skeleton.py")
    assert re.fullmatch(rf"skeleton \[8, 64, 128\]: exact; {PEAK}", line)


def run_example(name: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    runpy.run_path(str(OPERATOR / "examples" / name), run_name="__main__")
    return capsys.readouterr().out.splitlines()


def test_first_run(capsys: pytest.CaptureFixture[str]) -> None:
    lines = run_example("first_run.py", capsys)
    assert lines[0] == "every bit is as the golden has it"
    assert re.fullmatch(r"8 cores, 268 instructions, \d\.\d\d us", lines[1])
    assert lines[2] == "limited by mte2"


def test_tiles(capsys: pytest.CaptureFixture[str]) -> None:
    head, *lines = run_example("tiles.py", capsys)
    assert head.split() == ["rows", "unroll", "1", "unroll", "2"]
    assert [line.split()[0] for line in lines] == ["16", "32", "64", "128", "256"]
    for line in lines[:-1]:
        assert len(re.findall(r" (\d+\.\d\d) us, +([\d,]+) B, limited by (?:scalar|mte2)", line)) == 2
    assert lines[-1].count("the tile [1, 128, 128] would fit") == 2


def test_listing(capsys: pytest.CaptureFixture[str]) -> None:
    lines = run_example("listing.py", capsys)
    assert lines[0] == "kernel turn on Ascend910B3: 4 of 40 vector cores"
    assert lines[3] == "  i in ROWS(0, ((x.shape[0] + 31) // 32), 1): add -> y [32, 128] in tiles of [32, 128]"
    assert sum("listing.py:" in line for line in lines) == 17


def test_plain_pypto(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(("exec", "--pypto", str(OPERATOR / "examples" / "plain_pypto.py"))) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if "positions" in line] == ["16 positions: exact", "100 positions: exact"]
    assert [line.split(" on ")[0] for line in lines if " on Ascend910B3" in line] == ["rope", "rope"]
