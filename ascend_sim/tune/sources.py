"""Where a worker finds an operator: in its own library, in a folder of this machine, or in files sent along."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ascend_sim.errors import InputError
from ascend_sim.host.operator import Operator
from ascend_sim.host.registry import operator_at, operator_named, operator_names

MOST_BYTES = 4 * 2**20
"""A folder with more in it is not sent along."""
SHARED = "shared"
"""The folder beside those of operators that holds what several of them use."""


@dataclass(frozen=True, slots=True)
class Source:
    """`folder` is empty for an operator of the library; `files` (path in the folder, content) for one that workers of
    this machine can read."""

    name: str
    folder: str = ""
    files: tuple[tuple[str, bytes], ...] = ()

    def operator(self) -> Operator:
        """Load it, once in a process."""
        return _load(self)


def source_of(operator: Operator, *, remote: bool) -> Source:
    """How a worker, on this machine or a `remote` one, comes by `operator`."""
    if _in_library(operator):
        return Source(operator.name)
    folder = folder_of(operator)
    if not remote:
        return Source(operator.name, str(folder))
    files = tuple((path.relative_to(folder).as_posix(), path.read_bytes()) for path in _files(folder))
    nbytes = sum(len(content) for _, content in files)
    if nbytes > MOST_BYTES:
        raise InputError(
            f"the folder {str(folder)!r} has {nbytes:,} B of files; an operator that is sent to the workers of a "
            f"cluster has at most {MOST_BYTES:,}"
        )
    return Source(operator.name, str(folder), files)


def folder_of(operator: Operator) -> Path:
    """The folder of its op.py."""
    module = sys.modules.get(operator.package)
    places = list(getattr(module, "__path__", ()))
    if not places:
        raise InputError(f"{operator.name} is not declared in a folder, so no worker process can load it")
    return Path(places[0])


def digest(operator: Operator) -> str:
    """Changes with every source file of the operator, and with those that it shares with others beside it."""
    found = hashlib.sha256()
    folder = folder_of(operator)
    for root in (folder, folder.parent / SHARED):
        for path in _files(root):
            if path.suffix == ".py":
                found.update(f"{path.relative_to(root.parent).as_posix()}\0".encode())
                found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:12]


def _in_library(operator: Operator) -> bool:
    return operator.name in operator_names() and operator_named(operator.name) is operator


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part.startswith(".") or part == "__pycache__" for part in parts):
            yield path


@cache
def _load(source: Source) -> Operator:
    if not source.folder:
        return operator_named(source.name)
    if not source.files:
        return operator_at(Path(source.folder))
    place = tempfile.TemporaryDirectory(prefix="ascend-sim-")
    _UNPACKED.append(place)
    folder = Path(place.name) / source.name
    for name, content in source.files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return operator_at(folder)


_UNPACKED: list[tempfile.TemporaryDirectory[str]] = []
"""Removed when the process ends."""
