"""Texts of refused values: the parameter's path, what was given, what is allowed, and where it was given."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ValidationError

from ascend_sim.soc.rules import field_rule
from ascend_sim.soc.tree import Leaves


def refusal(error: ValidationError, model: type[BaseModel], leaves: Leaves, variant: str) -> str:
    """One line for everything that `model` refused about `variant`, described by `leaves`."""
    items = {".".join(map(str, item["loc"])): dict(item) for item in error.errors(include_url=False)}
    return "; ".join(_one(path, item, model, leaves, variant) for path, item in items.items())


def _one(path: str, item: dict[str, Any], model: type[BaseModel], leaves: Leaves, variant: str) -> str:
    where = _files(leaves, path)
    if item["type"] == "missing":
        return f"{path} of {variant} is missing; the chip's files must give {field_rule(model, path)}"
    if item["type"] == "extra_forbidden":
        return f"{where}{variant} has no parameter {path!r}"
    if item["type"] == "value_error":
        return f"{where}{path} of {variant}: {item['ctx']['error']}"
    allowed = field_rule(model, path) or item["msg"][:1].lower() + item["msg"][1:]
    return f"{where}{path} of {variant} cannot be {item['input']!r}; allowed: {allowed}"


def _files(leaves: Leaves, path: str) -> str:
    """The files, or "override", that the values at or below `path` come from, as the beginning of a text."""
    files = {leaf.file for name, leaf in leaves.items() if name == path or name.startswith(f"{path}.")}
    return f"{', '.join(sorted(files))}: " if files else ""
