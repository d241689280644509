"""The L2 cache as a memory of what was touched last: it decides how much of a transfer goes to HBM.

Lines of 4 KiB (no larger than the smallest common transfer) with one valid and one dirty bit for each piece of 512 B,
least recently used line out first, write-back: what stores leave behind goes to HBM when its line is displaced. The
state belongs to the device and outlives a launch.
"""

from __future__ import annotations

from collections import OrderedDict

LINE_BYTES = 4096
PIECE_BYTES = 512
_PIECES = LINE_BYTES // PIECE_BYTES
_ALL = (1 << _PIECES) - 1


class L2:
    """`capacity_bytes` of lines; values are valid bits with the dirty bits above them."""

    __slots__ = ("_capacity_lines", "_lines")

    def __init__(self, capacity_bytes: int) -> None:
        self._capacity_lines = max(1, capacity_bytes // LINE_BYTES)
        self._lines: OrderedDict[int, int] = OrderedDict()

    def clear(self) -> None:
        """Forget everything, as a tool that clears L2 before a launch does."""
        self._lines.clear()

    def touch(self, start: int, nbytes: int, store: bool, allocate: bool) -> tuple[int, int, int]:
        """Access `nbytes` from GM address `start` on: `(pieces held, pieces not held, dirty pieces displaced)`."""
        lines = self._lines
        first, last = start // PIECE_BYTES, (start + nbytes - 1) // PIECE_BYTES
        held = missing = displaced = 0
        line = first // _PIECES
        end_line = last // _PIECES
        while line <= end_line:
            bits = _ALL
            if line == first // _PIECES:
                bits = bits >> first % _PIECES << first % _PIECES
            if line == end_line:
                bits &= (2 << last % _PIECES) - 1
            known = lines.get(line)
            if known is None:
                missing += bits.bit_count()
                if allocate:
                    lines[line] = bits | bits << _PIECES if store else bits
                    if len(lines) > self._capacity_lines:
                        displaced += (lines.popitem(last=False)[1] >> _PIECES).bit_count()
                elif store:
                    displaced += bits.bit_count()  # straight to HBM
            else:
                hits = (known & bits).bit_count()
                held += hits
                missing += bits.bit_count() - hits
                if allocate or store:
                    lines[line] = known | (bits | bits << _PIECES if store else bits)
                lines.move_to_end(line)
            line += 1
        return held, missing, displaced
