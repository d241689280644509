"""Sweeps: axes, results that survive being killed, refusals that touch nothing."""

from __future__ import annotations

import multiprocessing
import random
import re
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from ascend_sim.errors import AscendSimError, InputError
from ascend_sim.host.registry import operator_named
from ascend_sim.host.tensors import TensorInfo
from ascend_sim.tune import sweep as sweeps
from ascend_sim.tune.axes import read_axes
from ascend_sim.tune.processes import Processes
from ascend_sim.tune.sweep import Sweep, run_sweep

OP = operator_named("inplace_partial_rotary_mul")
INPUTS = {name: TensorInfo((1, 4, heads, 32), "float16") for name, heads in (("x", 2), ("cos", 1), ("sin", 1))}


def a_sweep(*over: str, **options) -> Sweep:
    return Sweep(OP, INPUTS, OP.bind_attrs({"partial_slice": (0, 32)}), "Ascend910B3", read_axes(over), **options)


def test_axes_and_what_follows_them():
    found = a_sweep("x.S=2..16:x2", "soc=Ascend910B3,ascend950", "dtype=float16,float32").points()
    assert [point.number for point in found] == list(range(16))
    assert list(found[1].at.values()) == ["2", "Ascend910B3", "float32"]
    last = found[-1]
    assert (last.soc, last.inputs["x"]) == ("ascend950", TensorInfo((1, 16, 2, 32), "float32"))
    assert last.inputs["cos"] == TensorInfo((1, 16, 1, 32), "float32")
    assert [axis.values for axis in read_axes(["x.1=3..9:+3", "a=5,5,6"])] == [("3", "6", "9"), ("5", "6")]


@pytest.mark.parametrize(
    ("over", "text"),
    [
        ("x.S=9..2", "--over 'x.S=9..2': the range is empty, 9 is more than 2"),
        ("x.S=1..", "--over 'x.S=1..': a range is FIRST..LAST, FIRST..LAST:xFACTOR or FIRST..LAST:+STEP"),
        (
            "x.S=1..8:x1",
            "--over 'x.S=1..8:x1': such a range never ends: factors are 2 or more (from 1 on), steps 1 or more",
        ),
        ("x.Q=1", "--over x.Q: dim 'Q' is not one of 0 to 3 or B, S, N, D"),
        ("x.S=many", "--over x.S=many: a size is a whole number"),
        ("x.S=1..900000", "the axes have 900,000 points; a sweep takes at most 100,000"),
    ],
)
def test_bad_axes(over: str, text: str, tmp_path: Path):
    with pytest.raises(InputError, match=f"^{re.escape(text)}$"):
        run_sweep(a_sweep(over), tmp_path / "r.sweep", Processes(1))
    assert not (tmp_path / "r.sweep").exists()


def test_refused_points_say_why(tmp_path: Path):
    rows = run_sweep(a_sweep("x.D=32,31"), tmp_path / "r.sweep", Processes(1))
    assert rows[0][1]["duration_us"] > 0
    assert rows[1][1]["refused"].startswith("InplacePartialRotaryMul: ")
    with pytest.raises(AscendSimError):
        run_sweep(a_sweep("soc=none"), tmp_path / "s.sweep", Processes(1))


def test_killed_at_ten_moments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    one = a_sweep("x.S=2..40:+2")
    expected = run_sweep(one, tmp_path / "whole.sweep", Processes(1))
    path, draw = tmp_path / "killed.sweep", random.Random(7)
    context = multiprocessing.get_context("fork")
    for _ in range(10):
        child = context.Process(target=run_sweep, args=(one, path, Processes(1)))
        child.start()
        time.sleep(draw.uniform(0, 0.25))
        assert child.pid is not None
        child.kill()
        child.join()
        assert child.exitcode in (0, -signal.SIGKILL)
    before = set()
    if path.exists() and path.stat().st_size:
        with closing(sqlite3.connect(path)) as connection:
            if connection.execute("SELECT name FROM sqlite_master WHERE name = 'points'").fetchone():
                before = {number for (number,) in connection.execute("SELECT number FROM points")}
    timed = []
    original = sweeps.time_point
    monkeypatch.setattr(sweeps, "time_point", lambda given, at: timed.append(at.number) or original(given, at))
    assert run_sweep(one, path, Processes(1)) == expected
    assert sorted(timed) == sorted(set(range(20)) - before)
    timed.clear()
    assert run_sweep(one, path, Processes(1)) == expected
    assert timed == []


def test_processes_give_the_same(tmp_path: Path):
    one = a_sweep("x.S=2..8:x2")
    assert run_sweep(one, tmp_path / "1.sweep", Processes(1)) == run_sweep(one, tmp_path / "2.sweep", Processes(2))


def test_a_file_of_another_sweep(tmp_path: Path):
    path = tmp_path / "r.sweep"
    run_sweep(a_sweep("x.S=2,4"), path, Processes(1))
    kept = path.read_bytes()
    text = (
        f"results file {path} is of another sweep (axes is {{'x.S': ['2', '4']}} there and {{'x.S': ['2', '6']}} "
        "here); give another --results"
    )
    with pytest.raises(InputError, match=f"^{re.escape(text)}$"):
        run_sweep(a_sweep("x.S=2,6"), path, Processes(1))
    assert path.read_bytes() == kept
    path.write_text("something else")
    with pytest.raises(InputError, match=r"is not one of a sweep \(it is no SQLite file\); give another --results$"):
        run_sweep(a_sweep("x.S=2,6"), path, Processes(1))
    assert path.read_text() == "something else"
