"""The printed explanation: its figures are those of the account and of its JSON."""

from __future__ import annotations

import re

import pytest

import ascend_sim
from ascend_sim import asc
from ascend_sim.explain import Link, Part, Reason, Stretch, Sum
from ascend_sim.program import HardEvent
from ascend_sim.report.explanation import explanation, gap_text, link_text, shortened
from ascend_sim.report.style import Style, us
from tests.explain.kernels import scale

from . import handmade as hm


@pytest.fixture(scope="module")
def result():
    with ascend_sim.device("ascend910b", values=False, l2="cold") as device:
        x, y = (asc.memory.DeviceArray((1 << 20,), "float32") for _ in range(2))
        scale[8](x, y, 4, 4096, 1, 2)
    return device.runs[-1]


@pytest.fixture(scope="module")
def text(result):
    return explanation(result.account, Style(unicode=False))


def test_sections(text, result):
    labels = re.findall(r"^(\w+(?: \w+)?) +", text, re.MULTILINE)
    assert labels == ["Bound", "Findings", "Account", "Path", "Roofline", "What if"]
    assert all(len(line) <= 96 for line in text.splitlines()), max(text.splitlines(), key=len)
    assert text in result.summary(Style(unicode=False), explain=True)
    assert "Waits  " not in result.summary(explain=True)


def test_figures_of_pipes_are_those_of_the_summary(text, result):
    found = result.to_json(explain=True)["explain"]["pipes"]
    for name, use in result.pipes.items():
        assert f"aiv_{name}: busy {us(use.busy_us)} us" in text
        assert found[name]["work_us"] + found[name]["in_flight_us"] == pytest.approx(use.busy_us, abs=2e-4)
        busy_and_idle = use.busy_us + found[name]["idle_us"]
        assert busy_and_idle == pytest.approx(result.aiv_time_us.mean, abs=2e-4)
        assert sum(found[name]["idle_by_us"].values()) == pytest.approx(found[name]["idle_us"], abs=1e-3)


def test_what_if_and_path_are_those_of_the_json(text, result):
    found = result.to_json(explain=True)["explain"]
    assert any(answer.gain_us > 0.01 for answer in result.account.answers)
    for answer, as_json in zip(result.account.answers, found["what_if"], strict=True):
        if abs(answer.gain_us) > 0.01:
            assert re.search(
                rf"{re.escape(us(answer.duration_us))} us +[+-]\d+\.\d %  if {re.escape(answer.text)}", text
            )
        assert as_json["duration_us"] == round(answer.duration_us, 4)
        assert answer.duration_us + answer.gain_us == pytest.approx(result.duration_us)
    path = sum(stretch["us"] for stretch in found["path"])
    slowest = max(result.timeline.cores, key=lambda line: line.finish)
    assert path == pytest.approx(result.timeline.to_us(slowest.finish - slowest.begin), abs=1e-2)
    assert f"critical path through block {slowest.program.block}: " in text


def wait(reason, instr=hm.WAIT_LOADED, cause=hm.LOAD):
    return Sum("vec", reason, instr, cause, 100, 0, 1, 0.1, 0.5)


def test_texts_of_gaps():
    assert gap_text(wait(Reason.FLAG)) == f"flag {HardEvent.MTE2_V.name} at add.py:20 ← DataCopy add.py:10"
    assert gap_text(wait(Reason.DONE, None)) == "nothing left to do ← DataCopy add.py:10 ends the block"
    assert gap_text(wait(Reason.DONE, None, None)) == "nothing left to do"
    assert gap_text(wait(Reason.AUTO_SYNC, hm.MULS, hm.ADD)) == (
        "Muls add.py:22: wait put in by the compiler ← Add add.py:21"
    )
    assert gap_text(wait(Reason.QUEUE, hm.ADD), "<-") == (
        "Add add.py:21: scalar unit before a full queue <- DataCopy add.py:10"
    )
    assert gap_text(wait(Reason.START, hm.ADD, None)) == "Add add.py:21: start of the block"


def test_texts_of_links():
    copy = Link("mte2", hm.LOAD, hm.LOAD, 0, 10, 1, {Part.MOVE: 3, Part.ARRIVAL: 7})
    assert link_text(copy) == "mte2    DataCopy add.py:10: latency, move"
    assert link_text(copy, 40) == "mte2    DataCopy add.py:10: latency"
    assert link_text(Link("scalar", hm.LOAD, hm.ADD, 0, 9, 3, {Part.ISSUE: 9})) == (
        "scalar  3 instructions, add.py:10 to add.py:21"
    )
    assert link_text(Link("scalar", None, None, 0, 9, 1, {Part.START: 9})) == "scalar  start"


def test_long_chains_keep_their_longest_stretches():
    chain = [Stretch([Link("vec", hm.ADD, hm.ADD, 0, n, 1, {Part.WORK: n})], 1) for n in (5, 1, 2, 9, 3)]
    assert shortened(chain, 5) == (chain, (0, 0))
    assert shortened(chain, 2) == ([chain[0], chain[3]], (3, 6))
