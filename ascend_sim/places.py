"""Instructions in words: what they are called and where in the source they stand, as short as they can be found by."""

from __future__ import annotations

from pathlib import PurePath

from ascend_sim.program import Instr


def place_of(instr: Instr | None) -> str:
    """`Muls kernel.py:52`, the name alone where the source is not known, "" for nothing."""
    if instr is None:
        return ""
    return f"{instr.name} {line_of(instr)}" if instr.place else instr.name


def line_of(instr: Instr | None) -> str:
    """`kernel.py:52`, "?" where the source is not known."""
    place = instr.place if instr else None
    return f"{PurePath(place.file).name}:{place.line}" if place else "?"
