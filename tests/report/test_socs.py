"""What `ascend-sim socs` shows."""

from __future__ import annotations

import json

from ascend_sim.report.socs import chip, chip_text, chips, chips_text
from ascend_sim.soc import load


def test_table_has_every_family_and_the_products_that_are_not_supported() -> None:
    view = json.loads(json.dumps(chips()))
    assert [(f["name"], f["arch"], f["default"], len(f["variants"])) for f in view["families"]] == [
        ("ascend910b", "2201", "Ascend910B3", 6),
        ("ascend910_93", "2201", "Ascend910_9392", 7),
        ("ascend950", "3510", "Ascend950PR_9589", 35),
    ]
    assert [product["name"] for product in view["unsupported"]] == [
        "Atlas 200I/500 A2 inference products",
        "Atlas inference series",
        "Atlas training series",
    ]
    assert view["families"][0]["variants"][4] == {
        "name": "Ascend910B4",
        "aic": 20,
        "aiv": 40,
        "clock_mhz": 1650.0,
        "ub_usable_bytes": 196_352,
        "l2_bytes": 96 * 2**20,
        "hbm_bytes": 32 * 2**30,
        "hbm_peak_gbps": 800.0,
    }


def test_table_as_text() -> None:
    lines = chips_text(chips()).splitlines()
    assert "Ascend910B3 *   20   40  1,800      196,352     192       64     1,600" in lines
    assert "Ascend910B2C    24   48  1,800      196,352     192        -     1,600" in lines
    assert "ascend950: Ascend 950PR, Ascend 950DT (architecture 3510)" in lines
    assert "  Atlas inference series (Ascend310P)" in lines


def test_details_list_every_parameter_once() -> None:
    soc = load("Ascend910B4", {"ub.bytes": "256 KiB"})
    view = json.loads(json.dumps(chip(soc)))
    assert [row["path"] for row in view["parameters"]] == [parameter.path for parameter in soc.parameters()]
    assert len({row["path"] for row in view["parameters"]}) == len(view["parameters"])
    row = next(row for row in view["parameters"] if row["path"] == "l2.read_bytes_per_cycle_per_aic")
    assert row == {
        "path": "l2.read_bytes_per_cycle_per_aic",
        "value": 110.0,
        "unit": "B/cycle/aic",
        "source": "RT",
        "grade": "official",
        "note": "",
    }
    assert view["products"] == ["Atlas A2 training series", "Atlas A2 inference series"]
    assert view["sources"]["RT"].startswith("platform files ")


def test_products_of_a_950_go_by_its_name() -> None:
    assert chip(load("Ascend950DT_9582"))["products"] == ["Ascend 950DT"]


def test_details_as_text() -> None:
    text = chip_text(chip(load("Ascend910B4", {"ub.bytes": "256 KiB"})))
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.strip()}
    assert rows["clock_mhz"] == ["1,650", "MHz", "measured", "rows", "[1]"]
    assert rows["platform_clock_mhz"] == ["1,500", "MHz", "official", "RT"]
    assert rows["ub.bytes"] == ["262,144", "B", "override", "[3]"]
    assert rows["ub.banks.groups"][-1] == rows["ub.banks.row_bytes"][-1]  # one remark, said once
    assert rows["ub.usable_bytes"][:3] == ["261,888", "B", "derived"]
    remarks = text.partition("Remarks:\n")[2]
    assert "  [1] cycles over time; the platform file has 1500\n" in remarks
    assert "  [3] in place of 192 KiB (official, RT) of arch2201.yaml\n" in remarks
    assert text.count("6 KiB stack") == 0


def test_remarks_keep_to_the_width() -> None:
    text = chip_text(chip(load("ascend950")), width=60)
    remarks = text.partition("Remarks:\n")[2].partition("\nSources:")[0]
    assert "stack of vector functions" in " ".join(remarks.split())
    assert max(map(len, remarks.splitlines())) <= 60
