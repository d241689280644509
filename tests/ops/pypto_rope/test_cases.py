"""Every case of cases.json within its tolerance; kernels outside the documents are listed with the reason."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from .running import OUTSIDE, deviations, run_work, works

CASES = json.loads(Path(os.environ.get("PYPTO_ROPE_CASES", Path(__file__).with_name("cases.json"))).read_text())
QUICK_ELEMENTS = 300_000


def elements(case: dict[str, Any]) -> int:
    return max((work.elements for work in works(case)), default=0)


def parameters() -> list[Any]:
    """The cases as parameters, the large ones marked slow."""
    found = []
    for case in CASES:
        marks = [pytest.mark.slow] if elements(case) > QUICK_ELEMENTS else []
        found.append(pytest.param(case, id=case["name"], marks=marks))
    return found


@pytest.mark.parametrize("case", parameters())
def test_case(case: dict[str, Any]) -> None:
    todo = works(case)
    if not todo:
        assert case["kind"] in OUTSIDE, f"no kernel and no reason for cases of kind {case['kind']!r}"
        return
    for work in todo:
        outcome = run_work(case, work)
        assert outcome.pairs
        assert outcome.duration_us > 0
        print(f"{case['name']}: {outcome.duration_us:.2f} us, peak UB {outcome.peak_ub_bytes} B")
        assert 0 < outcome.peak_ub_bytes <= outcome.ub_bytes
        for actual, expected in outcome.pairs:
            assert not deviations(case, actual, expected)


def test_the_kinds_without_a_kernel_are_those_of_the_list() -> None:
    """A reason for a kind that has a kernel, or that no case has, would be stale."""
    without = {case["kind"] for case in CASES if not works(case)}
    assert without == set(OUTSIDE)
