"""What a parameter may be, read off its field: the half of an error text that says what is allowed."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt, MultipleOf
from pydantic import BaseModel, BeforeValidator

from ascend_sim.soc.base import DescribedOnly, parse_size, unit_of

_KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a text", type(None): "null"}
_BOUNDS = (
    (Gt, "gt", "greater than"),
    (Ge, "ge", "at least"),
    (Lt, "lt", "less than"),
    (Le, "le", "at most"),
    (MultipleOf, "multiple_of", "a multiple of"),
)


def field_rule(model: type[BaseModel], path: str) -> str:
    """What the field at the dotted `path` may be, for example "a whole number (B), at least 0"; "" when unknown."""
    annotation = annotation_at(model, path)
    return "" if annotation is None else describe(annotation, unit_of(path) or "")


def annotation_at(annotation: Any, path: str) -> Any:
    """The type, `Annotated` with its constraints, of the field at `path` below a model or a mapping type."""
    if not path:
        return annotation
    name, _, rest = path.partition(".")
    for kind in _alternatives(annotation):
        if isinstance(kind, type) and issubclass(kind, BaseModel) and name in kind.model_fields:
            field = kind.model_fields[name]
            inner = Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
            return annotation_at(inner, rest)
        if isinstance(origin := get_origin(kind), type) and issubclass(origin, Mapping):
            return annotation_at(get_args(kind)[1], rest)
    return None


def describe(annotation: Any, unit: str = "") -> str:
    """The type in words, with unit and bounds."""
    base, metadata = _unpacked(annotation)
    kinds = _alternatives(base)
    if len(kinds) > 1:
        return " or ".join(describe(kind, unit) for kind in kinds)
    if get_origin(base) is Literal:
        return " or ".join(repr(choice) for choice in get_args(base))
    if get_origin(base) is tuple:
        return f"a list, each item {describe(get_args(base)[0], unit)}"
    text = _KINDS.get(base, "a group of parameters")
    if base in (int, float) and unit not in ("", "1"):
        text += f" ({unit})"
    text += "".join(_bounds(metadata))
    if any(isinstance(item, BeforeValidator) and item.func is parse_size for item in metadata):
        text += ", or a size such as '256 KiB'"
    return text


def _bounds(metadata: tuple[Any, ...]) -> Iterator[str]:
    """The constraints in words; pydantic keeps each as itself or inside a `FieldInfo`."""
    for item in metadata:
        for constraint in getattr(item, "metadata", None) or (item,):
            for kind, name, words in _BOUNDS:
                if isinstance(constraint, kind):
                    yield f", {words} {getattr(constraint, name):.12g}"


def described_only(model: type[BaseModel], path: str) -> bool:
    """Whether the field at `path`, or a group that it stands in, is marked as deciding nothing that is simulated."""
    names = path.split(".")
    found = (annotation_at(model, ".".join(names[: depth + 1])) for depth in range(len(names)))
    return any(isinstance(item, DescribedOnly) for annotation in found for item in _unpacked(annotation)[1])


def derivation(model: type[BaseModel], path: str) -> str:
    """How the derived value at `path` comes about, or "" when nothing derived is there."""
    group, _, name = path.rpartition(".")
    for kind in _alternatives(annotation_at(model, group)):
        if isinstance(kind, type) and issubclass(kind, BaseModel) and name in kind.model_computed_fields:
            return (kind.model_computed_fields[name].description or "").strip().rstrip(".")
    return ""


def _unpacked(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    if get_origin(annotation) is Annotated:
        base, *metadata = get_args(annotation)
        return base, tuple(metadata)
    return annotation, ()


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    base, _ = _unpacked(annotation)
    return get_args(base) if get_origin(base) in (Union, types.UnionType) else (base,)
