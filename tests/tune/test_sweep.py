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
from ascend_sim.frontends.pypto import options
from ascend_sim.host.registry import operator_at, operator_named
from ascend_sim.host.tensors import TensorInfo
from ascend_sim.scaffold.writing import write_operator
from ascend_sim.tune import sweep as sweeps
from ascend_sim.tune.axes import read_axes
from ascend_sim.tune.processes import Processes
from ascend_sim.tune.store import Store
from ascend_sim.tune.sweep import Sweep, run_sweep
from ascend_sim.version import VERSION

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
        (
            "x.S=1..",
            "--over 'x.S=1..': a range is FIRST..LAST, FIRST..LAST:xFACTOR or FIRST..LAST:+STEP, of numbers of up to "
            "18 digits",
        ),
        (
            f"x.S=1..{'9' * 5000}:x2",
            "--over 'x.S=1..99999...9999999999:x2': a range is FIRST..LAST, FIRST..LAST:xFACTOR or FIRST..LAST:+STEP, "
            "of numbers of up to 18 digits",
        ),
        (
            "x.S=1..8:x1",
            "--over 'x.S=1..8:x1': such a range never ends: factors are 2 or more (from 1 on), steps 1 or more",
        ),
        ("x.Q=1", "--over x.Q: dim 'Q' is not one of 0 to 3 or B, S, N, D"),
        ("x.S=many", "--over x.S: 'many' is no size, which is a whole number of up to 18 digits"),
        ("x.S=²", "--over x.S: '²' is no size, which is a whole number of up to 18 digits"),
        (
            f"x.S={'9' * 5000}",
            "--over x.S: '999999999999...9999999999999' is no size, which is a whole number of up to 18 digits",
        ),
        ("x.S=8,,9", "--over 'x.S=8,,9': a value is empty"),
        ("partial_slice=[0,32],[0", "--over 'partial_slice=[0,32],[0': a bracket is not closed"),
        (
            "partial_slice=0,32",
            "--over partial_slice=0,32: partial_slice takes lists; for one list of 2 numbers write "
            "'partial_slice=[0,32]', for 2 lists of one number 'partial_slice=0;32'",
        ),
        (
            "rotary_mode=foo,bar",
            "InplacePartialRotaryMul: attribute rotary_mode is 'foo'; allowed is an integer or interleave (1)",
        ),
        ("y.S=1", "inplace_partial_rotary_mul has no input 'y'; its inputs are x, cos (also r1), sin (also r2)"),
        ("x.S=1..900000", "the axes have 900,000 points; a sweep takes at most 100,000"),
        ("x.S=1..9000000000000", "the axes have 9,000,000,000,000 points; a sweep takes at most 100,000"),
    ],
)
def test_bad_axes(over: str, text: str, tmp_path: Path):
    with pytest.raises(InputError, match=f"^{re.escape(text)}$"):
        run_sweep(a_sweep(over), tmp_path / "r.sweep", Processes(1))
    assert not (tmp_path / "r.sweep").exists()


@pytest.mark.parametrize("over", [("x.S=8,16", "x.1=4"), ("cos.S=8", "r1.S=16"), ("dtype=float16", "x.dtype=float16")])
def test_one_thing_changed_twice(over: tuple[str, ...]):
    names = [text.partition("=")[0] for text in over]
    with pytest.raises(InputError, match=f"^--over {names[1]} changes what --over {names[0]} changes$"):
        a_sweep(*over).points()


def test_what_axes_change():
    """Sizes that agree follow, those of 1 where the operator's example has more; not where they have their own axis."""
    one = dict.fromkeys(("x", "cos", "sin"), TensorInfo((1, 1, 1, 32), "float16"))
    sweep = Sweep(OP, one, {}, "Ascend910B3", read_axes(["x.S=2", "x.N=4", "cos.B=3", "partial_slice=[0,32]"]))
    assert [str(meaning) for meaning in sweep.meanings()] == [
        "x.S is dim 1 of x, cos and sin",
        "x.N is dim 2 of x",
        "cos.B is dim 0 of cos, x and sin",
        "partial_slice is an attribute",
    ]
    (point,) = sweep.points()
    assert [info.shape for info in point.inputs.values()] == [(3, 2, 4, 32), (3, 2, 1, 32), (3, 2, 1, 32)]
    assert point.attrs == {"partial_slice": (0, 32)}
    both = a_sweep("x.S=8,16", "cos.S=1,8").points()
    assert [[info.shape[1] for info in point.inputs.values()] for point in both[:2]] == [[8, 1, 1], [8, 8, 8]]


def test_inputs_of_other_ranks_follow_where_the_operator_wants_it():
    pypto = operator_named("pypto_rope")

    def change(kernel: str, axis: str, **shapes: tuple[int, ...]) -> str:
        inputs = {name: TensorInfo(shape, "float16") for name, shape in shapes.items()}
        sweep = Sweep(pypto, inputs, pypto.bind_attrs({"kernel": kernel}), "ascend910b", read_axes([axis]))
        return str(sweep.meanings()[0])

    vision = {"x": (64, 8, 64), "cos": (64, 64), "sin": (64, 64), "k": (64, 8, 64)}
    assert change("vision", "x.0=32,16", **vision) == "x.0 is dim 0 of x, k, cos and sin"
    assert change("vision", "x.1=4,16", **vision) == "x.1 is dim 1 of x and k"
    mrope = {"x": (2, 4, 16, 128), "cos": (3, 2, 16, 128), "sin": (3, 2, 16, 128)}
    assert change("mrope", "x.0=4", **mrope) == "x.0 is dim 0 of x and dim 1 of cos and sin"
    assert change("mrope", "x.2=32", **mrope) == "x.2 is dim 2 of x, cos and sin"


def test_dtypes_follow_where_the_operator_wants_it():
    def change(name: str, *over: str, **more: str) -> list[str]:
        op = operator_named(name)
        inputs = {key: TensorInfo(info.shape, more.get(key, info.dtype)) for key, info in op.example.inputs.items()}
        sweep = Sweep(op, inputs, op.bind_attrs(op.example.attrs), op.default_soc, read_axes(over))
        return [str(meaning) for meaning in sweep.meanings()]

    mine = OP.name
    assert change(mine, "cos.dtype=float32,float16") == ["cos.dtype is the dtype of cos and sin"]
    assert change(mine, "r2.dtype=float32") == ["r2.dtype is the dtype of sin and cos"]
    free = {"cos": "float32", "sin": "float32"}
    assert change(mine, "x.dtype=bfloat16", "cos.dtype=int8", **free) == [
        "x.dtype is the dtype of x",  # taken as it is
        "cos.dtype is the dtype of cos",  # taken in no way
    ]
    assert change(mine, "cos.dtype=float32", "sin.dtype=float32") == [
        "cos.dtype is the dtype of cos",
        "sin.dtype is the dtype of sin",
    ]
    assert change("pypto_rope", "x.dtype=bfloat16") == ["x.dtype is the dtype of x, cos and sin"]


def test_lists_of_one_number(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Nor are the notes of kernels told."""
    monkeypatch.setattr(options, "_NOTED", set())
    pypto = operator_named("pypto_rope")
    inputs = dict.fromkeys(("x", "cos", "sin"), TensorInfo((8, 8, 64), "float16"))
    one = Sweep(pypto, inputs, pypto.bind_attrs({}), "ascend910b", read_axes(["unroll=1;4"]))
    assert [point.attrs["unroll"] for point in one.points()] == [(1,), (4,)]
    assert all("duration_us" in result for _, result in run_sweep(one, tmp_path / "r.sweep", Processes(1)))
    assert capfd.readouterr() == ("", "")


def test_the_same_call_is_timed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    timed = []
    original = sweeps.time_point
    monkeypatch.setattr(sweeps, "time_point", lambda given, at: timed.append(at.number) or original(given, at))
    one = a_sweep("x.S=4,04", "soc=Ascend910B3,ascend910b", "dtype=float16,half", "partial_slice=0,32;[0, 32]")
    rows = run_sweep(one, tmp_path / "r.sweep", Processes(1))
    assert len(rows) == 16
    assert timed == [0]
    assert len({str(result) for _, result in rows}) == 1


def test_a_failure_is_told_and_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path, one = tmp_path / "r.sweep", a_sweep("x.S=4,8")
    original = sweeps.TimedCall

    def failing(operator: object, inputs: dict[str, TensorInfo], *rest: object) -> object:
        if inputs["x"].shape[1] == 8:
            raise ZeroDivisionError("by nothing")
        return original(operator, inputs, *rest)

    monkeypatch.setattr(sweeps, "TimedCall", failing)
    rows = run_sweep(one, path, Processes(1))
    assert "duration_us" in rows[0][1]
    assert rows[1][1] == {"failed": "ZeroDivisionError: by nothing"}
    monkeypatch.undo()
    assert "duration_us" in run_sweep(one, path, Processes(1))[1][1]


def test_more_than_the_board_holds(tmp_path: Path):
    rows = run_sweep(a_sweep("x.S=999999999999"), tmp_path / "r.sweep", Processes(1))
    text = "the tensors take 255,999,999,999,744 B, Ascend910B3 has 68,719,476,736 B of memory"
    assert rows[0][1] == {"refused": text}


def test_refused_points_say_why(tmp_path: Path):
    rows = run_sweep(a_sweep("x.D=32,31"), tmp_path / "r.sweep", Processes(1))
    assert rows[0][1]["duration_us"] > 0
    assert rows[1][1]["refused"].startswith("InplacePartialRotaryMul: ")
    rows = run_sweep(a_sweep("rotary_mode=half,interleave,0"), tmp_path / "a.sweep", Processes(1))
    text = "InplacePartialRotaryMul: attribute rotary_mode is 'half'; allowed is an integer or interleave (1)"
    assert rows[0][1] == {"refused": text}
    assert ["refused" in result for _, result in rows] == [True, False, True]
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
    why = "x.S is 2, 4 there and 2, 4, 6, 8, ..., 40 here"
    text = f"results file {path} is of another sweep ({why}); give another --results"
    with pytest.raises(InputError, match=f"^{re.escape(text)}$"):
        run_sweep(a_sweep("x.S=2..40:+2"), path, Processes(1))
    text = text.replace(why, "axes are x.S there and soc, x.S here")
    with pytest.raises(InputError, match=f"^{re.escape(text)}$"):
        run_sweep(a_sweep("soc=ascend950", "x.S=2,4"), path, Processes(1))
    assert path.read_bytes() == kept
    path.write_text("something else")
    with pytest.raises(InputError, match=r"is not one of a sweep \(it is no SQLite file\); give another --results$"):
        run_sweep(a_sweep("x.S=2,6"), path, Processes(1))
    assert path.read_text() == "something else"


def refused(path: Path, text: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(text)}$"):
        run_sweep(a_sweep("x.S=2,4"), path, Processes(1))


def test_two_sweeps_at_once(tmp_path: Path):
    path, one = tmp_path / "r.sweep", a_sweep("x.S=2,4")
    with Store(path, one.identity) as store:
        store.keep([0], {"refused": "no"})
        refused(
            path, f"results file {path} is in use by another sweep; wait until it has ended, or give another --results"
        )
        assert store.finished() == {0: {"refused": "no"}}
    assert run_sweep(one, path, Processes(1))[0][1] == {"refused": "no"}


def test_a_file_that_is_none(tmp_path: Path):
    refused(tmp_path, f"results file {tmp_path} is a folder; give the name of a file")
    refused(Path("/dev/null"), "results file /dev/null is no regular file; give another --results")
    refused(tmp_path / "no" / "r", f"results file {tmp_path / 'no' / 'r'}: there is no folder {tmp_path / 'no'}")
    other = tmp_path / "other"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE mine (a)")
    kept = other.read_bytes()
    refused(other, f"results file {other} is a database of something else; give another --results")
    assert other.read_bytes() == kept


@pytest.mark.parametrize("change", ["UPDATE sweep SET identity = '{'", "UPDATE points SET result = ''"])
def test_a_file_whose_contents_are_damaged(change: str, tmp_path: Path):
    path, one = tmp_path / "r.sweep", a_sweep("x.S=2")
    run_sweep(one, path, Processes(1))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(change)
    kept = path.read_bytes()
    text = rf"^results file {re.escape(str(path))} is damaged \(Expecting .*\(char \d\)\); give another --results$"
    with pytest.raises(InputError, match=text):
        run_sweep(one, path, Processes(1))
    assert path.read_bytes() == kept


def test_axes_in_another_order_are_another_sweep(tmp_path: Path):
    """Points are kept by number, and that is another one."""
    path = tmp_path / "r.sweep"
    one, other = a_sweep("x.S=2,4", "dtype=float16,float32"), a_sweep("dtype=float16,float32", "x.S=2,4")
    assert one.default_file != other.default_file
    run_sweep(one, path, Processes(1))
    text = f"results file {path} is of another sweep (its axes have another order); give another --results"
    with pytest.raises(InputError, match=f"^{re.escape(text)}$"):
        run_sweep(other, path, Processes(1))


def test_a_full_disk(tmp_path: Path):
    path, one = tmp_path / "r.sweep", a_sweep("x.S=2,4")
    with Store(path, one.identity) as store:
        store.keep([0], {"refused": "no"})
        (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
        store._connection.execute(f"PRAGMA max_page_count={pages}")
        text = f"cannot write the results file {path}: database or disk is full"
        with pytest.raises(InputError, match=f"^{re.escape(text)}$"):
            store.keep([1], {"refused": "x" * 100_000})
        assert store.finished() == {0: {"refused": "no"}}


def test_a_file_of_another_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path, one = tmp_path / "r.sweep", a_sweep("x.S=2,4")
    run_sweep(one, path, Processes(1))
    with monkeypatch.context() as patch:
        patch.setattr(sweeps, "VERSION", "9.9")
        text = f"version is {VERSION} there and 9.9 here"
        refused(path, f"results file {path} is of another sweep ({text}); give another --results")
    monkeypatch.setattr(sweeps, "digest", lambda _operator: "other")
    text = "the operator's source files have changed since"
    refused(path, f"results file {path} is of another sweep ({text}); give another --results")


def test_nothing_is_left_of_nothing(tmp_path: Path):
    def done(_n: int, _of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_sweep(a_sweep("x.S=2,4"), tmp_path / "r.sweep", Processes(1), done=done)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_an_operator_of_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str):
    monkeypatch.setattr(multiprocessing, "Process", multiprocessing.get_context(method).Process)  # type: ignore[attr-defined]
    mine = operator_at(write_operator("my_rope", tmp_path))
    one = Sweep(
        mine, mine.example.inputs, mine.bind_attrs(mine.example.attrs), mine.default_soc, read_axes(["x.0=2,4"])
    )
    rows = run_sweep(one, tmp_path / "r.sweep", Processes(2))
    assert all("duration_us" in result for _, result in rows)
    before = one.identity
    kernel = tmp_path / "my_rope" / "kernel.py"
    kernel.write_text(kernel.read_text() + "# changed\n")
    assert one.identity != before
