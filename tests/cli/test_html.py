from __future__ import annotations

import pytest

CALL = ("run", "inplace_partial_rotary_mul", "-i", "x=2,4,2,64:float16", "-i", "cos=2,4,1,64:float16")
CALL = (*CALL, "-i", "sin=2,4,1,64:float16", "--attr", "partial_slice=0,64")


def test_run_writes_a_report(cli, tmp_path):
    pytest.importorskip("plotly", reason="HTML reports need the extra report")
    path = tmp_path / "r.html"
    assert cli(*CALL, "--html", str(path), "--cores", "0-1", "--window", "0:1").code == 0
    text = path.read_text(encoding="utf-8")
    assert "2 cores of 8, 0.0000 to 1.00 us" in text


def test_exec_writes_a_report_per_launch(cli, tmp_path):
    pytest.importorskip("plotly", reason="HTML reports need the extra report")
    script = tmp_path / "s.py"
    script.write_text(
        "import ascend_sim\nfor _ in range(2):\n"
        "    from ascend_sim import asc\n"
        "    @asc.jit\n    def k():\n        asc.pipe_barrier(asc.PipeID.PIPE_ALL)\n    k[1]()\n"
    )
    assert cli("exec", "--html", str(tmp_path / "r.html"), str(script)).code == 0
    assert sorted(path.name for path in tmp_path.glob("*.html")) == ["r.2.html", "r.html"]


def test_refusals(cli, tmp_path, monkeypatch):
    same = str(tmp_path / "x")
    assert cli(*CALL, "--html", same, "--trace", same).err.startswith("error: --trace and --html both name ")
    monkeypatch.setattr("ascend_sim.report.html.plotly.find_spec", lambda _: None)
    shown = cli(*CALL, "--html", str(tmp_path / "r.html"))
    assert shown.code == 2
    assert shown.err == (
        "error: an HTML report needs plotly, which is not installed: pip install 'ascend-sim[report]'\n"
    )
    assert not list(tmp_path.iterdir())
