"""The lessons that there are: every folder under ops/lessons, a file `stepN_*.py` and a page per step."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ascend_sim.errors import InputError
from ascend_sim.resources import directory

LANGUAGES = {"en": "", "zh": ".zh"}
_STEP_FILE = re.compile(r"step(\d+)_\w+\.py")


@dataclass(frozen=True)
class Step:
    """One file that runs: a kernel, its launch, and a check of its values."""

    lesson: str
    number: int
    path: Path

    @cached_property
    def title(self) -> str:
        """The first line of the file's docstring, without its "Step N: "."""
        text = ast.get_docstring(ast.parse(self.path.read_text(encoding="utf-8"))) or self.path.stem
        return text.splitlines()[0].removeprefix(f"Step {self.number}: ").removesuffix(".")

    def page(self, language: str = "en") -> Path:
        """The page beside the file, in one of `LANGUAGES`."""
        return self.path.with_name(f"step{self.number}{LANGUAGES[language]}.md")


@dataclass(frozen=True)
class Lesson:
    """A folder of steps, in order."""

    name: str
    folder: Path

    @cached_property
    def title(self) -> str:
        """The first line of the lesson's page, without its "# "."""
        return (self.folder / "README.md").read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        found = [(match, path) for path in self.folder.iterdir() if (match := _STEP_FILE.fullmatch(path.name))]
        steps = (Step(self.name, int(match[1]), path) for match, path in found)
        return tuple(sorted(steps, key=lambda step: step.number))


def lessons() -> tuple[Lesson, ...]:
    """All lessons, simple ones first."""
    folders = [path for path in (directory("ops") / "lessons").iterdir() if (path / "README.md").is_file()]
    return tuple(Lesson(path.name, path) for path in sorted(folders))


def find_lesson(name: str) -> Lesson:
    """The lesson called `name`."""
    for lesson in lessons():
        if lesson.name == name:
            return lesson
    known = ", ".join(lesson.name for lesson in lessons())
    raise InputError(f"there is no lesson {name!r}; the lessons are {known}")


def find_step(name: str, number: int) -> Step:
    """Step `number` (from 1) of the lesson called `name`."""
    lesson = find_lesson(name)
    for step in lesson.steps:
        if step.number == number:
            return step
    raise InputError(f"lesson {name} has no step {number}; its steps are 1 to {len(lesson.steps)}")
