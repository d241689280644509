"""The axes of a sweep: `x.S=128..32768:x2`, `x.1=64,128`, `soc=ascend910b,ascend950`, `dtype=float16,bfloat16`."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ascend_sim.errors import InputError

FORM = (
    "--over takes NAME=VALUES: x.S=128..32768:x2 (or :+64, or a list), soc=A,B, dtype=float16,bfloat16, "
    "ATTRIBUTE=VALUE,VALUE or, where values are lists, ATTRIBUTE='0,64;0,128'"
)
MOST_DIGITS = 18
"""Of a number: more than any size has, and few enough for an int64."""
_NUMBER = f"[0-9]{{1,{MOST_DIGITS}}}"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?::([x+])({_NUMBER}))?")
MOST_POINTS = 100_000


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: its name as given, and its values in order; `given` is the text that they were read from."""

    name: str
    values: tuple[str, ...]
    given: str = ""


def read_axes(texts: Sequence[str]) -> list[Axis]:
    """The axes as given on the command line; the last one changes fastest."""
    found: list[Axis] = []
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals or not name.strip() or not values.strip():
            raise InputError(f"--over {text!r}: {FORM}")
        if name.strip() in {axis.name for axis in found}:
            raise InputError(f"--over {name.strip()} is given twice")
        found.append(Axis(name.strip(), tuple(_values(text, values.strip())), values.strip()))
    if not found:
        raise InputError(f"a sweep needs --over: {FORM}")
    return found


def _values(text: str, given: str) -> Iterator[str]:
    found = _RANGE.fullmatch(given)
    if found is None:
        if re.match(r"\d*\.\.", given):
            raise InputError(
                f"--over {reprlib.repr(text)}: a range is FIRST..LAST, FIRST..LAST:xFACTOR or FIRST..LAST:+STEP, of "
                f"numbers of up to {MOST_DIGITS} digits"
            )
        yield from dict.fromkeys(_listed(text, given))
        return
    first, last, step = int(found[1]), int(found[2]), int(found[4] or 1)
    if first > last:
        raise InputError(f"--over {text!r}: the range is empty, {first} is more than {last}")
    if step < (2 if found[3] == "x" else 1) or (found[3] == "x" and first == 0):
        raise InputError(
            f"--over {text!r}: such a range never ends: factors are 2 or more (from 1 on), steps 1 or more"
        )
    if found[3] != "x" and (last - first) // step >= MOST_POINTS:
        raise InputError(too_many((last - first) // step + 1))
    value = first
    while value <= last:
        yield str(value)
        value = value * step if found[3] == "x" else value + step


def _listed(text: str, given: str) -> Iterator[str]:
    """The values of a list: cut at every `;` if there is one, else at every comma outside of brackets."""
    cut = ";" if ";" in given else ","
    depth = begin = 0
    for place, letter in enumerate(f"{given}{cut}"):
        depth += (letter in "[(") - (letter in "])")
        if letter == cut and depth <= 0:
            value = given[begin:place].strip()
            if not value:
                raise InputError(f"--over {text!r}: a value is empty")
            yield value
            begin = place + 1
    if depth > 0:
        raise InputError(f"--over {text!r}: a bracket is not closed")


def is_number(value: str) -> bool:
    """Whether a value may be a size."""
    return re.fullmatch(_NUMBER, value) is not None


def too_many(count: int) -> str:
    return f"the axes have {count:,} points; a sweep takes at most {MOST_POINTS:,}"
