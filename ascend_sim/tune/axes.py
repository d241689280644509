"""The axes of a sweep: `x.S=128..32768:x2`, `x.1=64,128`, `soc=ascend910b,ascend950`, `dtype=float16,bfloat16`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from ascend_sim.errors import InputError
from ascend_sim.host.operator import Operator
from ascend_sim.host.tensors import TensorInfo

FORM = (
    "--over takes NAME=VALUES: x.S=128..32768:x2 (or :+64, or a list), soc=A,B, dtype=float16,bfloat16, "
    "ATTRIBUTE=VALUE,VALUE"
)
DIMS = {4: "BSND", 3: "TND"}
_RANGE = re.compile(r"^(\d+)\.\.(\d+)(?::([x+])(\d+))?$")
MOST_POINTS = 100_000


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: its name as given, and its values in order."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Point:
    """One call of a sweep: where it stands on each axis, and what it is."""

    number: int
    at: Mapping[str, str]
    soc: str
    inputs: Mapping[str, TensorInfo]
    attrs: Mapping[str, Any]


def read_axes(texts: Sequence[str]) -> list[Axis]:
    """The axes as given on the command line; the last one changes fastest."""
    found: list[Axis] = []
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals or not name.strip() or not values.strip():
            raise InputError(f"--over {text!r}: {FORM}")
        if name.strip() in {axis.name for axis in found}:
            raise InputError(f"--over {name.strip()} is given twice")
        found.append(Axis(name.strip(), tuple(_values(text, values.strip()))))
    if not found:
        raise InputError(f"a sweep needs --over: {FORM}")
    return found


def _values(text: str, given: str) -> Iterator[str]:
    found = _RANGE.match(given)
    if found is None:
        if ".." in given:
            raise InputError(f"--over {text!r}: a range is FIRST..LAST, FIRST..LAST:xFACTOR or FIRST..LAST:+STEP")
        yield from dict.fromkeys(value.strip() for value in given.split(","))
        return
    first, last, step = int(found[1]), int(found[2]), int(found[4] or 1)
    if first > last:
        raise InputError(f"--over {text!r}: the range is empty, {first} is more than {last}")
    if step < (2 if found[3] == "x" else 1) or (found[3] == "x" and first == 0):
        raise InputError(
            f"--over {text!r}: such a range never ends: factors are 2 or more (from 1 on), steps 1 or more"
        )
    value = first
    while value <= last:
        yield str(value)
        value = value * step if found[3] == "x" else value + step


def points(
    operator: Operator, inputs: Mapping[str, TensorInfo], attrs: Mapping[str, Any], soc: str, axes: Sequence[Axis]
) -> list[Point]:
    """Every combination, the last axis fastest."""
    count = 1
    for axis in axes:
        count *= len(axis.values)
    if count > MOST_POINTS:
        raise InputError(f"the axes have {count:,} points; a sweep takes at most {MOST_POINTS:,}")
    found = []
    for number, values in enumerate(product(*(axis.values for axis in axes))):
        at = {axis.name: value for axis, value in zip(axes, values, strict=True)}
        found.append(_point(operator, number, at, dict(inputs), dict(attrs), soc))
    return found


def _point(
    operator: Operator,
    number: int,
    at: Mapping[str, str],
    inputs: dict[str, TensorInfo],
    attrs: dict[str, Any],
    soc: str,
) -> Point:
    sizes: dict[tuple[str, int], int] = {}
    for name, value in at.items():
        if name == "soc":
            soc = value
        elif name == "dtype":
            common = next(iter(inputs.values())).dtype
            inputs = {key: TensorInfo(i.shape, value if i.dtype == common else i.dtype) for key, i in inputs.items()}
        elif "." in name:
            tensor, _, letter = name.partition(".")
            tensor = operator.input_named(tensor).name
            if tensor not in inputs:
                raise InputError(f"--over {name}: the call has no input {tensor}; it has {', '.join(inputs)}")
            if not value.isdigit():
                raise InputError(f"--over {name}={value}: a size is a whole number")
            sizes[tensor, _dim(name, letter, inputs[tensor].rank)] = int(value)
        else:
            attrs[operator.attribute_named(name).name] = value
    for (tensor, dim), size in sizes.items():
        before = inputs[tensor].shape[dim]
        for key, info in inputs.items():  # sizes that agree stay so: cos follows x
            follows = key == tensor or (info.rank == inputs[tensor].rank and info.shape[dim] == before != 1)
            if follows:
                shape = (*info.shape[:dim], size, *info.shape[dim + 1 :])
                inputs[key] = TensorInfo(shape, info.dtype)
    return Point(number, dict(at), soc, inputs, attrs)


def _dim(name: str, dim: str, rank: int) -> int:
    letters = DIMS.get(rank, "")
    if dim.isdigit() and int(dim) < rank:
        return int(dim)
    if dim.upper() in letters and dim:
        return letters.index(dim.upper())
    allowed = f"0 to {rank - 1}" + (f" or {', '.join(letters)}" if letters else "")
    raise InputError(f"--over {name}: dim {dim!r} is not one of {allowed}")
