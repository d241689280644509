"""The shape of one row of the instruction table, and the table itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ascend_sim.isa.dtypes import DataType
from ascend_sim.program import PipeID

Arch = str  # "2201" (910B, 910_93) or "3510" (950)


@dataclass(frozen=True, slots=True)
class Row:
    """Everything that there is to know about one instruction.

    `name` is Ascend C's, `call` is asc's. `dtypes` gives, per architecture, the allowed dtype tuples in operand order
    (destination first); an architecture that is missing does not have the instruction. `compute` is the meaning on
    numpy arrays (already widened where rounding asks for it). `cost` is the key of the SoC file's vector table.
    `form` names the operand roles and signature (see `asc.forms`). `count_only` lists, per architecture, the dtypes
    that work with the count form alone. `accumulates`: dst may be src1 with a repeat stride of 0. `note` is the
    documentation line of the instruction.
    """

    name: str
    call: str
    pipe: PipeID
    form: str
    cost: str
    dtypes: Mapping[Arch, tuple[tuple[DataType, ...], ...]] = field(default_factory=dict)
    compute: Callable[..., Any] | None = None
    note: str = ""
    count_only: Mapping[Arch, tuple[DataType, ...]] = field(default_factory=dict)
    accumulates: bool = False


TABLE: dict[str, Row] = {}


def declare(row: Row) -> Row:
    """Put a row into the table; a second row for the same call is a mistake of ours."""
    if row.call in TABLE:
        raise AssertionError(f"instruction {row.call!r} declared twice")
    TABLE[row.call] = row
    return row
