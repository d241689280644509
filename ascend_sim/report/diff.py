"""Two runs side by side: what got better, what got worse, and at which source lines.

Works on what `run --json --full` wrote, so that the runs may be of different days, chips or versions of a kernel.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ascend_sim.errors import InputError
from ascend_sim.report.full import VERSION

Run = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Quantity:
    """One figure of both runs; `unit` "us", "B", "instr" or "%". Less is better."""

    name: str
    unit: str
    before: float
    after: float

    @property
    def change(self) -> float:
        return self.after - self.before

    @property
    def ratio(self) -> float | None:
        """Relative change, None where there was nothing before."""
        return self.change / self.before if self.before else None

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "unit": self.unit, "before": self.before, "after": self.after}


@dataclass(frozen=True, slots=True)
class LineChange:
    """One source line of both runs ("": the line is not in that one): its place, its text, and what it costs in us
    (its part of the critical path, its work and its waits)."""

    before: str
    after: str
    text: str
    path: Quantity
    work: Quantity
    wait: Quantity

    def to_json(self) -> dict[str, Any]:
        figures = {q.name: {"before": q.before, "after": q.after} for q in (self.path, self.work, self.wait)}
        return {"before": self.before, "after": self.after, "text": self.text} | figures


@dataclass(frozen=True, slots=True)
class Diff:
    """`names` of the two runs; quantities by section ("time", "pipes", "waits", "instructions", "bytes", "path"), lines
    with the largest change first."""

    names: tuple[str, str]
    sections: dict[str, list[Quantity]]
    lines: list[LineChange]

    def to_json(self) -> dict[str, Any]:
        sections = {name: [q.to_json() for q in found] for name, found in self.sections.items()}
        return {"runs": list(self.names)} | sections | {"lines": [line.to_json() for line in self.lines]}


def read_run(path: Path) -> Run:
    """The JSON of a run; refused unless it was written with --full."""
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror or error}") from error
    except ValueError as error:
        raise InputError(f"{str(path)!r} is not JSON: {error}") from error
    full = found.get("full") if isinstance(found, dict) else None
    if not isinstance(full, dict):
        raise InputError(f"{str(path)!r} does not hold a run that can be compared: write it with `run --json --full`")
    if full.get("version") != VERSION:
        raise InputError(
            f"{str(path)!r} holds version {full.get('version')!r} of what `run --json --full` writes: this program "
            f"compares version {VERSION}"
        )
    return found


def compare_runs(before: Run, after: Run) -> Diff:
    """Everything that both runs tell."""
    names = _names(before, after)
    sections = {
        "time": list(_times(before, after)),
        "pipes": list(_pipes(before, after)),
        "waits": list(_waits(before, after)),
        "path": list(_path(before, after)),
        "instructions": list(_counts(before, after)),
        "bytes": list(_bytes(before, after)),
    }
    return Diff(names, sections, _lines(before["full"]["lines"], after["full"]["lines"]))


def _names(before: Run, after: Run) -> tuple[str, str]:
    first, second = (f"{run['op']} on {run['variant']}" for run in (before, after))
    return first, second


def _times(before: Run, after: Run) -> Iterator[Quantity]:
    yield Quantity("Task Duration", "us", before["duration_us"], after["duration_us"])
    yield Quantity("launch", "us", before["launch_us"], after["launch_us"])
    for name in ("mean", "max"):
        yield Quantity(f"AIV time, {name}", "us", before["aiv_time_us"][name], after["aiv_time_us"][name])


def _pipes(before: Run, after: Run) -> Iterator[Quantity]:
    for name in before["pipes"]:
        yield Quantity(f"aiv_{name} busy", "us", before["pipes"][name]["busy_us"], after["pipes"][name]["busy_us"])
        first, second = (run["full"]["pipe_instructions"][name] for run in (before, after))
        yield Quantity(f"aiv_{name} instructions", "instr", first, second)


def _waits(before: Run, after: Run) -> Iterator[Quantity]:
    """Gaps by pipe and reason, idle and in flight together, the largest change first."""
    first, second = (_wait_table(run["full"]["pipes"]) for run in (before, after))
    yield from _by_change("us", first, second)


def _wait_table(pipes: Mapping[str, Any]) -> dict[str, float]:
    table: dict[str, float] = {}
    for pipe, total in pipes.items():
        for kind in ("idle_by_us", "in_flight_by_us"):
            for reason, us in total[kind].items():
                name = f"aiv_{pipe}: {reason.replace('_', ' ')}"
                table[name] = round(table.get(name, 0.0) + us, 4)
    return table


def _path(before: Run, after: Run) -> Iterator[Quantity]:
    """Shares of the critical path in per cent, by class."""
    first, second = ({name: 100 * share for name, share in run["full"]["path"].items()} for run in (before, after))
    yield from _by_change("%", first, second)


def _counts(before: Run, after: Run) -> Iterator[Quantity]:
    yield Quantity("all instructions", "instr", before["instructions"], after["instructions"])
    yield from _by_change("instr", before["full"]["instructions"], after["full"]["instructions"])


def _bytes(before: Run, after: Run) -> Iterator[Quantity]:
    for name in ("read_bytes", "written_bytes", "hbm_read_bytes", "hbm_written_bytes"):
        words = name.removesuffix("_bytes").replace("hbm_", "HBM ")
        yield Quantity(words, "B", before["memory"][name], after["memory"][name])


def _by_change(unit: str, first: Mapping[str, float], second: Mapping[str, float]) -> Iterator[Quantity]:
    names = dict.fromkeys([*first, *second])
    found = [Quantity(name, unit, first.get(name, 0), second.get(name, 0)) for name in names]
    yield from sorted(found, key=lambda q: -abs(q.change))


# -- source lines -----------------------------------------------------------------------------------------------------


def _lines(before: Iterable[Run], after: Iterable[Run]) -> list[LineChange]:
    """Lines are the same where their text is; of several alike the first is the first, and so on."""
    first, second = _by_text(before), _by_text(after)
    changes = []
    for text in dict.fromkeys([*first, *second]):
        mine, theirs = first.get(text, []), second.get(text, [])
        for number in range(max(len(mine), len(theirs))):
            old = mine[number] if number < len(mine) else None
            new = theirs[number] if number < len(theirs) else None
            changes.append(_change(old, new))
    return sorted(changes, key=lambda change: -max(abs(change.path.change), abs(change.work.change)))


def _by_text(lines: Iterable[Run]) -> dict[str, list[Run]]:
    found: dict[str, list[Run]] = {}
    for line in sorted(lines, key=_place):
        found.setdefault(line["text"] or line["line"], []).append(line)
    return found


def _place(line: Run) -> tuple[str, int]:
    file, _, number = line["line"].rpartition(":")
    return file, int(number) if number.isdigit() else 0


def _change(before: Run | None, after: Run | None) -> LineChange:
    def both(name: str, value: Any) -> Quantity:
        old, new = (value(line) if line else 0.0 for line in (before, after))
        return Quantity(name, "us", old, new)

    line = before or after
    assert line is not None
    return LineChange(
        before["line"] if before else "",
        after["line"] if after else "",
        line["text"],
        both("path_us", lambda line: line["path_us"]),
        both("work_us", lambda line: round(sum(line["work_us"].values()), 4)),
        both("wait_us", lambda line: line["wait_us"]),
    )
