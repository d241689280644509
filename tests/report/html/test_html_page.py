"""The HTML report says the same as summary and JSON, draws what happened, and keeps everything inside."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import ascend_sim
from ascend_sim import asc
from ascend_sim.errors import InputError
from ascend_sim.report.html import events
from ascend_sim.report.html.buffers import uses
from ascend_sim.report.html.lines import by_file, code
from ascend_sim.report.html.shown import BLOCKS_SHOWN, EVENTS_SHOWN, blocks_shown, span_shown
from ascend_sim.report.selection import EVERYTHING, Selection
from ascend_sim.report.style import percent, us

pytest.importorskip("plotly", reason="HTML reports need the extra report")


@pytest.fixture(scope="module")
def result():
    return ascend_sim.run("inplace_partial_rotary_mul", partial_slice=[0, 64])


@pytest.fixture(scope="module")
def text(result, tmp_path_factory):
    path = tmp_path_factory.mktemp("html") / "report.html"
    result.write_html(path)
    return path.read_text(encoding="utf-8")


def body_of(text):
    """The page without the plotting library."""
    return text[text.index("<body>") :]


def test_the_file_is_whole_and_small(text):
    assert len(text.encode()) < 6_000_000
    assert not re.search(r"(src|href)=\"(?!data:)", body_of(text))  # nothing is loaded from anywhere
    charts = json.loads(re.search(r"const CHARTS=(\{.*?\});</script>", text, re.DOTALL)[1])
    names = {"timeline", "utilisation", "bandwidth", "overview", "waits", "roofline", "buffers"}
    assert charts.keys() == names
    for name in names:
        assert f'id="chart-{name}"' in text


def test_numbers_are_those_of_summary_and_json(result, text):
    said = result.to_json()
    body = body_of(text)
    assert f"<b>{said['duration_us']:.2f} us</b>" in body
    assert said["pipes"].keys() == result.pipes.keys()
    for name, pipe in result.pipes.items():
        assert f"<td>aiv_{name}</td><td>{us(pipe.busy_us)}</td><td>{percent(pipe.ratio)}</td>" in body
    for line in result.summary().splitlines():
        if line.startswith(("Tiling", "UB")):
            assert line.split(maxsplit=1)[1] in body
    for name, value in said["tiling"]["data"].items():
        assert f"<td>{name}</td><td>{value}</td>" in body


def test_bars_are_the_instructions_of_the_drawn_blocks(result):
    line = result.timeline
    blocks = blocks_shown(EVERYTHING, line)
    assert len(blocks) == BLOCKS_SHOWN
    span = span_shown(EVERYTHING, line, blocks)
    bars = events.instruction_bars(blocks, line, span)
    by_row = {}
    for bar in sorted(bars, key=lambda bar: bar.begin_us):
        assert bar.begin_us >= by_row.get(bar.row, 0.0) - 1e-9  # bars of a pipe do not overlap
        by_row[bar.row] = bar.begin_us + bar.us
    assert {bar.name for bar in bars} >= {"Gather", "DataCopyPad", "Muls", "Cast"}
    few = span_shown(Selection(None, 0.5, 0.6), line, blocks)
    assert few == (0.5, pytest.approx(0.6))
    assert 0 < len(events.instruction_bars(blocks, line, few)) < len(bars)


def test_a_long_run_is_cut_to_what_can_be_drawn(result):
    line = result.timeline
    blocks = blocks_shown(EVERYTHING, line) * (2 * EVENTS_SHOWN // sum(len(b.start) for b in line.cores[:4]))
    begin, end = span_shown(EVERYTHING, line, blocks)
    assert begin == 0.0
    assert end < line.to_us(line.duration_cycles) / 1.5


def test_rates_add_up_to_busy_time_and_bytes(result):
    found = events.rates(result.account)
    width_us = found.us[1] - found.us[0]
    for name, pipe in result.account.pipes.items():
        worked_us = result.timeline.to_us(pipe.work) / result.account.cores
        assert found.busy[name].sum() * width_us == pytest.approx(worked_us, rel=1e-6)
        assert found.busy[name].max() <= 1 + 1e-9
    moved = {name: gbps.sum() * width_us * 1e3 for name, gbps in found.gbps.items()}
    assert moved["read"] == pytest.approx(result.memory.read_bytes, rel=1e-6)
    assert moved["written"] == pytest.approx(result.memory.written_bytes, rel=1e-6)


def test_buffers_lie_in_unified_buffer_and_do_not_overlap(result):
    line = result.timeline
    found = uses(line.cores[0], line)
    assert max(use.end for use in found) <= result.chip.ub.usable_bytes
    assert all(use.begin_us <= use.end_us and use.start < use.end for use in found)
    names = {use.writer.name for use in found}
    assert {"DataCopyPad", "Cast", "Gather"} <= names


def test_source_lines_stand_beside_their_costs(result, text):
    files = by_file(result.account)
    file = next(name for name in files if name.endswith("kernel_common.py"))
    shown = {line.number: line for line in code(file, files[file])}
    hot = max(files[file], key=lambda n: files[file][n].path_us)
    assert shown[hot].text.strip() == files[file][hot].text
    assert shown[hot].cost is files[file][hot]
    assert f"<td>{us(files[file][hot].path_us)}</td>" in body_of(text)


def test_a_text_cannot_end_the_script(tmp_path):
    @asc.jit
    def kernel(x: asc.GlobalAddress) -> None:
        asc.set_flag(asc.HardEvent.V_MTE3, 0)
        asc.wait_flag(asc.HardEvent.V_MTE3, 0)

    with ascend_sim.device() as dev:
        kernel[1](np.zeros(8, np.float32))
    found = dev.runs[-1]
    found.op = "</script><b>"
    found.write_html(tmp_path / "r.html")
    assert "</script><b>" not in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_refusals(result, tmp_path):
    with pytest.raises(InputError, match=r"^core 99 runs no block: the launch used 40 cores, 0 to 39$"):
        result.write_html(tmp_path / "r.html", Selection(frozenset({99})))
    missing = tmp_path / "no" / "r.html"
    with pytest.raises(
        InputError, match=r"^cannot write the HTML report to '.*r\.html': there is no directory '.*no'$"
    ):
        result.write_html(missing)
    assert not list(tmp_path.iterdir())
