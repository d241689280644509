"""UB as the register loads and stores of architecture 3510 meet it: ports per cycle, bank groups, banks.

UB is 8 groups of 2 banks; consecutive blocks of 32 B lie in consecutive groups, and the bank in a group changes every
256 B. Per cycle a group serves two reads, or a read and a write, and a bank one access (asc-devkit, bank conflict page
of 3510). The vector unit makes at most two accesses of a register's width a cycle, one of them a store (`VfTiming`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ascend_sim.soc.models import UnifiedBuffer

Turn = tuple[int, int]  # bits of groups and of banks that an access touches in one cycle


@dataclass(frozen=True, slots=True)
class UbLayout:
    """UB geometry: addresses `phase_bytes` apart touch the same banks."""

    groups: int
    row_bytes: int
    banks: int  # per group

    @classmethod
    def of(cls, ub: UnifiedBuffer) -> UbLayout:
        banks = ub.banks
        return cls(banks.groups, banks.row_bytes, ub.bytes // (banks.groups * banks.bank_bytes))

    @property
    def phase_bytes(self) -> int:
        return self.groups * self.row_bytes * self.banks

    def turns(self, start: int, length: int, blocks: int, block_stride: int, store: bool) -> tuple[Turn, ...]:
        """The cycles that one access needs on its own: blocks that share a group (a bank, when read) follow each other.

        A row that several blocks of a load want is read once.
        """
        rows: list[int] = []
        for block in range(blocks):
            first = start + block * block_stride
            for row in range(first // self.row_bytes, (first + max(1, length) - 1) // self.row_bytes + 1):
                if store or row not in rows:
                    rows.append(row)
        turns: list[Turn] = []
        for row in rows:
            group, bank = 1 << row % self.groups, 1 << row % (self.groups * self.banks)
            for index, (groups, banks) in enumerate(turns):
                if not (banks & bank or (store and groups & group)):
                    turns[index] = groups | group, banks | bank
                    break
            else:
                turns.append((group, bank))
        return tuple(turns)


class UbPorts:
    """Which groups and banks are taken in the cycles to come."""

    __slots__ = ("_cycles", "accesses")

    def __init__(self, accesses: int) -> None:
        self.accesses = accesses
        self._cycles: dict[
            int, list[int]
        ] = {}  # cycle: [banks, groups read, groups read twice, groups written, accesses]

    def fits(self, cycle: int, turns: Sequence[Turn], store: bool) -> bool:
        """Whether an access may begin in `cycle`."""
        cycles = self._cycles
        for ahead, (groups, banks) in enumerate(turns):
            taken = cycles.get(cycle + ahead)
            if taken is None:
                continue
            busy, once, twice, written, accesses = taken
            if accesses >= self.accesses or busy & banks or twice & groups:
                return False
            if written & groups if store else once & written & groups:
                return False
        return True

    def take(self, cycle: int, turns: Sequence[Turn], store: bool) -> None:
        for ahead, (groups, banks) in enumerate(turns):
            taken = self._cycles.setdefault(cycle + ahead, [0, 0, 0, 0, 0])
            taken[0] |= banks
            if store:
                taken[3] |= groups
            else:
                taken[2] |= taken[1] & groups
                taken[1] |= groups
            taken[4] += 1

    def forget_before(self, cycle: int) -> None:
        for old in [key for key in self._cycles if key < cycle]:
            del self._cycles[old]

    def state(self, cycle: int) -> tuple[tuple[int, ...], ...]:
        """What is taken from `cycle` on, relative to it."""
        return tuple((key - cycle, *taken) for key, taken in sorted(self._cycles.items()) if key >= cycle)

    def shift(self, cycles: int) -> None:
        self._cycles = {key + cycles: taken for key, taken in self._cycles.items()}
