"""The operators that there are: every folder under ops/ that holds an op.py."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import os
import re
import sys
from functools import cache
from pathlib import Path

from ascend_sim.errors import InputError, UnsupportedError
from ascend_sim.host.operator import Operator
from ascend_sim.resources import directory


@cache
def operator_names() -> tuple[str, ...]:
    """Names of all operators, sorted; nothing is imported for it."""
    return tuple(sorted(folder.parent.name for folder in directory("ops").glob("*/op.py")))


def operator_named(name: str | Operator) -> Operator:
    """The operator called `name`, in snake case or as its definition spells it ("InplacePartialRotaryMul").

    A name with a slash is the path of an operator's folder ("./my_rope"); an Operator is answered as it is.
    """
    if isinstance(name, Operator):
        return name
    if not isinstance(name, str):
        raise InputError(f"op must be the name of an operator, not {type(name).__name__}")
    if "/" in name or os.sep in name:
        return operator_at(Path(name))
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    if snake not in operator_names():
        raise UnsupportedError(_unknown(name, snake))
    return _load(snake)


def operator_at(folder: Path) -> Operator:
    """The operator whose folder (as `ascend-sim new` writes it) is `folder`; its files are read once in a process."""
    return _load_folder(folder.resolve())


@cache
def _load_folder(folder: Path) -> Operator:
    name = folder.name
    if not (folder / "op.py").is_file():
        raise InputError(f"{str(folder)!r} is not the folder of an operator: it has no op.py")
    package = f"ascend_sim_folder_{len(sys.modules)}_{name}"  # two folders of one name stay apart
    spec = importlib.util.spec_from_file_location(
        package, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or not name.isidentifier():
        raise InputError(f"{str(folder)!r}: the folder of an operator must be named like a Python module")
    sys.modules[package] = importlib.util.module_from_spec(spec)
    try:
        found = getattr(importlib.import_module(f"{package}.op"), "OP", None)
    except (SyntaxError, ImportError, NameError, TypeError) as error:
        raise InputError(f"cannot load {folder / 'op.py'}: {type(error).__name__}: {error}") from error
    if not isinstance(found, Operator) or found.name != name:
        raise InputError(f"{folder / 'op.py'} must define OP, an Operator named {name!r} as its folder is")
    return found


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
