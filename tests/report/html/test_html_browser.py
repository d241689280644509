"""The report in headless Chromium: no console errors, timeline zooms, tables sort, text readable, narrow or wide."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess

import pytest

import ascend_sim

pytest.importorskip("plotly", reason="HTML reports need the extra report")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="needs a Chromium"),
    pytest.mark.slow,
]
PROBE = """<script>
const errors = [];
window.addEventListener("error", (event) => errors.push(event.message));
window.addEventListener("load", async () => {
  const found = {errors, plots: document.querySelectorAll(".js-plotly-plot").length};
  const chart = document.getElementById("chart-timeline");
  await Plotly.relayout(chart, {"xaxis.range": [0.6, 0.9]});
  found.range = chart._fullLayout.xaxis.range;
  const table = document.getElementById("waits-table"), head = table.querySelectorAll("th")[2];
  const column = () => [...table.tBodies[0].rows].map((row) => parseFloat(row.cells[2].textContent.replace(",", "")));
  head.click(); found.down = column(); head.click(); found.up = column();
  found.wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  const texts = [...document.querySelectorAll("p,td,th,b,small,li")];
  const sizes = texts.map((e) => parseFloat(getComputedStyle(e).fontSize));
  found.smallest = Math.min(...sizes);
  const out = document.createElement("pre");
  out.id = "probe"; out.textContent = JSON.stringify(found); document.body.append(out);
});
</script></head>"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("browser") / "report.html"
    ascend_sim.run("inplace_partial_rotary_mul", partial_slice=[0, 64], values=False).write_html(path)
    path.write_text(path.read_text(encoding="utf-8").replace("</head>", PROBE, 1), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [1280, 390])
def test_opens_zooms_and_sorts(page, tmp_path, width):
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]
    command += [f"--user-data-dir={tmp_path}", f"--window-size={width},900", "--virtual-time-budget=20000"]
    done = subprocess.run([*command, page.as_uri()], capture_output=True, text=True, timeout=120, check=False)
    found = json.loads(html.unescape(re.search(r'<pre id="probe">(.*?)</pre>', done.stdout, re.DOTALL)[1]))
    assert found["errors"] == []
    assert not re.search(r"CONSOLE.*(error|Error)", done.stderr)
    assert found["plots"] == 7
    assert found["range"] == pytest.approx([0.6, 0.9])
    assert found["down"] == sorted(found["down"], reverse=True)
    assert found["up"] == sorted(found["up"])
    assert found["down"] != found["up"]
    assert found["wide"] <= 0, "the page must not scroll sideways"
    assert found["smallest"] >= 12
