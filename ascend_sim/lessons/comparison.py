"""Two runs of a lesson side by side: what changed in the source, and what the machine did before and after."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from ascend_sim.explain import Reason
from ascend_sim.lessons.catalog import Step, find_step
from ascend_sim.report.result import Result
from ascend_sim.report.style import PLAIN, Style, size, us
from ascend_sim.report.text import timeline_rows

_NAMES_COLUMNS, _COLUMNS = 50, 18
_REASONS_SHOWN = 5
_SMALL_SHARE = 0.01
"""A time that is less of the AIV time than this is not worth a line."""
_BEYOND_A_KERNEL = {Reason.START, Reason.DONE}


def compared_with(step: Step, changes: Mapping[str, str]) -> tuple[Step | None, tuple[str, str]]:
    """The step that a run of `step` is compared with, and what the two columns are called.

    A step with other constants stands beside the step as it is, any other beside the one before; a first step stands
    alone (None).
    """
    here = f"step {step.number}"
    if changes:
        return step, (here, " ".join(f"{name}={value}" for name, value in changes.items()))
    before = find_step(step.lesson, step.number - 1) if step.number > 1 else None
    return before, (f"step {before.number}" if before else "", here)


def comparison(
    before: Result | None, after: Result, names: tuple[str, str] = ("before", "after"), style: Style = PLAIN
) -> str:
    """A table of times, pipes and waits of both runs (or of `after` alone), and the timeline of `after`."""
    lines = [_row("", names if before else names[1:], style, head=True)]
    runs = [before, after] if before else [after]
    lines += _figures(runs, style)
    lines += _waits(runs, style)
    lines += timeline_rows(after, style)
    return "\n".join(line.rstrip() for line in lines)


def source_changes(before: Step, after: Step, style: Style = PLAIN) -> str:
    """The lines that differ between the files of two steps, `-` before and `+` after."""
    old, new = (step.path.read_text(encoding="utf-8").splitlines()[1:] for step in (before, after))
    found = [line for line in difflib.unified_diff(old, new, n=0, lineterm="") if line[1:].strip()]
    lines = [line for line in found if not line.startswith(("---", "+++", "@@"))]
    return "\n".join(style.paint(line, "good" if line.startswith("+") else "bad") for line in lines)


def _figures(runs: Sequence[Result], style: Style) -> Iterator[str]:
    durations = [run.duration_us for run in runs]
    yield _row("Task Duration", [f"{us(value)} us" for value in durations], style, note=_factor(durations))
    aiv = [run.aiv_time_us.mean for run in runs]
    yield _row("AIV time, mean over cores", [f"{us(value)} us" for value in aiv], style, note=_factor(aiv))
    yield _row("cores", [f"{run.block_dim:,}" for run in runs], style)
    yield _row("instructions", [f"{run.instructions:,}" for run in runs], style)
    yield _row("GM read and written", [size(run.memory.read_bytes + run.memory.written_bytes) for run in runs], style)
    for pipe in runs[-1].pipes:
        busy = [f"{us(run.pipes[pipe].busy_us)} us{100 * run.pipes[pipe].ratio:4.0f} %" for run in runs]
        yield _row(f"aiv_{pipe} busy", busy, style)
    yield _row("limit", [f"aiv_{run.bound}" for run in runs], style)


def _waits(runs: Sequence[Result], style: Style) -> Iterator[str]:
    """The longest reasons for which a pipe stood still, mean over the cores; a block's start and end are left out."""
    sums = [_idle(run) for run in runs]
    share = max(max(found.values(), default=0.0) for found in sums) and max(run.aiv_time_us.mean for run in runs)
    keys = sorted({key for found in sums for key in found}, key=lambda key: -max(found.get(key, 0.0) for found in sums))
    shown = [key for key in keys if max(found.get(key, 0.0) for found in sums) > _SMALL_SHARE * share]
    for pipe, reason in shown[:_REASONS_SHOWN]:
        times = [f"{us(found.get((pipe, reason), 0.0))} us" for found in sums]
        yield _row(f"aiv_{pipe} idle: {reason}", times, style)


def _idle(run: Result) -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], float] = defaultdict(float)
    for entry in run.account.sums:
        if entry.reason not in _BEYOND_A_KERNEL:
            found[entry.pipe, entry.reason.text] += entry.us * (1 - entry.in_flight_cycles / entry.cycles)
    return found


def _factor(values: Sequence[float]) -> str:
    if len(values) < 2 or not values[0] or not values[1]:
        return ""
    before, after = values
    if abs(before / after - 1) < _SMALL_SHARE:
        return "the same"
    return f"{before / after:,.3g}x faster" if before > after else f"{after / before:,.3g}x slower"


def _row(name: str, cells: Sequence[str], style: Style, *, head: bool = False, note: str = "") -> str:
    text = "".join(f"{cell:>{_COLUMNS}}" for cell in cells)
    line = f"{name:<{_NAMES_COLUMNS}}{style.paint(text, 'bold') if head else text}"
    return f"{line}  {style.paint(note, 'accent')}" if note else line
