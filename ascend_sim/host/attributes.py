"""Attributes of an operator: their kinds, defaults, and the texts that stand for their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ascend_sim.errors import TilingError

AttributeKind = Literal["int", "ints", "float", "str"]
_KIND_TEXT = {"int": "an integer", "ints": "a list of integers", "float": "a number", "str": "a text"}


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute. `strings` maps the documented texts ("interleave") to the operator's integers."""

    name: str
    kind: AttributeKind
    default: Any
    description: str
    strings: Mapping[str, int] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()

    def convert(self, op: str, value: Any) -> Any:
        """`value` as the operator holds it: int, tuple of int, float or str. Command line texts ("0,64") are read."""
        if isinstance(value, str) and value.strip() in self.strings:
            return self.strings[value.strip()]
        try:
            if self.kind == "int":
                return _integer(value)
            if self.kind == "ints":
                return _integers(value)
            if self.kind == "float":
                return _number(value)
            if isinstance(value, str):
                return value
            raise ValueError
        except ValueError:
            raise TilingError(f"{op}: attribute {self.name} is {value!r}; allowed is {self.allowed_text}") from None

    @property
    def allowed_text(self) -> str:
        """`an integer or interleave (1)`."""
        texts = [f"{text} ({number})" for text, number in self.strings.items()]
        return " or ".join([_KIND_TEXT[self.kind], *([", ".join(texts)] if texts else [])])


def _integer(value: Any) -> int:
    if isinstance(value, str):
        return int(value)
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ValueError
    try:
        return int(value.__index__())
    except TypeError:  # an array
        raise ValueError from None


def _number(value: Any) -> float:
    if isinstance(value, bool) or not (isinstance(value, str) or hasattr(value, "__float__")):
        raise ValueError
    try:
        return float(value)
    except TypeError:  # an array
        raise ValueError from None


def _integers(value: Any) -> tuple[int, ...]:
    if isinstance(value, str):
        inner = value.strip().removeprefix("[").removesuffix("]").strip()
        return tuple(int(part) for part in inner.split(",")) if inner else ()
    try:
        return tuple(_integer(item) for item in value)
    except TypeError:
        raise ValueError from None
