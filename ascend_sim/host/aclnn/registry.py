"""The interfaces that there are: what every `ops/<op>/aclnn.py` declares."""

from __future__ import annotations

import difflib
import importlib
from functools import cache

from ascend_sim.errors import UnsupportedError
from ascend_sim.host.aclnn.interface import Interface, snake
from ascend_sim.host.operator import Operator
from ascend_sim.host.registry import operator_named
from ascend_sim.resources import directory


@cache
def interfaces() -> dict[str, tuple[Interface, Operator]]:
    """Interfaces with their operators, by the second phase's name in snake case."""
    found: dict[str, tuple[Interface, Operator]] = {}
    for path in sorted(directory("ops").glob("*/aclnn.py")):
        folder = path.parent.name
        for declared in importlib.import_module(f"ascend_sim.oplib.{folder}.aclnn").INTERFACES:
            found[declared.python_name] = (declared, operator_named(folder))
    return found


def interface_named(name: str) -> tuple[Interface, Operator]:
    """The interface called `name`, in snake case or as its header spells it."""
    known, wanted = interfaces(), snake(name)
    if wanted not in known:
        near = difflib.get_close_matches(wanted, known, n=3, cutoff=0.6)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"
        raise UnsupportedError(f"unknown aclnn interface {name!r}: {hint}")
    return known[wanted]
