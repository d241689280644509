"""Where in the user's file an operation was written, and what the user called its result.

The record of a launch names the source line of every instruction by the code object that called into asc. A `Site` is
a call gate whose code object carries the user's file and line: instructions issued through it are charged there, so
that reports about a lowered kernel point into the PyPTO file.
"""

from __future__ import annotations

import bisect
import dis
import os
import sys
from functools import lru_cache
from types import CodeType, FrameType, FunctionType
from typing import Any

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_STORES = ("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF")


def _gate(function: Any, *args: Any) -> Any:
    return function(*args)


class Site:
    """A line of the user's file; `call(function, *args)` calls `function` from there."""

    __slots__ = ("call", "file", "function", "line")

    def __init__(self, file: str, line: int, function: str) -> None:
        self.file = file
        self.line = line
        self.function = function
        # the call stands one line below the gate's first one, and line tables count from there
        code = _gate.__code__.replace(co_filename=file, co_firstlineno=line - 1, co_name=function, co_qualname=function)
        self.call = FunctionType(code, {})

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}"


def is_own_frame(frame: FrameType) -> bool:
    """Whether a frame belongs to the front end."""
    return frame.f_code.co_filename.startswith(_PACKAGE)


def user_frame() -> FrameType:
    """The innermost frame outside the front end."""
    frame = sys._getframe(1)
    while is_own_frame(frame) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def site_of(frame: FrameType) -> Site:
    """The site of a frame's present line."""
    return _site(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


@lru_cache(maxsize=4096)
def _site(file: str, line: int, function: str) -> Site:
    return Site(file, line, function)


def assigned_name(frame: FrameType) -> str | None:
    """The variable that the frame's present call is assigned to, if it goes straight into one."""
    offsets, names = _instructions(frame.f_code)
    after = bisect.bisect_right(offsets, frame.f_lasti)  # f_lasti may point into the call's inline cache
    return names[after] if after < len(names) else None


@lru_cache(maxsize=256)
def _instructions(code: CodeType) -> tuple[list[int], list[str | None]]:
    """The offset of every instruction, and the variable that it stores into, if it does."""
    found = list(dis.get_instructions(code))
    return [i.offset for i in found], [str(i.argval) if i.opname in _STORES else None for i in found]
