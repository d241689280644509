"""Texts of refused values: the parameter's path, what was given, what is allowed, and where it was given."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from ascend_sim.soc.base import unit_of
from ascend_sim.soc.tree import Leaves

_ALLOWED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "a text",
    "finite_number": "a finite number",
    "greater_than": "a number greater than {gt:g}",
    "greater_than_equal": "a number of at least {ge:g}",
    "less_than": "a number less than {lt:g}",
    "less_than_equal": "a number of at most {le:g}",
    "multiple_of": "a multiple of {multiple_of:g}",
    "literal_error": "{expected}",
}


def refusal(error: ValidationError, leaves: Leaves, variant: str) -> str:
    """One line for everything that the models refused about `variant`."""
    return "; ".join(_one(dict(item), leaves, variant) for item in error.errors(include_url=False))


def _one(item: dict[str, Any], leaves: Leaves, variant: str) -> str:
    path = ".".join(str(part) for part in item["loc"])
    context = item.get("ctx", {})
    if item["type"] == "missing":
        return f"{variant}: {path} is missing; it must be given in the chip's files"
    if item["type"] == "extra_forbidden":
        return f"{_file(leaves, path)}{variant} has no parameter {path!r}"
    if item["type"] == "value_error":
        return f"{_file(leaves, path)}{path} of {variant}: {context['error']}"
    allowed = _ALLOWED.get(item["type"], item["msg"][:1].lower() + item["msg"][1:]).format(**context)
    unit = unit_of(path)
    return (
        f"{_file(leaves, path)}{path} of {variant} cannot be {item['input']!r}; "
        f"allowed: {allowed}{f' ({unit})' if unit else ''}"
    )


def _file(leaves: Leaves, path: str) -> str:
    files = {leaf.file for name, leaf in leaves.items() if name == path or name.startswith(f"{path}.")}
    return f"{files.pop()}: " if len(files) == 1 else ""


def derivation(model: type[BaseModel], path: str) -> str:
    """How the derived value at `path` comes about, or "" when nothing derived is there."""
    name, _, rest = path.partition(".")
    if not rest:
        computed = model.model_computed_fields.get(name)
        return (computed.description or "").strip().rstrip(".") if computed else ""
    field = model.model_fields.get(name)
    if field is None:
        return ""
    kinds = (field.annotation, *get_args(field.annotation))
    models = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)]
    return derivation(models[0], rest) if models else ""
