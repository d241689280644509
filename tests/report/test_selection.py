from __future__ import annotations

import json

import pytest

from ascend_sim.errors import InputError
from ascend_sim.report.selection import EVERYTHING, Selection, read_selection
from ascend_sim.report.trace import write_trace

from . import handmade as hm


def test_selections_are_read():
    assert read_selection(None, None) == EVERYTHING
    assert read_selection("0-3, 8", None).cores == {0, 1, 2, 3, 8}
    window = read_selection(None, "1.5:4")
    assert (window.cores, window.begin_us, window.end_us) == (None, 1.5, 4.0)
    assert read_selection(None, "2:") == Selection(None, 2.0)
    assert read_selection(None, ":2") == Selection(None, 0.0, 2.0)


@pytest.mark.parametrize("cores", ["", "a", "3-1", "1,,2", "-1", "1-2-3"])
def test_cores_that_are_none(cores):
    with pytest.raises(InputError) as caught:
        read_selection(cores, None)
    assert str(caught.value) == f"--cores {cores!r} must be numbers and ranges, like 0-3,8"


@pytest.mark.parametrize("window", ["", "1", "2:1", "1:1", "-1:2", "a:b", "nan:1"])
def test_windows_that_are_none(window):
    with pytest.raises(InputError) as caught:
        read_selection(None, window)
    assert str(caught.value) == f"--window {window!r} must have the form BEGIN:END in us, like 1.5:4 or 2:"


def test_a_trace_holds_what_is_chosen(tmp_path):
    """Block 1 runs from 0.05 us on; its second tile begins at 0.45 us. 1 cycle is 1 ns."""
    _, timeline = hm.two_blocks()
    write_trace(timeline, tmp_path / "t.json", Selection(frozenset({1}), 0.5, 0.7))
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    shown = [event for event in events if event["ph"] == "X"]
    assert {event["pid"] for event in events} == {2}
    assert [event["name"] for event in shown] == ["DataCopy", "SetFlag", "WaitFlag", "Add", "Muls", "WaitFlag"]
    assert all(event["ts"] + event["dur"] > 0.5 and event["ts"] < 0.7 for event in shown)
    assert sorted(event["ph"] for event in events if event["ph"] in "sf") == ["f", "s"]
