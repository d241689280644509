"""`ascend-sim learn`: the lessons, and a step of one against the step before."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import typer

from ascend_sim.cli.progress import progress
from ascend_sim.errors import InputError
from ascend_sim.lessons.catalog import Step, find_lesson, find_step, lessons
from ascend_sim.lessons.comparison import compared_with, comparison, source_changes
from ascend_sim.lessons.running import parse_changes, run_step
from ascend_sim.report.style import Style, style_for


@dataclass(frozen=True, slots=True)
class LearnRequest:
    """The command line as it was given."""

    lesson: str | None
    step: int | None
    sets: list[str]


def learn(request: LearnRequest) -> None:
    """List the lessons or one lesson's steps, or run a step."""
    style = style_for(sys.stdout)
    if request.step is None:
        if request.sets:
            raise InputError("--set changes a step: name lesson and step, for example `learn add 3 --set TILE=256`")
        typer.echo(_list(request.lesson, style))
    else:
        typer.echo(_run(find_step(request.lesson or "", request.step), parse_changes(request.sets), style))


def _list(name: str | None, style: Style) -> str:
    lines = []
    for lesson in lessons() if name is None else (find_lesson(name),):
        lines.append(style.paint(f"{lesson.name:<6}{lesson.title}", "bold"))
        lines += [f"  {step.number}   {step.title}" for step in lesson.steps]
    first = name or lessons()[0].name
    lines.append(style.paint(f"`ascend-sim learn {first} 2` runs step 2 and compares it with step 1", "dim"))
    return "\n".join(lines)


def _run(step: Step, changes: dict[str, str], style: Style) -> str:
    lines = [style.rule(f"{step.lesson}, step {step.number}: {step.title}")]
    before, names = compared_with(step, changes)
    with progress():
        after = run_step(step, changes)
        if before is None:
            lines += [step.path.read_text(encoding="utf-8")]
        elif not changes:
            lines += ["What changed", source_changes(before, step, style), ""]
        lines.append(comparison(run_step(before) if before else None, after, names, style))
    lines.append("")
    lines.append(style.paint(f"Read on: {step.page()} ({step.page('zh').name}); the code: {step.path}", "dim"))
    return "\n".join(lines)
