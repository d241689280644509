"""The operator library's own unit-test cases, as rows of a JSON file in an operator's test folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ascend_sim
from ascend_sim.errors import TilingError
from ascend_sim.host.tiling import Tiling

Case = dict[str, Any]


def cases(test_file: str, name: str) -> list[Case]:
    """The rows of `name`, which lies beside the test file."""
    rows: list[Case] = json.loads(Path(test_file).with_name(name).read_text())
    return rows


def tile(operator: str, case: Case, soc: str) -> Tiling | None:
    """The case's tiling, None when the host code refuses it."""
    inputs = {name: (tuple(shape), dtype) for name, (shape, dtype) in case["inputs"].items()}
    try:
        return ascend_sim.tiling(operator, inputs, case["attrs"], soc, case["cores"], case["ub_bytes"])
    except TilingError:
        return None


def check(operator: str, case: Case, soc: str) -> None:
    """Result, key, workspace, words (those that are modelled) and what else the case derives."""
    found = tile(operator, case, soc)
    assert (found is not None) == (case["result"] == "ok")
    if found is None:
        return
    assert found.key == case["key"]
    assert found.workspace_bytes == case.get("workspace_bytes", found.workspace_bytes)
    words = case.get("words")
    if words is not None:
        assert len(found.words) == len(words)
        assert [word for word, known in zip(words, found.words, strict=True) if known is not None] == [
            word for word in found.words if word is not None
        ]
    for name, value in case.get("derived", {}).items():
        told = {"block_dim": found.block_dim, "workspace_bytes": found.workspace_bytes, **found.data}
        assert told[name] == value


def check_shapes(operator: str, case: Case) -> None:
    """A case of shape inference."""
    inputs = {name: (tuple(shape), dtype) for name, (shape, dtype) in case["inputs"].items()}
    assert ascend_sim.infer_shapes(operator, inputs, case["attrs"]) == [tuple(shape) for shape in case["outputs"]]
