"""The Python of the pages runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/kernel_language.md")
BLOCKS = [
    pytest.param(code, id=f"{page}-{number}")
    for page in PAGES
    for number, code in enumerate(re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text("utf-8"), re.M | re.S))
]


def test_the_pages_have_such_blocks() -> None:
    assert len(BLOCKS) >= len(PAGES)


@pytest.mark.parametrize("code", BLOCKS)
def test_a_block_runs(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(code, "page", "exec"), {"__name__": "page"})
    assert "Traceback" not in capsys.readouterr().out
