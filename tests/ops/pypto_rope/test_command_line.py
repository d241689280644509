"""pypto_rope from the shell: run, tiling, ops."""

from __future__ import annotations

import json

import pytest

from ascend_sim.cli.guard import invoke

RMS_NORM = (
    *("-i", "x=37,16,128:bfloat16", "-i", "cos=37,128:bfloat16", "-i", "sin=37,128:bfloat16"),
    *("-i", "weight=128:bfloat16", "--attr", "kernel=rms_norm"),
)
VISION = (
    *("-i", "x=31,16,128:float16", "-i", "cos=31,128:float16", "-i", "sin=31,128:float16"),
    *("-i", "k=31,2,128:float16", "--attr", "kernel=vision"),
)


def out(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert invoke(arguments) == 0
    return str(capsys.readouterr().out)


def test_run(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(out(capsys, "run", "pypto_rope", *RMS_NORM, "--json"))
    assert found["op"] == "pypto_rope"
    assert found["values"]["ok"] is True
    assert found["tiling"]["block_dim"] == 5
    text = out(capsys, "run", "pypto_rope", *RMS_NORM)
    for part in (
        "Kernel     qk_rope, 5 blocks, ",
        "Tiling     key 3: kernel rms_norm, tiles of 8,16,128, all buffers shared by lifetime, pipes take\n",
        "           5 vector cores: 1 tile each, 1 loop of 1 tile\n",
        "UB         168,960 of 196,352 B (86.0 %) ",
        "rms_norm_rope.py:",  # waits and the timeline name lines of the PyPTO file
    ):
        assert part in text


def test_tiling(capsys: pytest.CaptureFixture[str]) -> None:
    text = out(capsys, "tiling", "pypto_rope", *VISION)
    for part in (
        "Tiling     key 1: kernel vision, tiles of 31,16,32, loads double-buffered, results\n",
        "           block dim 8, workspace 0 B\n",
        "Fields     path vision, tile 31,16,32, tasks 8,\n",
    ):
        assert part in text


def test_ops(capsys: pytest.CaptureFixture[str]) -> None:
    text = out(capsys, "ops", "pypto_rope")
    assert "On ascend910b, ascend910_93\n" in text
    for kernel in ("skeleton", "vision", "mrope", "rms_norm", "interleave"):
        assert f"    {kernel}: " in text


def test_a_refusal_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert invoke(("run", "pypto_rope", *VISION[:-2], "--attr", "kernel=skeleton")) == 2
    assert capsys.readouterr().err.splitlines()[-1] == "error: PyptoRope: kernel skeleton takes no input k"
