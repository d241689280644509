"""How evenly the cores are loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ascend_sim.soc import Soc
from ascend_sim.timeline import Timeline

_UNEVEN_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Balance:
    """`used` of the chip's `cores` run blocks. `mean_us` and `max_us` are AIV times over them, without what a cold
    start adds; `slowest_block` is the last to finish. `waiting_share`: of the time that the used cores have, how much
    passes after their own last block has ended (0..1).
    """

    used: int
    cores: int
    mean_us: float
    max_us: float
    slowest_block: int
    waiting_share: float

    @property
    def uneven(self) -> bool:
        """Whether the launch would be a tenth shorter with the same work spread evenly."""
        return self.max_us > 0 and 1 - self.mean_us / self.max_us > _UNEVEN_SHARE

    def to_json(self) -> dict[str, Any]:
        return {
            "cores_used": self.used,
            "cores": self.cores,
            "mean_us": round(self.mean_us, 4),
            "max_us": round(self.max_us, 4),
            "slowest_block": self.slowest_block,
            "waiting_share": round(self.waiting_share, 4),
            "uneven": self.uneven,
        }


def balance_of(timeline: Timeline, soc: Soc) -> Balance:
    """The balance of one launch."""
    times: dict[int, int] = {}
    ends: dict[int, int] = {}
    for line in timeline.cores:
        times[line.core] = times.get(line.core, 0) + line.finish - line.begin - line.late_cycles
        ends[line.core] = max(ends.get(line.core, 0), line.finish)
    if not times:
        return Balance(0, soc.cores.aiv, 0.0, 0.0, 0, 0.0)
    last = max(ends.values())
    slowest = max(timeline.cores, key=lambda line: line.finish)
    return Balance(
        used=len(times),
        cores=soc.cores.aiv,
        mean_us=timeline.to_us(sum(times.values()) / len(times)),
        max_us=timeline.to_us(max(times.values())),
        slowest_block=slowest.program.block,
        waiting_share=sum(last - end for end in ends.values()) / (len(ends) * max(last, 1)),
    )
