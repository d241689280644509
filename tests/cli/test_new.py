from __future__ import annotations

import json
import subprocess
import sys

import pytest


def test_the_operator_runs_as_it_is(cli, tmp_path):
    folder = tmp_path / "my_rope"
    shown = cli("new", "my_rope", "--into", str(tmp_path))
    assert shown.code == 0
    assert f"`ascend-sim run {folder}` runs it" in shown.out
    run = cli("run", str(folder), "-i", "x=3,10001:float32", "--attr", "factor=0.3", "--json")
    assert run.code == 0
    assert run.json["op"] == "my_rope"
    assert run.json["values"]["exact"]
    assert cli("tiling", str(folder), "-i", "x=3,10001:float32", "--json").json["data"]["total"] == 30003
    assert "factor  number, default 2.0" in cli("ops", str(folder)).out


def test_its_own_tests_pass_and_see_a_wrong_kernel(cli, tmp_path):
    cli("new", "scaled", "--into", str(tmp_path))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path / "scaled")]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
    kernel = tmp_path / "scaled" / "kernel.py"
    kernel.write_text(kernel.read_text().replace("asc.muls", "asc.adds"))
    assert subprocess.run(command, check=False, capture_output=True).returncode == 1


def test_it_can_be_tuned_and_its_tilings_checked(cli, tmp_path):
    folder = tmp_path / "my_rope"
    cli("new", "my_rope", "--into", str(tmp_path))
    call = (str(folder), "-i", "x=64,1003:float32")
    best = tmp_path / "best.json"
    tuned = cli("tune", *call, "--limit", "24", "--workers", "1", "--save", str(best), "--json")
    assert tuned.code == 0
    assert len(tuned.json["tilings"]) >= 20
    assert cli("run", *call, "--tiling", str(best), "--json").json["values"]["exact"]
    own = cli("tiling", *call, "--json").json["data"]
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps({**own, "tile": 12}))
    shown = cli("check-tiling", *call, "--tiling", str(wrong), "--json")
    assert shown.code == 3
    assert shown.json["faults"] == ["tile is 12, it has to be a positive multiple of 8, whole 32 B blocks"]


@pytest.mark.parametrize("name", ["MyRope", "9x", "a-b", "class", "a__b", "../x"])
def test_names_that_are_not_snake_case(cli, tmp_path, name):
    shown = cli("new", name, "--into", str(tmp_path))
    assert shown.code == 2
    assert (
        shown.err
        == f"error: operator name {name!r}: must be in snake case (a-z, 0-9 and single _), for example my_rope\n"
    )
    assert not list(tmp_path.iterdir())


def test_what_exists_is_left_alone(cli, tmp_path):
    (tmp_path / "mine").mkdir()
    shown = cli("new", "mine", "--into", str(tmp_path))
    assert shown.code == 2
    assert shown.err == f"error: '{tmp_path / 'mine'}' exists already; give another name, or remove it first\n"
    missing = cli("new", "mine", "--into", str(tmp_path / "nowhere"))
    assert missing.err == f"error: '{tmp_path / 'nowhere'}' is no directory to make mine in\n"


def test_folders_that_hold_no_operator(cli, tmp_path):
    assert cli("run", str(tmp_path)).err == f"error: '{tmp_path}' is not the folder of an operator: it has no op.py\n"
    cli("new", "torn", "--into", str(tmp_path))
    (tmp_path / "torn" / "op.py").write_text("OP = 1\n")
    shown = cli("run", str(tmp_path / "torn"))
    assert shown.err == (
        f"error: {tmp_path / 'torn' / 'op.py'} must define OP, an Operator named 'torn' as its folder is\n"
    )
    cli("new", "broken", "--into", str(tmp_path))
    (tmp_path / "broken" / "tiling.py").write_text("def tiling(:\n")
    shown = cli("run", str(tmp_path / "broken"))
    assert shown.code == 2
    assert shown.err.startswith(f"error: cannot load {tmp_path / 'broken' / 'op.py'}: SyntaxError: invalid syntax")
