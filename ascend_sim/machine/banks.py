"""UB bank conflicts of one vector instruction, from the addresses that its operands touch repeat by repeat.

On architecture 2201 UB is 16 groups of 3 banks; consecutive blocks of 32 B lie in consecutive groups, and the bank
within a group changes every 64 KiB (asc-devkit, bank conflict pages). In one cycle a group serves one read, and a bank
either a read or a write. So

* two operands (or two blocks of one operand) in one group are read one after the other: a second contiguous source in
  the same group doubles the repeat, eight blocks in one group take eight cycles;
* a repeat is written `write_delay_cycles` after its last read, and a read that meets a write in its bank waits. The
  delay is odd, so aligned operands (in place, or equal modulo 512 B) meet in opposite halves and lose nothing; an
  operand shifted by one block does lose.

With a delay of 23 cycles this reproduces the eight cases of the bank_conflict_ub sample within 2.2 %, its half
conflicts (135.0 and 129.0 cycles instead of 86) included, and the official Add steps, whose second buffers lie so that
a write would meet the second source's reads if it came an odd number of cycles after the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ascend_sim.program import Access
from ascend_sim.soc.models import Banks

_FOLLOWED_REPEATS = 256  # a longer walk goes on as its second half went


@dataclass(frozen=True, slots=True)
class BankModel:
    """UB geometry of a chip and how late a write follows its read."""

    groups: int
    row_bytes: int
    stripe_bytes: int  # addresses this far apart lie in other banks of a group
    write_delay: int

    @classmethod
    def of(cls, banks: Banks, write_delay_cycles: int) -> BankModel:
        return cls(banks.groups, banks.row_bytes, banks.groups * banks.bank_bytes, write_delay_cycles)

    def occupancy(
        self, writes: Sequence[Access], reads: Sequence[Access], repeats: int, cycles_per_repeat: float
    ) -> int:
        """Cycles from the first repeat's first read to the last repeat's last, conflicts included."""
        followed = min(repeats, _FOLLOWED_REPEATS)
        ends = _followed(self, tuple(writes), tuple(reads), followed, cycles_per_repeat)
        cycles = ends[-1]
        if repeats > followed:
            half = followed // 2
            slope = (ends[-1] - ends[half - 1]) / (followed - half)
            cycles += round(slope * (repeats - followed))
        return max(cycles, -int(-(repeats * cycles_per_repeat) // 1))

    def follow(
        self, writes: Sequence[Access], reads: Sequence[Access], repeats: int, cycles_per_repeat: float
    ) -> list[int]:
        """When each of the first repeats has been read (and its write's turn has been kept free)."""
        ends = []
        now = 0
        busy: dict[int, int] = {}  # cycle: banks that are written in it
        for repeat in range(repeats):
            now = max(now, int(repeat * cycles_per_repeat))
            first = -1
            for banks in self._turns(reads, repeat):
                while busy.get(now, 0) & banks:
                    now += 1
                if first < 0:
                    first = now
                now += 1
            at = (now if first < 0 else now - 1) + self.write_delay
            write_turns = self._turns(writes, repeat)
            for banks in write_turns:
                while at in busy:
                    at += 1
                busy[at] = banks
            if first < 0:
                first, now = now, now + 1
            now = max(now, first + len(write_turns))
            ends.append(now)
        return ends

    def _turns(self, accesses: Sequence[Access], repeat: int) -> list[int]:
        """The banks touched in each cycle of a repeat, one block per group and cycle, earlier operands first."""
        seen: set[int] = set()  # rows: one read serves all operands that want it
        groups: list[int] = []
        banks: list[int] = []
        for access in accesses:
            address = access.start + repeat * access.repeat_stride
            for _ in range(access.blocks if access.block_stride else 1):
                row = address // self.row_bytes
                address += access.block_stride
                if row in seen:
                    continue
                seen.add(row)
                group = row % self.groups
                turn = 0
                while turn < len(groups) and groups[turn] >> group & 1:
                    turn += 1
                if turn == len(groups):
                    groups.append(0)
                    banks.append(0)
                groups[turn] |= 1 << group
                banks[turn] |= 1 << group + self.groups * (row * self.row_bytes // self.stripe_bytes)
        return banks


@lru_cache(maxsize=1 << 12)
def _followed(
    model: BankModel, writes: tuple[Access, ...], reads: tuple[Access, ...], repeats: int, cycles_per_repeat: float
) -> list[int]:
    """Launches of one kernel, and what explains them, ask for the same walks again and again."""
    return model.follow(writes, reads, repeats, cycles_per_repeat)
