"""The two functions of an interface as Python has them, with a signature and a docstring."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from ascend_sim.host.aclnn.executor import first_phase, second_phase
from ascend_sim.host.aclnn.interface import Interface, Parameter, snake
from ascend_sim.host.aclnn.registry import interface_named, interfaces
from ascend_sim.host.aclnn.status import Status
from ascend_sim.host.operator import Operator

_SUFFIX = "_get_workspace_size"


def function_names() -> list[str]:
    """All functions, in snake case."""
    return [name + suffix for name in interfaces() for suffix in (_SUFFIX, "")]


def function_named(name: str) -> Callable[..., Any]:
    """The function called `name`, in snake case or as its header spells it."""
    return _function(snake(name))


@cache
def _function(name: str) -> Callable[..., Any]:
    interface, operator = interface_named(name.removesuffix(_SUFFIX))
    return _first(interface, operator) if name.endswith(_SUFFIX) else _second(interface)


def _first(interface: Interface, operator: Operator) -> Callable[..., Any]:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature([inspect.Parameter(p.python_name, kind) for p in interface.parameters])

    def phase(*args: Any, **kwargs: Any) -> Any:
        return first_phase(interface, operator, signature.bind(*args, **kwargs).arguments)

    lines = [
        f"First phase of {interface.name}: check the call and plan it, for the device that is current.",
        "",
        operator.summary,
        "",
        *(f"    {p.python_name}: {_describe(p)}" for p in interface.parameters),
        "",
        "Answers (status, workspace size in bytes, executor); get_recent_err_msg() has the text of a refusal.",
    ]
    return _finished(phase, interface.python_name + _SUFFIX, signature, "\n".join(lines))


def _second(interface: Interface) -> Callable[..., Any]:
    def phase(workspace: Any, workspace_size: int, executor: Any, stream: Any) -> Status:
        return second_phase(interface, workspace, workspace_size, executor, stream)

    text = (
        f"Second phase of {interface.name}: queue the executor's work on `stream` (None: the device's default stream)."
        "\n\nAnswers a status. Results are there after stream.synchronize()."
    )
    return _finished(phase, interface.python_name, inspect.signature(phase), text)


def _finished(phase: Callable[..., Any], name: str, signature: inspect.Signature, text: str) -> Callable[..., Any]:
    phase.__name__ = phase.__qualname__ = name
    phase.__module__ = "ascend_sim.host.aclnn"
    phase.__signature__ = signature  # type: ignore[attr-defined]
    phase.__doc__ = text
    return phase


def _describe(parameter: Parameter) -> str:
    """`input x, non-contiguous allowed`."""
    notes = [f"{parameter.kind} {parameter.meaning}"]
    notes += ["may be None"] if parameter.optional else []
    notes += ["non-contiguous allowed"] if parameter.strided else []
    return ", ".join(notes)
