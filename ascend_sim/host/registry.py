"""The operators that there are: every folder under ops/ that holds an op.py."""

from __future__ import annotations

import difflib
import importlib
import re
from functools import cache

from ascend_sim.errors import UnsupportedError
from ascend_sim.host.operator import Operator
from ascend_sim.resources import directory


@cache
def operator_names() -> tuple[str, ...]:
    """Names of all operators, sorted; nothing is imported for it."""
    return tuple(sorted(folder.parent.name for folder in directory("ops").glob("*/op.py")))


def operator_named(name: str) -> Operator:
    """The operator called `name`, in snake case or as its definition spells it ("InplacePartialRotaryMul")."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    if snake not in operator_names():
        raise UnsupportedError(_unknown(name, snake))
    return _load(snake)


@cache
def _load(name: str) -> Operator:
    found = importlib.import_module(f"ascend_sim.oplib.{name}.op").OP
    if not isinstance(found, Operator) or found.name != name:
        raise AssertionError(f"ops/{name}/op.py must define OP, an Operator named {name!r}")
    return found


def _unknown(name: str, snake: str) -> str:
    known = operator_names()
    near = difflib.get_close_matches(snake, known, n=3, cutoff=0.7)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"
    return f"unknown operator {name!r}: {hint}"
