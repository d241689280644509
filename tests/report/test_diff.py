"""Two runs side by side."""

from __future__ import annotations

import copy
import json

import pytest

import ascend_sim
from ascend_sim import asc
from ascend_sim.errors import InputError
from ascend_sim.report.diff import compare_runs, read_run
from ascend_sim.report.diff_text import diff_text
from ascend_sim.report.lines import line_costs
from ascend_sim.report.style import Style, us
from tests.explain.kernels import scale

PLAIN = Style(unicode=False)


def run(buffers):
    with ascend_sim.device("ascend910b", values=False) as device:
        x, y = (asc.memory.DeviceArray((1 << 20,), "float32") for _ in range(2))
        scale[2](x, y, 6, 8192, buffers, 4)
    return device.runs[-1]


@pytest.fixture(scope="module")
def runs():
    return run(1), run(2)


@pytest.fixture(scope="module")
def written(runs):
    return tuple(json.loads(json.dumps(found.to_json(full=True))) for found in runs)


def test_figures_are_those_of_the_runs(runs, written):
    single, double = runs
    diff = compare_runs(*written)
    duration = diff.sections["time"][0]
    assert (duration.before, duration.after) == (round(single.duration_us, 4), round(double.duration_us, 4))
    assert duration.change < 0
    busy = {q.name: q for q in diff.sections["pipes"]}
    for name, use in single.pipes.items():
        assert busy[f"aiv_{name} busy"].before == round(use.busy_us, 4)
        assert busy[f"aiv_{name} instructions"].before == use.instructions
    assert [q.change for q in diff.sections["bytes"]] == [0, 0, 0, 0]
    waits = {q.name: q for q in diff.sections["waits"]}
    assert diff.sections["waits"][0].name == "aiv_vec: flag"
    assert waits["aiv_mte2: flag"].change < 0
    counts = {q.name: q for q in diff.sections["instructions"]}
    assert counts["DataCopy"].before == counts["DataCopy"].after == 24
    assert counts["Muls"].before == 48


def test_text(written):
    text = diff_text(compare_runs(*written), PLAIN)
    before, after = (found["duration_us"] for found in written)
    assert text.splitlines()[0].startswith("scale on Ascend910B3 -> scale on Ascend910B3 ---")
    assert f"Verdict    {before / after:.2f} times as fast, {us(before - after)} us faster" in text
    assert "most better: aiv_vec: flag, " in text
    assert "kernels.py:" in text
    assert all(len(line) <= 100 for line in text.splitlines())
    back = diff_text(compare_runs(*reversed(written)), PLAIN)
    assert f"{before / after:.2f} times as slow, {us(before - after)} us slower" in back
    same = diff_text(compare_runs(written[0], written[0]), PLAIN).splitlines()[1:]
    assert same == [
        "Verdict    as fast as before",
        f"Time       Task Duration                              {us(before):>9} us -> {us(before):>9} us  same",
    ]


def test_lines_are_matched_by_their_text(written):
    """A line that has moved is the same line; one that is gone or new stands alone."""
    before, after = written[0], copy.deepcopy(written[0])
    for line in after["full"]["lines"]:
        file, _, number = line["line"].rpartition(":")
        line["line"] = f"{file}:{int(number) + 7}"
    moved = compare_runs(before, after).lines
    assert all(change.path.change == change.work.change == 0 for change in moved)
    assert all(change.before and change.after and change.before != change.after for change in moved)
    gone = after["full"]["lines"].pop(0)
    (change, *_) = compare_runs(before, after).lines
    assert (change.after, change.text, change.path.after) == ("", gone["text"], 0.0)
    assert "(gone)" in diff_text(compare_runs(before, after), PLAIN)
    assert "(new)" in diff_text(compare_runs(after, before), PLAIN)


def test_lines_add_up(runs):
    """Work of all lines is the pipes' work, their parts of the path are the path without start and end."""
    account = runs[0].account
    costs = line_costs(account)
    for name, total in account.pipes.items():
        work = sum(cost.work_us.get(name, 0.0) for cost in costs)
        if name != "scalar":  # prologue and trailing calls have no line
            assert work == pytest.approx(total.us(total.work))
    assert sum(cost.instructions for cost in costs) == runs[0].instructions
    placed = sum(step.cycles for step in account.path if step.instr is not None)
    assert sum(cost.path_us for cost in costs) == pytest.approx(account.timeline.to_us(placed))


def test_refusals(tmp_path, written):
    def refused(text):
        (tmp_path / "a.json").write_text(text)
        with pytest.raises(InputError) as caught:
            read_run(tmp_path / "a.json")
        return str(caught.value).replace(str(tmp_path), "DIR")

    with pytest.raises(InputError) as caught:
        read_run(tmp_path / "none.json")
    assert str(caught.value).replace(str(tmp_path), "DIR") == "cannot read 'DIR/none.json': No such file or directory"
    assert refused("{").startswith("'DIR/a.json' is not JSON: ")
    hint = "'DIR/a.json' does not hold a run that can be compared: write it with `run --json --full`"
    assert refused("[]") == refused("{}") == hint
    assert refused('{"full": {"version": 99}}') == (
        "'DIR/a.json' holds version 99 of what `run --json --full` writes: this program compares version 1"
    )
    (tmp_path / "a.json").write_text(json.dumps(written[0]))
    assert read_run(tmp_path / "a.json") == written[0]
