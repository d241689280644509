"""`*_instr_exe.csv` and `*_code_exe.csv`: how often instructions and source lines ran on a core, and how long."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ascend_sim.program import Instr
from ascend_sim.report.codes import Codes
from ascend_sim.report.metrics import union_cycles
from ascend_sim.report.msprof.drawing import detail, mnemonic, spans
from ascend_sim.report.msprof.names import LANES
from ascend_sim.timeline import CoreTimeline

INSTR_EXE = ("instr", "addr", "pipe", "call_count", "cycles", "running_time(us)", "detail")
CODE_EXE = ("code", "call_count", "cycles", "running_time(us)")


def write_instr_exe(path: Path, blocks: Iterable[CoreTimeline], clock_mhz: float) -> None:
    """One row per instruction of the source: equal ones of a line are one. `cycles` add up, `running_time` is the
    union of the intervals, from start to result; flags and barriers count as they are drawn. There are no addresses."""
    rows = [
        f'{name},,{pipe},{count},{cycles},{us},"{text}{", " if text and line else ""}{_quoted(line)}"'
        for (name, pipe, line, text), count, cycles, us in _rows(blocks, _instr_key, clock_mhz)
    ]
    _write(path, INSTR_EXE, rows)


def write_code_exe(path: Path, blocks: Iterable[CoreTimeline], clock_mhz: float) -> None:
    """One row per source line."""
    rows = [
        f'"{_quoted(line)}",{count},{cycles},{us}' if "," in line or '"' in line else f"{line},{count},{cycles},{us}"
        for (line,), count, cycles, us in _rows(blocks, _line_key, clock_mhz)
    ]
    _write(path, CODE_EXE, rows)


def _instr_key(instr: Instr) -> tuple[str, ...]:
    return mnemonic(instr), LANES[instr.pipe][0], str(instr.place or ""), detail(instr)


def _line_key(instr: Instr) -> tuple[str, ...]:
    return (str(instr.place or ""),)


def _rows(
    blocks: Iterable[CoreTimeline], key: Callable[[Instr], tuple[str, ...]], clock_mhz: float
) -> list[tuple[tuple[str, ...], int, int, float]]:
    """`(key, calls, cycles, us)`, longest first."""
    codes = Codes()
    columns: list[list[Any]] = [[], [], []]
    for core in blocks:
        found = codes.of(core.program.instrs)
        working = codes.working[found]
        begin, end = spans(core, codes, found)
        columns[0].append(found)
        columns[1].append(np.where(working, np.asarray(core.start, np.int64), begin))
        columns[2].append(np.where(working, np.asarray(core.end, np.int64), end))
    if not columns[0]:
        return []
    found, start, end = (np.concatenate(column) for column in columns)
    numbers: dict[tuple[str, ...], int] = {}
    groups = np.array([numbers.setdefault(key(instr), len(numbers)) for instr in codes.instrs], np.int64)
    group = groups[found] if len(found) else found
    order = np.argsort(group, kind="stable")
    edges = np.searchsorted(group[order], np.arange(len(numbers) + 1))
    rows = []
    for name, low, high in zip(numbers, edges, edges[1:], strict=False):
        mine = order[low:high]
        busy = union_cycles(start[mine], end[mine])
        rows.append((name, len(mine), int((end[mine] - start[mine]).sum()), round(busy / clock_mhz, 6)))
    return sorted(rows, key=lambda row: -row[2])


def _quoted(text: str) -> str:
    return text.replace('"', '""')


def _write(path: Path, head: tuple[str, ...], rows: Iterable[str]) -> None:
    path.write_text("\n".join([",".join(head), *rows, ""]), encoding="utf-8")
