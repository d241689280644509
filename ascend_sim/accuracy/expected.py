"""How far off an estimate is likely to be: from the errors of the measured rows that are like it.

The errors stand in `data/errors.json`, so that nobody has to simulate the table to get an answer;
`python -m ascend_sim.accuracy.expected` writes it anew after a change of the machine.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ascend_sim.host.operator import Operator
from ascend_sim.program import Program, VectorWork, VfWork

ERRORS = Path(__file__).parent / "data" / "errors.json"
NEAR = 3.0
"""Rows up to this factor shorter or longer are near."""
ENOUGH = 3
"""Fewer near rows say nothing."""
SHARE = 0.8
"""The band holds this share of the near rows."""

FAMILY, OTHERS = "this chip family", "other chips"
"""Whose rows the band is taken from where none is near."""

LIBRARY = "ascend_sim.oplib."
"""Where the packages of the library's operators are."""


@dataclass(frozen=True, slots=True)
class Point:
    """One row of the table: chip family, kind, measured time in us, signed relative error."""

    soc: str
    kind: str
    us: float
    error: float


@dataclass(frozen=True, slots=True)
class Expected:
    """`band`: relative, without sign; `rows`: how many measured rows it is taken from. When `extrapolated`, nothing
    measured is near, and `band` is that of all rows of the chip family, or of all chips where the family has none (None
    if there are no rows at all). `rows_of`: what the rows are of then."""

    band: float | None
    rows: int
    extrapolated: bool
    rows_of: str = FAMILY

    def __str__(self) -> str:
        if self.band is None:
            return "extrapolated: nothing measured is near"
        if self.extrapolated:
            return (
                f"±{100 * self.band:.0f} % (extrapolated: nothing measured is near; from all {self.rows} measured rows "
                f"of {self.rows_of})"
            )
        return f"±{100 * self.band:.0f} % (from {self.rows} measured rows of this kind and size)"

    def to_json(self) -> dict[str, Any]:
        band = None if self.band is None else round(self.band, 3)
        return {"band": band, "rows": self.rows, "extrapolated": self.extrapolated, "text": str(self)}


def expected_error(soc: str, kind: str, duration_us: float, points: Sequence[Point] | None = None) -> Expected:
    """What to expect of an estimate of `duration_us` on a chip of family `soc` ("ascend910b") for a kernel of `kind`.

    Kinds: "elementwise", "copy", "layout", "reduce", "rope", "instruction". Operators that rotate are "rope".
    """
    known = known_errors() if points is None else points
    family = [point for point in known if point.soc == soc]
    near = [
        abs(point.error)
        for point in family
        if point.kind == kind and abs(math.log(point.us / max(duration_us, 1e-6))) <= math.log(NEAR)
    ]
    if len(near) >= ENOUGH:
        return Expected(_quantile(near), len(near), False)
    rows = family or known
    return Expected(_quantile(abs(point.error) for point in rows), len(rows), True, FAMILY if family else OTHERS)


def kind_of(program: Program) -> str:
    """The kind of measured kernels that a kernel of the user's own is most like."""
    used = [instr for block in program.blocks[:1] for instr in set(block.instrs)]
    vector = [instr for instr in used if isinstance(instr.work, VectorWork | VfWork)]
    if not vector:
        return "copy"
    return "reduce" if any("reduce" in instr.row.name.lower() for instr in vector) else "elementwise"


def operator_kind(operator: Operator, program: Program) -> str:
    """All operators of the library rotate; one of the user's own is what its kernel does."""
    return "rope" if operator.package.startswith(LIBRARY) else kind_of(program)


def _quantile(sizes: Iterable[float]) -> float | None:
    ordered = sorted(sizes)
    return ordered[max(0, math.ceil(SHARE * len(ordered)) - 1)] if ordered else None


@cache
def known_errors() -> tuple[Point, ...]:
    """The errors of the table as they were last written."""
    return tuple(Point(**point) for point in json.loads(ERRORS.read_text(encoding="utf-8"))["rows"])


def points_of(entries: Iterable[Any]) -> list[Point]:
    """The points of a table (`table.Entry`): rows that a profiler timed; loops inside a kernel tell nothing here."""
    found = []
    for entry in entries:
        if entry.row.headline == "duration_us" and entry.headline is not None:
            compared = entry.headline
            family = entry.sample.soc
            found.append(Point(family, entry.row.kind, compared.measured, round(compared.error, 3)))
    return found


def write_errors(points: Iterable[Point], path: Path = ERRORS) -> None:
    """One row a line, so that a change shows which rows moved."""
    lines = [json.dumps({"soc": p.soc, "kind": p.kind, "us": p.us, "error": p.error}) for p in points]
    path.write_text('{"rows": [\n' + ",\n".join(lines) + "\n]}\n", encoding="utf-8")


if __name__ == "__main__":
    from ascend_sim.accuracy.rows import all_rows
    from ascend_sim.accuracy.table import make_table

    write_errors(points_of(make_table(all_rows())))
