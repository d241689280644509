"""One pipe over all blocks: how much of the cores' time is work, waiting inside, and idle, by reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ascend_sim.explain.reasons import Reason

if TYPE_CHECKING:
    from ascend_sim.explain.account import PipeAccount


@dataclass(frozen=True, slots=True)
class PipeTotal:
    """Cycles of all blocks together: `work` + `in_flight` (gaps while results of the pipe's own are on their way) is
    what msprof counts as busy, the rest is `idle`. `idle_by` and `in_flight_by` split the gaps by reason, longest
    first; `cycles` is the AIV time of all cores, `per_us` how many of them make a us of the mean core."""

    pipe: str
    cycles: int
    work: int
    in_flight: int
    idle: int
    idle_by: dict[Reason, int]
    in_flight_by: dict[Reason, int]
    per_us: float

    def us(self, cycles: int) -> float:
        """`cycles` of all blocks as us, mean over the cores."""
        return cycles / self.per_us

    def share(self, cycles: int) -> float:
        """`cycles` as a share of the AIV time (0..1)."""
        return cycles / self.cycles if self.cycles else 0.0

    def to_json(self) -> dict[str, Any]:
        """Times in us, means over the cores."""
        return {
            "work_us": round(self.us(self.work), 4),
            "in_flight_us": round(self.us(self.in_flight), 4),
            "idle_us": round(self.us(self.idle), 4),
            "idle_by_us": {reason.name.lower(): round(self.us(n), 4) for reason, n in self.idle_by.items()},
            "in_flight_by_us": {reason.name.lower(): round(self.us(n), 4) for reason, n in self.in_flight_by.items()},
        }


def total_of(pipe: str, parts: Iterable[PipeAccount], per_us: float) -> PipeTotal:
    """The accounts of one pipe in all blocks, added up."""
    cycles = work = 0
    idle: dict[Reason, int] = {}
    flying: dict[Reason, int] = {}
    for part in parts:
        cycles += part.cycles
        work += part.work_cycles
        for sums, in_flight in ((idle, False), (flying, True)):
            for reason, count in part.by_reason(in_flight=in_flight).items():
                sums[reason] = sums.get(reason, 0) + count
    idle, flying = (dict(sorted(sums.items(), key=lambda item: -item[1])) for sums in (idle, flying))
    return PipeTotal(pipe, cycles, work, sum(flying.values()), sum(idle.values()), idle, flying, per_us)
