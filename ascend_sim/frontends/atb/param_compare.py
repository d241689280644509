"""Which kernel parameters are equal: types are registered with the comparison, as REG_OP_PARAM does."""

from __future__ import annotations

from typing import Any, TypeVar

_COMPARED: set[type] = set()
T = TypeVar("T", bound="type[Any]")


def register_op_param(cls: T) -> T:
    """REG_OP_PARAM, as a class decorator: the type's own equality is what counts."""
    _COMPARED.add(cls)
    return cls


def params_equal(first: Any, second: Any) -> bool:
    """Whether two parameters are the same; those of types that nobody registered never are."""
    return type(first) is type(second) and type(first) in _COMPARED and bool(first == second)
