"""How an aclnn interface is declared: the parameters of its first phase, and what it answers when the host refuses.

An operator's interfaces stand in `ops/<op>/aclnn.py` under the name `INTERFACES`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ascend_sim.host.aclnn.status import Status

Kind = Literal["input", "output", "attribute"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: `name` as the C header spells it, `meaning` as the operator's declaration does.

    `optional`: a null pointer is allowed; an attribute then takes `default`. `strided`: the page allows a
    non-contiguous tensor, which is copied. `allowed` are an attribute's documented values where the operator's own host
    code does not look at all of them.
    """

    kind: Kind
    name: str
    meaning: str
    optional: bool = False
    strided: bool = False
    default: Any = None
    allowed: tuple[Any, ...] = ()

    @property
    def python_name(self) -> str:
        """`rotaryModeOptional` is `rotary_mode_optional` in Python."""
        return snake(self.name)


def tensor(name: str, meaning: str = "", *, optional: bool = False, strided: bool = False) -> Parameter:
    """An input tensor; one in place is an input as well."""
    return Parameter("input", name, meaning or name, optional, strided)


def out(name: str, meaning: str, *, optional: bool = False) -> Parameter:
    """A tensor that only takes a result. `optional` ones may be null although the operator computes them."""
    return Parameter("output", name, meaning, optional)


def attribute(
    name: str, meaning: str = "", *, optional: bool = False, default: Any = None, allowed: tuple[Any, ...] = ()
) -> Parameter:
    return Parameter("attribute", name, meaning or name, optional, default=default, allowed=allowed)


@dataclass(frozen=True, slots=True)
class Interface:
    """One pair of functions. `name` is the second phase's ("aclnnInplacePartialRotaryMul").

    `refusal` is the code that the interface's page gives for calls which the operator's host code refuses: shapes,
    modes, ranges. `fixed` are attributes that the interface does not ask for. `empty_is_done`: a call whose outputs
    have no elements succeeds and launches nothing.
    """

    name: str
    parameters: tuple[Parameter, ...]
    refusal: Status
    fixed: Mapping[str, Any] = field(default_factory=dict)
    empty_is_done: bool = False

    @property
    def python_name(self) -> str:
        return snake(self.name)

    def of_kind(self, kind: Kind) -> tuple[Parameter, ...]:
        return tuple(parameter for parameter in self.parameters if parameter.kind == kind)


def snake(name: str) -> str:
    """`aclnnApplyRotaryPosEmbV2` as Python writes it: `aclnn_apply_rotary_pos_emb_v2`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
