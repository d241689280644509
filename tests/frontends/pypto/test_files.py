"""Files written for PyPTO, with no word of the simulator, run with the shim alone."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from ascend_sim.cli.guard import invoke
from ascend_sim.frontends.pypto.errors import FeError
from ascend_sim.frontends.pypto.shim import install_shim, remove_shim

FILES = Path(__file__).parent / "files"
ROOT = Path(__file__).parents[3]
PRINTED = {
    "vision_rope.py": ["device 0", "vision rope: passed"],
    "rms_norm_rope.py": [f"{tokens} tokens: passed" for tokens in (32, 8, 1, 19)],
    "interleave_rope.py": [f"interleave rope [{b}, 128, {s}, 64]: passed" for b, s in ((4, 2), (1, 9), (2, 1))],
}


@pytest.fixture
def shim() -> Iterator[None]:
    install_shim()
    yield
    remove_shim()


def test_the_files_say_nothing_of_the_simulator() -> None:
    assert sorted(path.name for path in FILES.glob("*.py")) == sorted(PRINTED)
    for path in FILES.glob("*.py"):
        assert "\nimport pypto\n" in path.read_text()
        assert "ascend" not in path.read_text()


@pytest.mark.parametrize("name", PRINTED)
def test_a_file_runs_with_the_shim_installed(name: str, shim: None, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(FILES / name), run_name="__main__")
    assert capsys.readouterr().out.splitlines() == PRINTED[name]


def test_the_shim_comes_and_goes_and_replaces_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "pypto" not in sys.modules
    install_shim()
    install_shim()
    from pypto import frontend  # type: ignore[import-not-found]  # noqa: PLC0415 - the shim's

    assert frontend.jit.__module__.startswith("ascend_sim.")
    remove_shim()
    assert "pypto" not in sys.modules
    other = types.ModuleType("pypto")
    other.__file__ = "/elsewhere/pypto/__init__.py"
    monkeypatch.setitem(sys.modules, "pypto", other)
    text = (
        "pypto is imported already, from /elsewhere/pypto/__init__.py: the shim does not replace it; install it before"
    )
    with pytest.raises(FeError, match=f"^{re.escape(text)}$"):
        install_shim()
    remove_shim()
    assert sys.modules["pypto"] is other


def in_a_process(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TILE_FWK_DEVICE_ID": "3"}
    return subprocess.run(
        [sys.executable, "-m", *arguments], capture_output=True, text=True, env=environment, check=False
    )


def test_python_m_runs_a_file() -> None:
    done = in_a_process("ascend_sim.frontends.pypto", str(FILES / "vision_rope.py"))
    assert (done.returncode, done.stdout.splitlines()) == (0, ["device 3", "vision rope: passed"])
    assert done.stderr == "note: run_mode NPU: NPU and SIM both run on the simulator (ascend-sim)\n"
    done = in_a_process("ascend_sim.frontends.pypto")
    assert (done.returncode, done.stderr) == (1, "usage: python -m ascend_sim.frontends.pypto FILE.py [ARGS]\n")


def test_exec_prints_a_summary_per_launch(capsys: pytest.CaptureFixture[str]) -> None:
    name = "rms_norm_rope.py"
    assert invoke(("exec", "--pypto", "--soc", "Ascend910B4", str(FILES / name))) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.endswith("tokens: passed")] == PRINTED[name]
    heads = [line.split(" on ") for line in lines if " on Ascend" in line]
    assert [head[0] for head in heads] == ["qk_norm_rope"] * 4
    assert {head[1].split()[0] for head in heads} == {"Ascend910B4"}
    assert sum(line.startswith("Time       Task Duration ") for line in lines) == 4
    assert any("rms_norm_rope.py:" in line for line in lines)  # waits and the timeline point into the file
    assert "pypto" not in sys.modules


def test_exec_without_the_shim_finds_no_pypto(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(("exec", str(FILES / "vision_rope.py"))) == 1
    assert "ModuleNotFoundError: No module named 'pypto'" in capsys.readouterr().err


def test_exec_shows_where_a_rule_is_broken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "untiled.py"
    file.write_text(
        "import numpy as np\nimport pypto\n\n\n@pypto.frontend.jit\n"
        "def kernel(x: pypto.Tensor(), y: pypto.Tensor()):\n    y[:] = pypto.exp(x)\n\n\n"
        "x = np.zeros((8, 8), np.float32)\nkernel(x, x)\n"
    )
    assert invoke(("exec", "--pypto", str(file))) == 2
    text = (
        f"error: {file}:7: [0xf00003] exp: no vector tile shape is set; call pypto.set_vec_tile_shapes(...) with 2 "
        "sizes before the first vector operation"
    )
    assert capsys.readouterr().err.splitlines()[-1] == text
