"""The scalar unit's cache of GM: lines last touched, as long as they fit."""

from __future__ import annotations

from collections import OrderedDict


class DataCache:
    """`nbytes` of lines of `line_bytes`, empty at first."""

    __slots__ = ("_capacity", "_line_bytes", "_lines")

    def __init__(self, nbytes: int, line_bytes: int) -> None:
        self._capacity = max(1, nbytes // line_bytes)
        self._line_bytes = line_bytes
        self._lines: OrderedDict[int, None] = OrderedDict()

    def touch(self, address: int) -> bool:
        """Whether the line was there; it is afterwards."""
        line = address // self._line_bytes
        if line in self._lines:
            self._lines.move_to_end(line)
            return True
        self._lines[line] = None
        if len(self._lines) > self._capacity:
            self._lines.popitem(last=False)
        return False
