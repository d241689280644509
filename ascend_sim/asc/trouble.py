"""Turns what went wrong inside a kernel into an error that names kernel, block, tile and source line."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any

from ascend_sim.errors import KernelError, UnsupportedError

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_READ_ONLY = "this writes to an array that is read-only: kernels work on the arrays of a launch in place"
_OWN = tuple(os.path.join(_PACKAGE, room) + os.sep for room in ("asc", "isa"))


def explain(error: Exception, kernel: str, block: int, first_queue: Any) -> Exception:
    """`error` as a KernelError (or of its own kind, if it is one of ours) that says where it happened."""
    where = [f"kernel {kernel!r}, block {block}"]
    if first_queue is not None and first_queue.rounds:
        where.append(f"tile {first_queue.rounds - 1}")
    place = user_place(error.__traceback__)
    if place:
        where.append(place)
    if isinstance(error, KernelError | UnsupportedError):
        return type(error)(f"{', '.join(where)}: {error}")
    if isinstance(error, ValueError) and "read-only" in str(error):
        return KernelError(f"{', '.join(where)}: {_READ_ONLY}")
    return KernelError(f"{', '.join(where)}: {type(error).__name__}: {error}")


def user_place(traceback: TracebackType | None) -> str:
    """`FILE:LINE in FUNCTION` of the innermost frame outside the simulator."""
    found = ""
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not code.co_filename.startswith(_OWN):
            found = f"{code.co_filename}:{traceback.tb_lineno} in {code.co_name}"
        traceback = traceback.tb_next
    return found
