"""ConstExpr: marks a kernel parameter as a compile-time Python value."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar, get_args, get_origin

from ascend_sim.errors import ArgumentError

__all__ = ["ConstExpr"]

T = TypeVar("T")


class _Marker:
    def __repr__(self) -> str:
        return "ConstExpr"


_MARKER = _Marker()

# `asc.ConstExpr[int]` is `int` to a type checker and carries the marker at run time
ConstExpr = Annotated[T, _MARKER]


def constexpr_type(annotation: Any) -> type[Any] | None:
    """The T of `ConstExpr[T]`, `object` for a bare `ConstExpr`, or None for any other annotation."""
    if get_origin(annotation) is not Annotated or _MARKER not in annotation.__metadata__:
        return None
    wanted = get_args(annotation)[0]
    origin = get_origin(wanted) or wanted
    return origin if isinstance(origin, type) else object


def constexpr_parameters(function: Callable[..., Any]) -> Mapping[str, type[Any]]:
    """The ConstExpr parameters of a kernel with their types.

    String annotations (`from __future__ import annotations`) are resolved here; pyasc does not allow them.
    """
    found: dict[str, type[Any]] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        annotation = parameter.annotation
        if isinstance(annotation, str):
            annotation = _resolve(function, annotation)
        wanted = constexpr_type(annotation)
        if wanted is not None:
            found[name] = wanted
    return found


def _resolve(function: Callable[..., Any], annotation: str) -> Any:
    """The object that a string annotation names; other annotations than ConstExpr are documentation and may fail."""
    code = function.__code__
    names = dict(zip(code.co_freevars, (c.cell_contents for c in function.__closure__ or ()), strict=False))
    try:
        return eval(annotation, function.__globals__, names)
    except Exception as error:
        if "ConstExpr" in annotation:
            raise ArgumentError(
                f"kernel {function.__name__!r}: the annotation {annotation!r} cannot be resolved: {error}"
            ) from error
        return None


def check_constexpr(kernel: str, name: str, value: Any, wanted: type[Any]) -> Any:
    """`value` for a ConstExpr parameter, refused when it is not a `wanted`."""
    if not isinstance(value, wanted):
        raise ArgumentError(
            f"kernel {kernel!r}: ConstExpr parameter {name!r} takes {wanted.__name__}, not {type(value).__name__} "
            f"({value!r})"
        )
    return value
