"""README.md and README.zh.md give the same commands and the same figures."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def blocks(name: str) -> list[str]:
    return re.findall(r"^```\w*\n.*?^```$", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def figures(name: str) -> list[str]:
    """Numbers with a unit in the tables' last columns."""
    lines = [line for line in (ROOT / name).read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return [number for line in lines for number in re.findall(r"[\d,.]+ (?:%|s)(?= \|)", line)]


def test_both_languages_have_the_same_commands_and_output() -> None:
    assert len(blocks("README.md")) > 6
    assert blocks("README.zh.md") == blocks("README.md")


def test_both_languages_have_the_same_figures() -> None:
    assert len(figures("README.md")) > 6
    assert figures("README.zh.md") == figures("README.md")
