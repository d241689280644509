"""Host tiling of inplace_partial_rotary_mul on A2/A3: published cases, hand-worked numbers, refusals, invariants."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ascend_sim
from ascend_sim.errors import TilingError

CASES = json.loads(Path(__file__).with_name("cases_ascend910b.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
@pytest.mark.parametrize("soc", ["ascend910b", "ascend910_93"])
def test_published_case(case: dict[str, Any], soc: str) -> None:
    inputs = {name: (tuple(shape), dtype) for name, (shape, dtype) in case["inputs"].items()}

    def tile() -> Any:
        return ascend_sim.tiling(
            "inplace_partial_rotary_mul", inputs, case["attrs"], soc, case["cores"], case["ub_bytes"]
        )

    if case["result"] == "fail":
        with pytest.raises(TilingError):
            tile()
        return
    found = tile()
    assert found.key == case["key"]
    assert found.workspace_bytes == case.get("workspace_bytes", 16 << 20)
    for name, value in case["derived"].items():
        assert {"block_dim": found.block_dim, **found.data}[name] == value
