from __future__ import annotations

import json
import re

CALL = ("-i", "x=2,8,2,64:float16", "-i", "cos=2,8,1,64:float16", "-i", "sin=2,8,1,64:float16", "--attr")


def test_diff_writes_a_page_with_the_figures_of_its_json(cli, tmp_path):
    paths = []
    for l2 in ("warm", "cold"):
        shown = cli("run", "inplace_partial_rotary_mul", *CALL, "partial_slice=0,64", "--json", "--full", "--l2", l2)
        paths.append(tmp_path / f"{l2}.json")
        paths[-1].write_text(shown.out, encoding="utf-8")
    page = tmp_path / "diff.html"
    found = cli("diff", *map(str, paths), "--json", "--html", str(page))
    assert found.code == 0
    text = page.read_text(encoding="utf-8")
    time = json.loads(found.out)["time"][0]
    row = f"<td>Task Duration</td><td>{time['before']:.2f}</td><td>{time['after']:.2f}</td><td>us</td>"
    assert row in text
    assert 'class="bar more"' in text
    assert "kernel_split_s.py:" in text
    assert not re.search(r"(src|href)=\"(?!data:)", text)  # nothing is loaded from anywhere


def test_a_place_that_cannot_be_written_is_refused_first(cli, tmp_path):
    shown = cli("diff", "a.json", "b.json", "--html", str(tmp_path / "no" / "d.html"))
    assert shown.code == 2
    assert shown.err.startswith("error: cannot write the HTML comparison to ")
