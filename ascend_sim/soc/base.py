"""What every section of a chip description shares: strict frozen models, byte sizes, units read off field names."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


class Section(BaseModel):
    """A group of chip parameters. Values are checked strictly, unknown names are refused, nothing changes later."""

    model_config = ConfigDict(
        strict=True, frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True, defer_build=True
    )


_SIZE = re.compile(r"(\d+)\s*(KiB|MiB|GiB)")
_SIZE_FACTORS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def parse_size(value: object) -> object:
    """`"192 MiB"` as a number of bytes; anything else is left to the model to judge."""
    if isinstance(value, str) and (match := _SIZE.fullmatch(value.strip())):
        return int(match[1]) * _SIZE_FACTORS[match[2]]
    return value


Size = Annotated[int, BeforeValidator(parse_size)]
"""A whole number of bytes; the files and overrides may also write `"192 MiB"`."""

Bytes = Annotated[Size, Field(ge=1)]
"""The size of something that is there."""

ReservedBytes = Annotated[Size, Field(ge=0)]
"""How many bytes are kept back, possibly none."""

Count = Annotated[int, Field(ge=1)]
"""How many there are of something: a whole number, at least 1."""

Rate = Annotated[float, Field(gt=0)]
"""A speed or a frequency: more than 0, in the unit that the field's name ends in."""


class DescribedOnly:
    """Marks what belongs to a chip's description but decides nothing that is simulated: a what-if value would change
    no result, so overrides refuse it."""


DESCRIBED_ONLY = DescribedOnly()

_UNITS = {
    "mhz": "MHz",
    "gbps": "GB/s",
    "bytes": "B",
    "cycles": "cycles",
    "us": "us",
    "ns": "ns",
    "aic": "cores",
    "aiv": "cores",
    "cores": "cores",
    "groups": "groups",
    "banks": "banks",
    "entries": "entries",
    "slots": "slots",
    "lines": "lines",
    "ways": "ways",
    "count": "1",
    "elements": "elements",
    "instructions": "instructions",
    "accesses": "accesses",
    "units": "units",
    "ports": "ports",
    "factor": "1",
    "ratio": "1",
    "share": "1",
}


def unit_of(path: str) -> str | None:
    """The unit that a dotted path speaks of, from the last of its names that ends in one.

    `l2.read_bytes_per_cycle` is in B/cycle, `timing.vector.tail_cycles.Add` in cycles; None when no name says.
    """
    for name in reversed(path.split(".")):
        amount, _, per = name.partition("_per_")
        unit = _UNITS.get(amount.rpartition("_")[2])
        if unit is not None:
            return f"{unit}/{per.replace('_per_', '/').replace('_', ' ')}" if per else unit
    return None
