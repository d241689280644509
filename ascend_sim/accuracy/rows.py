"""The measured rows: what was run on which board, how it was timed, and what the counters said."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal

from ascend_sim.errors import InputError

DATA = Path(__file__).parent / "data"
PROTOCOLS = {
    "P1": "hundreds of launches back to back in one stream, median; L2 warm",
    "P2": "one launch replayed by a profiler, which clears L2 before it; clock and instruction cache warm",
    "P3": "256 copies of the launch in one captured graph, event time / 256; L2 warm, gaps between launches included",
    "P4": "a counter read inside the kernel before and after a loop; unified buffer only",
    "P5": "events around many launches that cycle through a pool of buffers",
    "P6": "one launch and a synchronise, 45 times, median; L2 as the working set leaves it",
    "step": "one launch inside a training step; L2 as the step left it",
}
LAUNCH_KINDS = ("back_to_back", "few_launches", "in_situ")


@dataclass(frozen=True, slots=True)
class Row:
    """One measured launch.

    `soc`: the variant of the board. `group`: who measured. `family` and `params`: how `accuracy.kernels` rebuilds it
    (None with a `reason` when it cannot be). `kind`: what the kernel is like, for the expected error. `protocol`,
    `launch_kind`, `l2`: how it was timed. `block_dim` None: not known. `metrics` in us (times of pipes are means over
    the blocks), `*_ratio` and `l2_hit` from 0 to 1; `loop_us` is the time between two counter reads in the kernel.
    `required`: must be in the table.
    """

    id: str
    soc: str
    group: str
    kernel: str
    kind: str
    protocol: str
    launch_kind: Literal["back_to_back", "few_launches", "in_situ"]
    l2: Literal["warm", "cold"]
    block_dim: int | None
    shapes: tuple[tuple[int, ...], ...]
    dtype: str
    metrics: Mapping[str, float]
    source: str
    trust: str
    family: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    required: bool = False

    @property
    def headline(self) -> str:
        """The metric by which the row is judged: the task's duration, or the loop's for a counter in the kernel."""
        return "loop_us" if "loop_us" in self.metrics else "duration_us"

    @property
    def measured_us(self) -> float:
        return self.metrics[self.headline]


_FIELDS = {f.name for f in fields(Row)}


def read_rows(path: Path) -> Iterator[Row]:
    """The rows of one file. Raises `InputError` with the line for anything that is not a row."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            yield _row(line, f"{path.name}:{number}")


def _row(line: str, where: str) -> Row:
    try:
        given = json.loads(line)
    except json.JSONDecodeError as error:
        raise InputError(f"{where}: not a JSON object: {error}") from None
    if not isinstance(given, dict):
        raise InputError(f"{where}: a row must be a JSON object, not {type(given).__name__}")
    unknown = sorted(set(given) - _FIELDS)
    if unknown:
        raise InputError(f"{where}: unknown field {unknown[0]!r}; a row has {', '.join(sorted(_FIELDS))}")
    try:
        row = Row(**{**given, "shapes": tuple(map(tuple, given.get("shapes", ())))})
    except TypeError as error:
        raise InputError(f"{where}: {str(error).removeprefix('Row.__init__() ')}") from None
    _check(row, where)
    return row


def _check(row: Row, where: str) -> None:
    for name, value, allowed in (
        ("protocol", row.protocol, PROTOCOLS),
        ("launch_kind", row.launch_kind, LAUNCH_KINDS),
        ("l2", row.l2, ("warm", "cold")),
    ):
        if value not in allowed:
            raise InputError(f"{where}: {name} {value!r}; allowed are {', '.join(allowed)}")
    if "duration_us" not in row.metrics and "loop_us" not in row.metrics:
        raise InputError(f"{where}: metrics need duration_us or loop_us")
    if (row.family is None) != bool(row.reason):
        raise InputError(f"{where}: a row has either a family (how it is rebuilt) or a reason why it cannot be")


@cache
def all_rows() -> tuple[Row, ...]:
    """Every row that is shipped, in the order of the files."""
    rows = [row for path in sorted(DATA.glob("*.jsonl")) for row in read_rows(path)]
    seen: set[str] = set()
    for row in rows:
        if row.id in seen:
            raise InputError(f"row {row.id!r} stands twice in the data")
        seen.add(row.id)
    return tuple(rows)


def choose(rows: Iterable[Row], text: str | None) -> list[Row]:
    """Rows that have `text` in their id, kernel, family, kind, group or chip; `_` and `-` count as the same."""
    if text is None:
        return list(rows)
    wanted = _plain(text)
    return [
        row
        for row in rows
        if any(wanted in _plain(t) for t in (row.id, row.kernel, row.family or "", row.kind, row.group, row.soc))
    ]


def _plain(text: str) -> str:
    return text.lower().replace("-", "_").replace(" ", "_")
