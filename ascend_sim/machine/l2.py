"""The L2 cache as a memory of what was touched last: it decides how much of a transfer goes to HBM.

Lines of 4 KiB (no larger than the smallest common transfer) with one valid and one dirty bit for each piece of 512 B,
least recently used line out first, write-back: what stores leave behind goes to HBM when its line is displaced. A load
that finds only some of its pieces of a line fetches all of them (rows that wander off 512 B alignment pay for one piece
more: 22 % for rows of 2 KiB on A2). The state belongs to the device and outlives a launch.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from ascend_sim.program import CopyWork

LINE_BYTES = 4096
PIECE_BYTES = 512
GRAIN_BYTES = 128  # a transfer moves whole grains (asc-devkit: GM moves are cut into pieces of 128, 256 or 512 B)
_PIECES = LINE_BYTES // PIECE_BYTES
_ALL = (1 << _PIECES) - 1


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a transfer touches, counted from the line in which it begins: `lines` holds `(line, pieces, their bits)` in
    order; `moved_bytes` counts whole grains row by row, `pieces` is the sum over the lines."""

    lines: tuple[tuple[int, int, int], ...]
    pieces: int
    moved_bytes: int

    @classmethod
    def of(cls, work: CopyWork, offset: int) -> Footprint:
        """Of `work` that begins `offset` bytes into a line."""
        contiguous = work.blocks == 1 or work.gm_pitch_bytes == work.block_bytes
        rows = 1 if contiguous else work.blocks
        length = work.blocks * work.block_bytes if contiguous else work.block_bytes
        bits: dict[int, int] = {}
        moved = 0
        starts = [offset]
        for count, stride in (*work.loops, (rows, work.gm_pitch_bytes)):
            starts = [start + k * stride for start in starts for k in range(count)]
        for start in starts:
            end = start + length
            moved += -(-end // GRAIN_BYTES) - start // GRAIN_BYTES
            for piece in range(start // PIECE_BYTES, -(-end // PIECE_BYTES)):
                line = piece // _PIECES
                bits[line] = bits.get(line, 0) | 1 << piece % _PIECES
        lines = tuple((line, mask.bit_count(), mask) for line, mask in bits.items())
        return cls(lines, sum(count for _, count, _ in lines), moved * GRAIN_BYTES)


class L2:
    """`capacity_bytes` of lines; values are valid bits with the dirty bits above them."""

    __slots__ = ("_capacity_lines", "_lines", "displaced_lines")

    def __init__(self, capacity_bytes: int) -> None:
        self._capacity_lines = max(1, capacity_bytes // LINE_BYTES)
        self._lines: OrderedDict[int, int] = OrderedDict()
        self.displaced_lines = 0  # so far, clean ones as well

    def clear(self) -> None:
        """Forget everything, as a tool that clears L2 before a launch does."""
        self._lines.clear()

    def load(self, footprint: Footprint, address: int, allocate: bool) -> tuple[int, int]:
        """Load from GM byte `address`: `(pieces that come from HBM, dirty pieces displaced)`."""
        lines = self._lines
        base = address // LINE_BYTES
        missing = 0
        for offset, pieces, bits in footprint.lines:
            line = base + offset
            known = lines.get(line)
            if known is None:
                missing += pieces
                if allocate:
                    lines[line] = bits
            else:
                lines.move_to_end(line)
                if bits & ~known:
                    missing += pieces
                    if allocate:
                        lines[line] = known | bits
        return missing, self._displace() if len(lines) > self._capacity_lines else 0

    def store(self, footprint: Footprint, address: int, allocate: bool) -> tuple[int, int]:
        """Store to GM byte `address`: `(pieces that L2 held, dirty pieces displaced or sent past L2)`."""
        lines = self._lines
        base = address // LINE_BYTES
        held = past = 0
        for offset, pieces, bits in footprint.lines:
            line = base + offset
            known = lines.get(line)
            if known is not None:
                held += (known & bits).bit_count()
                lines[line] = known | bits | bits << _PIECES
                lines.move_to_end(line)
            elif allocate:
                lines[line] = bits | bits << _PIECES
            else:
                past += pieces
        return held, past + (self._displace() if len(lines) > self._capacity_lines else 0)

    def _displace(self) -> int:
        """Make room again; how many dirty pieces had to go."""
        lines = self._lines
        dirty = 0
        self.displaced_lines += len(lines) - self._capacity_lines
        for _ in range(len(lines) - self._capacity_lines):
            known = lines.popitem(last=False)[1]
            if known > _ALL:
                dirty += (known >> _PIECES).bit_count()
        return dirty
