"""One measured launch, ready to be repeated on the current device."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ascend_sim.asc.memory import DeviceArray
from ascend_sim.host.device import Launch

EVERY_TILE = 1 << 30
"""A limit of tiles that no launch reaches."""


@dataclass(frozen=True, slots=True)
class Case:
    """`launch(limit)` launches the kernel on the current device; each block works on at most `limit` of its tiles,
    each of which costs the same. `tiles`: the most tiles that any block has (1: not a loop of equal tiles).
    `core_bound`: what the tiles cost does not depend on how full L2 is. `period`: the tiles repeat after so many.
    `heavy`: a tile is long to record, so a few of them must do. `more`: figures of a launch that only this row has.
    """

    launch: Callable[[int], None]
    tiles: int = 1
    core_bound: bool = False
    period: int = 1
    heavy: bool = False
    more: Callable[[Launch], Mapping[str, float]] | None = None


def arrays(count: int, shape: tuple[int, ...], dtype: str) -> tuple[DeviceArray, ...]:
    """`count` arrays in GM, without data: these launches only ask for the time."""
    return tuple(DeviceArray(shape, dtype) for _ in range(count))
