"""UB as the register loads and stores of architecture 3510 meet it: ports per cycle, bank groups, banks, posted stores.

UB is 8 groups of 2 banks; consecutive blocks of 32 B lie in consecutive groups, and the bank in a group changes every
256 B. Per cycle a group serves two reads, or a read and a write, and a bank one access (asc-devkit, bank conflict page
of 3510): two accesses of a register's width at most. An access whose own blocks meet in a group takes several cycles
and has UB to itself in them. A store leaves the vector unit when it has a place in the store buffer; it goes to UB in a
later cycle that loads leave free, or before the loads when the buffer is full.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
        """A last bank that UB does not fill counts as one."""
        banks = ub.banks
        return cls(banks.groups, banks.row_bytes, -(-ub.bytes // (banks.groups * banks.bank_bytes)))

    @property
    def phase_bytes(self) -> int:
        return self.groups * self.row_bytes * self.banks

    def turns(self, start: int, length: int, blocks: int, block_stride: int) -> tuple[Turn, ...]:
        """The cycles that one access needs on its own: one row of each group per cycle, a row that several of its
        blocks share once."""
        rows: dict[int, None] = {}
        for block in range(blocks):
            first = start + block * block_stride
            last = first + max(1, length) - 1
            rows.update((row, None) for row in range(first // self.row_bytes, last // self.row_bytes + 1))
        turns: list[Turn] = []
        for row in rows:
            group, bank = 1 << row % self.groups, 1 << row % (self.groups * self.banks)
            for index, (groups, banks) in enumerate(turns):
                if not groups & group:
                    turns[index] = groups | group, banks | bank
                    break
            else:
                turns.append((group, bank))
        return tuple(turns)


class UbPorts:
    """What is taken in the cycles to come, and the stores that wait for a free one."""

    __slots__ = ("_accesses", "_cycles", "_entries", "_store_free", "_stores")

    def __init__(self, accesses_per_cycle: int, store_buffer_entries: int) -> None:
        self._accesses = accesses_per_cycle
        self._entries = store_buffer_entries
        # cycle: [banks, groups read, groups read twice, groups written, accesses]
        self._cycles: dict[int, list[int]] = {}
        self._stores: deque[tuple[Turn, ...]] = deque()
        self._store_free = 0  # the store port takes the next store from this cycle on

    @property
    def has_room(self) -> bool:
        """Whether the store buffer takes another store."""
        return len(self._stores) < self._entries

    @property
    def drained(self) -> bool:
        return not self._stores

    @property
    def busy_until(self) -> int:
        """The cycle in which the last store that has begun is written."""
        return self._store_free

    def load(self, cycle: int, turns: Sequence[Turn]) -> bool:
        """Begin a load in `cycle` if its banks are free."""
        if not self._fits(cycle, turns, False):
            return False
        for ahead, (groups, banks) in enumerate(turns):
            taken = self._cycles.setdefault(cycle + ahead, [0, 0, 0, 0, 0])
            taken[0] |= banks
            taken[2] |= taken[1] & groups
            taken[1] |= groups
            taken[4] += 1 if len(turns) == 1 else self._accesses
        return True

    def store(self, turns: tuple[Turn, ...]) -> None:
        """Put a store into the buffer."""
        self._stores.append(turns)

    def begin(self, cycle: int) -> None:
        """A full buffer goes first in `cycle`, before the loads."""
        if not self.has_room:
            self._write(cycle)

    def end(self, cycle: int) -> None:
        """The loads of `cycle` are known: the oldest store goes beside them if there is room."""
        self._write(cycle)
        self._cycles.pop(cycle, None)

    def _write(self, cycle: int) -> None:
        """Let the oldest store begin if the store port and its banks are free."""
        stores = self._stores
        if stores and cycle >= self._store_free and self._fits(cycle, stores[0], True):
            turns = stores.popleft()
            for ahead, (groups, banks) in enumerate(turns):
                taken = self._cycles.setdefault(cycle + ahead, [0, 0, 0, 0, 0])
                taken[0] |= banks
                taken[3] |= groups
                taken[4] += 1 if len(turns) == 1 else self._accesses
            self._store_free = cycle + len(turns)

    def _fits(self, cycle: int, turns: Sequence[Turn], store: bool) -> bool:
        cycles = self._cycles
        if not cycles:
            return True
        alone = 1 if len(turns) == 1 else self._accesses
        for ahead, (groups, banks) in enumerate(turns):
            taken = cycles.get(cycle + ahead)
            if taken is None:
                continue
            busy, once, twice, written, accesses = taken
            if accesses + alone > self._accesses or busy & banks or twice & groups:
                return False
            if written & groups if store else once & written & groups:
                return False
        return True

    def state(self, cycle: int) -> tuple[Any, ...]:
        """What is taken from `cycle` on, relative to it, and the stores that wait."""
        taken = tuple((key - cycle, *values) for key, values in sorted(self._cycles.items()))
        return taken, tuple(self._stores), max(0, self._store_free - cycle)

    def shift(self, cycles: int) -> None:
        """Everything that is to come comes so much later."""
        self._cycles = {key + cycles: taken for key, taken in self._cycles.items()}
        self._store_free += cycles
