"""The L2 cache as a memory of what was touched last: it decides how much of a transfer goes to HBM.

Lines of 4 KiB (no larger than the smallest common transfer) with one valid and one dirty bit for each grain of 128 B,
least recently used line out first, write-back: what stores leave behind goes to HBM when its line is displaced. The
state belongs to the device and outlives a launch.

A load that L2 keeps fills whole pieces (512 B on A2, 128 B on the 950), a store that covers a piece in part fetches it;
a load that bypasses L2 moves grains only (asc-devkit: GM moves are cut into pieces of 128 to 512 B). A load that
finds only some of a line's grains fetches all that it wants of the line, so rows that wander off 512 B alignment pay
for one piece more (22 % for rows of 2 KiB on A2).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, cycle, pairwise

from ascend_sim.program import CopyWork

LINE_BYTES = 4096
GRAIN_BYTES = 128
_GRAINS = LINE_BYTES // GRAIN_BYTES
_ALL = (1 << _GRAINS) - 1


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a transfer touches, counted from the line in which it begins: `lines` holds `(line, grains, their bits,
    bits of pieces covered in part)` in order, `grains` is the sum over the lines. `moved_bytes` counts the grains that
    pass the core's port, row by row, `runs` the rows that do not follow each other, `pieces` what the rows are cut
    into."""

    lines: tuple[tuple[int, int, int, int], ...]
    grains: int
    moved_bytes: int
    runs: int
    pieces: int

    @classmethod
    def of(cls, work: CopyWork, offset: int, piece_bytes: int) -> Footprint:
        """Of `work` that begins `offset` bytes into a line; L2 is filled in pieces of `piece_bytes`."""
        piece_grains = piece_bytes // GRAIN_BYTES
        whole_piece = (1 << piece_grains) - 1
        contiguous = work.blocks == 1 or work.gm_pitch_bytes == work.block_bytes
        rows = 1 if contiguous else work.blocks
        length = work.blocks * work.block_bytes if contiguous else work.block_bytes
        bits: dict[int, int] = {}
        parts: dict[int, int] = {}
        moved = pieces = 0
        starts = [offset]
        for count, stride in (*work.loops, (rows, work.gm_pitch_bytes)):
            starts = [start + k * stride for start in starts for k in range(count)]
        for start in starts:
            first, end = start // GRAIN_BYTES, -(-(start + length) // GRAIN_BYTES)
            moved += end - first
            pieces += -(-end // piece_grains) - first // piece_grains
            if work.to_ub and not work.l2_bypass:
                first, end = first // piece_grains * piece_grains, -(-end // piece_grains) * piece_grains
            for line in range(first // _GRAINS, -(-end // _GRAINS)):
                low, high = max(first - line * _GRAINS, 0), min(end - line * _GRAINS, _GRAINS)
                bits[line] = bits.get(line, 0) | (1 << high) - (1 << low)
            for edge in {start, start + length}:
                if edge % piece_bytes:
                    line, piece = divmod(edge // piece_bytes, LINE_BYTES // piece_bytes)
                    parts[line] = parts.get(line, 0) | whole_piece << piece * piece_grains
        lines = tuple((line, mask.bit_count(), mask, parts.get(line, 0)) for line, mask in bits.items())
        return cls(lines, sum(grains for _, grains, _, _ in lines), moved * GRAIN_BYTES, len(starts), pieces)


def evenly_rounded(mean: float, count: int) -> Iterator[int]:
    """`count` whole numbers of that mean, as alike as can be."""
    ends = (int((number + 1) * mean + 1e-9) for number in range(count))
    return (end - begin for begin, end in pairwise(chain([0], ends)))


Move = tuple[Footprint, int, bool]
"""A transfer's footprint, its GM byte address, and whether it is a store."""


class L2:
    """`capacity_bytes` of lines; values are valid bits with the dirty bits above them. `dirty_grains`: in all."""

    __slots__ = ("_capacity_lines", "_lines", "_promised", "dirty_grains", "displaced_lines")

    def __init__(self, capacity_bytes: int) -> None:
        self._capacity_lines = max(1, capacity_bytes // LINE_BYTES)
        self._lines: OrderedDict[int, int] = OrderedDict()
        self._promised: Callable[[], Iterable[Move]] | None = None  # taken in when somebody looks
        self.dirty_grains = 0
        self.displaced_lines = 0  # so far, clean ones as well

    @property
    def empty(self) -> bool:
        return not self._lines and self._promised is None

    def clear(self) -> None:
        """Forget everything, as a tool that clears L2 before a launch does."""
        self._lines.clear()
        self._promised = None
        self.dirty_grains = 0

    def __len__(self) -> int:
        """Lines that it holds."""
        return len(self._lines)

    @property
    def dirty_grains_per_line(self) -> float:
        return self.dirty_grains / len(self._lines) if self._lines else 0.0

    def fill(self, parts: Iterable[tuple[int, float]]) -> None:
        """Fill it to the brim with lines that nobody will ask for: so many with so many dirty grains on average, which
        go in this order, and again from the first part on."""
        self.clear()
        for lines, dirty in cycle([part for part in parts if part[0]]):
            there = len(self._lines)
            more = min(lines, self._capacity_lines - there)
            if not more:
                break
            for number, grains in enumerate(evenly_rounded(dirty, more), there):
                self._lines[-1 - number] = _ALL | (1 << grains) - 1 << _GRAINS
                self.dirty_grains += grains

    def hold(self, transfers: Callable[[], Iterable[Move]], most_lines: int) -> bool:
        """Take in all transfers if nothing need be displaced for it; else take in nothing and answer False.

        `most_lines`: they touch no more lines than that. Where so many fit into an empty L2 the answer needs no look at
        the lines, and launches that are timed alone never need them: they are then worked out when somebody looks.
        """
        if self.empty and most_lines <= self._capacity_lines:
            self._promised = transfers
            return True
        self._keep_promise()
        return self._take_in(transfers())

    def _keep_promise(self) -> None:
        if self._promised is not None:
            transfers, self._promised = self._promised, None
            self._take_in(transfers())

    def _take_in(self, transfers: Iterable[Move]) -> bool:
        wanted: dict[int, int] = {}
        for footprint, address, store in transfers:
            base = address // LINE_BYTES
            for offset, _, bits, parts in footprint.lines:
                line = base + offset
                wanted[line] = wanted.get(line, 0) | (bits | parts | bits << _GRAINS if store else bits)
        lines = self._lines
        if len(wanted) + sum(line not in wanted for line in lines) > self._capacity_lines:
            return False
        for line, bits in wanted.items():
            known = lines.get(line, 0)
            self.dirty_grains += ((bits & ~known) >> _GRAINS).bit_count()
            lines[line] = known | bits
            lines.move_to_end(line)
        return True

    def load(self, footprint: Footprint, address: int, allocate: bool) -> tuple[int, int]:
        """Load from GM byte `address`: `(grains that come from HBM, dirty grains displaced)`."""
        if self._promised is not None:
            self._keep_promise()
        lines = self._lines
        base = address // LINE_BYTES
        missing = 0
        for offset, grains, bits, _ in footprint.lines:
            line = base + offset
            known = lines.get(line)
            if known is None:
                missing += grains
                if allocate:
                    lines[line] = bits
            else:
                lines.move_to_end(line)
                if bits & ~known:
                    missing += grains
                    if allocate:
                        lines[line] = known | bits
        return missing, self._displace() if len(lines) > self._capacity_lines else 0

    def store(self, footprint: Footprint, address: int, allocate: bool) -> tuple[int, int, int]:
        """Store to GM byte `address`: `(grains that L2 held, grains fetched to complete pieces, dirty grains displaced
        or sent past L2)`."""
        if self._promised is not None:
            self._keep_promise()
        lines = self._lines
        base = address // LINE_BYTES
        held = past = fetched = 0
        for offset, grains, bits, parts in footprint.lines:
            line = base + offset
            known = lines.get(line)
            if known is not None:
                held += (known & bits).bit_count()
                fetched += (parts & ~known).bit_count()
                dirtied = bits << _GRAINS & ~known
                if dirtied:
                    self.dirty_grains += dirtied.bit_count()
                    lines[line] = known | bits | parts | dirtied
                lines.move_to_end(line)
            elif allocate:
                fetched += parts.bit_count()
                lines[line] = bits | parts | bits << _GRAINS
                self.dirty_grains += grains
            else:
                past += grains
        return held, fetched, past + (self._displace() if len(lines) > self._capacity_lines else 0)

    def _displace(self) -> int:
        """Make room again; how many dirty grains had to go."""
        lines = self._lines
        dirty = 0
        self.displaced_lines += len(lines) - self._capacity_lines
        for _ in range(len(lines) - self._capacity_lines):
            known = lines.popitem(last=False)[1]
            if known > _ALL:
                dirty += (known >> _GRAINS).bit_count()
        self.dirty_grains -= dirty
        return dirty
