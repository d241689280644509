"""What a sweep shows: text, CSV, a page with charts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ascend_sim.host.registry import operator_named
from ascend_sim.host.tensors import TensorInfo
from ascend_sim.report.style import PLAIN
from ascend_sim.tune.axes import read_axes
from ascend_sim.tune.processes import Processes
from ascend_sim.tune.sweep import Row, Sweep, run_sweep
from ascend_sim.tune.sweep_page import drawn, sweep_page
from ascend_sim.tune.sweep_text import rows_csv, rows_json, rows_text

OP = operator_named("inplace_partial_rotary_mul")
INPUTS = {name: TensorInfo((1, 4, heads, 32), "float16") for name, heads in (("x", 2), ("cos", 1), ("sin", 1))}


def swept(tmp_path: Path, *over: str) -> tuple[Sweep, list[Row]]:
    sweep = Sweep(OP, INPUTS, OP.bind_attrs({"partial_slice": (0, 32)}), "Ascend910B3", read_axes(over))
    return sweep, run_sweep(sweep, tmp_path / "r.sweep", Processes(1))


def traces(page: str) -> list[list[dict[str, object]]]:
    """Of each chart."""
    found = re.findall(r'Plotly\.newPlot\(\s*"[^"]+",\s*(\[.*?\]),\s*\{"', page, re.DOTALL)
    return [json.loads(text) for text in found]


def plain(tmp_path: Path, *over: str) -> list[str]:
    sweep, rows = swept(tmp_path, *over)
    return rows_text(sweep, rows, Path("r.sweep"), PLAIN).splitlines()


def test_text(tmp_path: Path):
    lines = plain(tmp_path, "x.S=4,8", "dtype=float16,int8")
    assert lines[1:3] == [
        "Call   x (1, 4, 2, 32) float16, cos (1, 4, 1, 32) float16, sin (1, 4, 1, 32) float16, rotary_mode=1, "
        "partial_slice=0,32, on Ascend910B3",
        "Axes   x.S is dim 1 of x, cos and sin; dtype is the dtype of x, cos and sin",
    ]
    assert re.split(r"\s{2,}", lines[3].strip()) == [
        "x.S",
        "dtype",
        "us",
        "limit",
        "of roofline",
        "memory",
        "GB/s",
        "key",
        "blocks",
    ]
    assert re.fullmatch(r"  4  float16  [\d.]+  scalar [\d.]+ %  [\d.]+ % vector      L2 +\d+  \d+ +\d+", lines[4])
    assert lines[5] == (
        "  4     int8  refused: InplacePartialRotaryMul: x is int8; allowed are float16, float32, bfloat16"
    )
    assert lines[-1] == "Results are kept in r.sweep"


def test_csv(tmp_path: Path):
    sweep, rows = swept(tmp_path, "x.S=4", "dtype=float16,int8")
    head, good, bad = (line.split(",") for line in rows_csv(sweep, rows).splitlines())
    found = dict(zip(head, good, strict=False))
    assert (found["x.S"], found["dtype"], found["roof"], found["refused"]) == ("4", "float16", "vector", "")
    assert float(found["efficiency"]) == pytest.approx(
        float(found["roofline_us"]) / float(found["duration_us"]), abs=1e-4
    )
    assert bad[:3] == ["4", "int8", ""]


def test_the_memory_that_holds_the_tensors(tmp_path: Path):
    sweep, rows = swept(tmp_path, "x.S=4,1000000")
    assert [result["memory"] for _, result in rows] == ["L2", "HBM"]  # of 192 MiB; 256 MB
    cells = [line.split() for line in rows_text(sweep, rows, Path("r.sweep"), PLAIN).splitlines()[4:6]]
    assert [("L2" in row, "HBM" in row[6:]) for row in cells] == [(True, False), (False, True)]
    head, *table = (line.split(",") for line in rows_csv(sweep, rows).splitlines())
    assert [row[head.index("memory")] for row in table] == ["L2", "HBM"]
    assert [point["memory"] for point in rows_json(sweep, rows, Path("r"))["points"]] == ["L2", "HBM"]
    time, _ = traces(sweep_page(sweep, rows))
    assert [text.split("<br>")[-1] for text in time[0]["text"]] == ["memory L2", "memory HBM"]  # type: ignore[attr-defined]


def test_the_axis_that_is_drawn():
    def name(*over: str) -> str:
        return drawn(read_axes(over)).name

    assert name("soc=a,b", "x.S=1,2", "x.B=1,2") == "x.S"
    assert name("x.S=4", "x.B=1,2") == "x.B"
    assert name("soc=a", "dtype=c,d") == "dtype"
    assert name("x.S=4") == "x.S"
    assert name("partial_slice=0,32;0,16", "soc=a,b") == "partial_slice"


def test_page(tmp_path: Path):
    sweep, rows = swept(tmp_path, "dtype=float16,int8,float32", "x.S=4..64:x4")
    page = sweep_page(sweep, rows)
    time, share = traces(page)
    assert [(trace["name"], trace["line"]["dash"]) for trace in time] == [  # type: ignore[index]
        ("float16", "solid"),
        ("float16", "dot"),
        ("float32", "solid"),
        ("float32", "dot"),
    ]
    figures = [result for point, result in rows if point.at["dtype"] == "float16"]
    assert (time[0]["x"], time[0]["y"]) == ([4, 16, 64], [result["duration_us"] for result in figures])
    assert time[1]["y"] == [result["roofline_us"] for result in figures]
    assert share[0]["y"] == pytest.approx([100 * result["efficiency"] for result in figures])
    assert "3 points of 9 have no time; the table says why." in page
    assert page.count("refused: InplacePartialRotaryMul: x is int8; allowed are float16, float32, bfloat16") == 3
    assert "http" not in page.replace("http://www.w3.org", "").split("</script>")[-1]


def test_page_without_numbers_or_without_times(tmp_path: Path):
    time, _ = traces(sweep_page(*swept(tmp_path, "soc=ascend910b,ascend950")))
    assert [(trace["x"], trace["mode"]) for trace in time] == 2 * [(["ascend910b", "ascend950"], "markers")]
    (tmp_path / "none").mkdir()
    page = sweep_page(*swept(tmp_path / "none", "dtype=int8"))
    assert traces(page) == []
    assert "1 point of 1 has no time; the table says why." in page
