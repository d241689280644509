"""How fast this machine is just now, beside the one for which the limits are given.

The limits are those of a quiet machine of 2 cores on which `work` takes `REFERENCE_SECONDS`. A slower machine, or one
that is busy with other things, does the same plain Python work more slowly; a limit is eased by as much, never
tightened.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from heapq import heappop, heappush
from time import process_time

ROUNDS, ITEMS = 4, 4_000
REFERENCE_SECONDS = 0.018


class Item:
    __slots__ = ("count", "value")

    def __init__(self, value: int) -> None:
        self.value = value
        self.count = 0

    def add(self, when: int) -> int:
        self.count += when
        return self.count & 0xFFFF


def work() -> float:
    """Processor seconds of what the simulator does most: objects, calls, tuples in a heap, look-ups in a table."""
    gc.disable()  # as launches do
    try:
        begin = process_time()
        for _ in range(ROUNDS):
            _round()
        return process_time() - begin
    finally:
        gc.enable()


def _round() -> None:
    heap: list[tuple[int, int, Item]] = []
    table: dict[tuple[int, int], Item] = {}
    for number in range(ITEMS):
        item = table[number & 1023, number >> 10] = Item(number)
        heappush(heap, (number * 7919 % 10007, number, item))
    while heap:
        when, number, item = heappop(heap)
        table[number & 1023, number >> 10].value = item.add(when)


def reference_seconds(measure: Callable[[], float], tries: int) -> float:
    """The least that `measure` answers in so many tries (seconds), as the machine of the limits would have it."""
    found, yards = [], []
    for _ in range(tries):
        yards.append(work())
        found.append(measure())
    yards.append(work())
    return min(found) / max(1.0, min(yards) / REFERENCE_SECONDS)
