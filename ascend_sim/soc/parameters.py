"""Parameters as people look them up: dotted path, value, unit, where the value comes from and how far to trust it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from pydantic import BaseModel

from ascend_sim.soc.base import unit_of

Grade = Literal["official", "measured", "fitted", "assumed", "derived", "override"]
GRADES: tuple[str, ...] = get_args(Grade)
FILE_GRADES = GRADES[:4]
"""Grades that a file may give: published, read on a board, adjusted to measured rows, or nobody knows."""

Value: TypeAlias = "int | float | str | bool | tuple[Value, ...] | None"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value comes from: `file` it stands in (or "override"), its source, grade, remark and explicit unit."""

    file: str
    source: str
    grade: str
    note: str = ""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a chip; `unit` is "" for names and switches."""

    path: str
    value: Value
    unit: str
    source: str
    grade: str
    note: str = ""


_IN_CODE = Origin("", "given in code", "override")
_IDENTITY = ("name", "variant", "arch")


def parameters_of(soc: BaseModel, origins: Mapping[str, Origin]) -> tuple[Parameter, ...]:
    """All leaves of `soc` below its identity, in declaration order."""
    return tuple(_parameter(path, value, text, origins) for path, value, text in _leaves(soc, "", _IDENTITY))


def _parameter(path: str, value: Value, derivation: str | None, origins: Mapping[str, Origin]) -> Parameter:
    unit = unit_of(path) or ""
    if derivation is not None:
        return Parameter(path, value, unit, derivation, "derived")
    origin = origins.get(path, _IN_CODE)
    return Parameter(path, value, origin.unit or unit, origin.source, origin.grade, origin.note)


def _leaves(node: object, prefix: str, skip: tuple[str, ...] = ()) -> Iterator[tuple[str, Value, str | None]]:
    """`(path, value, derivation)` of every leaf; the derivation is the docstring of a derived value, else None."""
    if isinstance(node, BaseModel):
        kind = type(node)
        for name in kind.model_fields:
            child = getattr(node, name)
            if name not in skip and not (child is None and name in ("timing", "vf")):
                yield from _leaves(child, _join(prefix, name))
        for name, computed in kind.model_computed_fields.items():
            yield _join(prefix, name), getattr(node, name), (computed.description or "").strip()
    elif isinstance(node, Mapping):
        for key, child in node.items():
            yield from _leaves(child, _join(prefix, str(key)))
    else:
        yield prefix, node, None  # type: ignore[misc]


def _join(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name
