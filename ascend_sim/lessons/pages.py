"""The figures in the lessons' pages, printed by the simulator itself.

A page holds blocks that begin with `<!-- figures -->` (this step against the one before) or `<!-- figures TILE=256 -->`
(this step with another constant against the step as it stands). `python -m ascend_sim.lessons` writes them anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ascend_sim.lessons.catalog import LANGUAGES, Step, lessons
from ascend_sim.lessons.comparison import compared_with, comparison
from ascend_sim.lessons.running import parse_changes, run_step
from ascend_sim.report.result import Result

BLOCK = re.compile(r"(?P<head><!-- figures ?(?P<changes>.*?) ?-->\n```\n)(?P<text>.*?)(?P<foot>```\n)", re.DOTALL)


def pages() -> Iterator[tuple[Step, Path]]:
    """Every step's page in every language."""
    for lesson in lessons():
        for step in lesson.steps:
            for language in LANGUAGES:
                yield step, step.page(language)


def figures(step: Step, changes: str = "") -> str:
    """What a block of the step's page says; `changes` as in its first line."""
    before, names = compared_with(step, parse_changes(changes.split()))
    return comparison(_run(before) if before else None, _run(step, changes), names)


def refreshed(step: Step, text: str) -> str:
    """The page's text with today's figures."""
    return BLOCK.sub(lambda found: found["head"] + figures(step, found["changes"]) + "\n" + found["foot"], text)


@cache
def _run(step: Step, changes: str = "") -> Result:
    return run_step(step, parse_changes(changes.split()))
