"""How fast this machine is just now, beside the one for which the limits are given.

The limits are those of a quiet machine of 2 cores on which `work` takes `REFERENCE_SECONDS`. A slower machine, or one
that is busy with other things, does the same plain Python work more slowly; a limit is eased by as much, never
tightened.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from time import process_time

STEPS, ITEMS = 20_000, 256
REFERENCE_SECONDS = 0.0145


class Item:
    __slots__ = ("count", "value")

    def __init__(self, value: int) -> None:
        self.value = value
        self.count = 0

    def add(self, when: int) -> int:
        self.count += when
        return self.count & 0xFFFF


def work() -> float:
    """Processor seconds of what the simulator does most: calls, attributes, tuples in a heap, look-ups in a table.

    It asks for no new memory, which a busy machine gives slowly.
    """
    items = [Item(number) for number in range(ITEMS)]
    table = {(number & 15, number >> 4): item for number, item in enumerate(items)}
    heap = [(number, number, item) for number, item in enumerate(items)]
    begin = process_time()
    for number in range(STEPS):
        when, _, item = heappop(heap)
        other = table[number & 15, number >> 4 & 15]
        other.value = item.add(when)
        heappush(heap, (when + 1 + (number * 7919 & 255), number, other))
    return process_time() - begin


def reference_seconds(measure: Callable[[], float], tries: int) -> float:
    """The least that `measure` answers in so many tries (seconds), as the machine of the limits would have it."""
    found, yards = [], []
    for _ in range(tries):
        yards.append(work())
        found.append(measure())
    yards.append(work())
    return min(found) / max(1.0, min(yards) / REFERENCE_SECONDS)
