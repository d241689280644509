"""What the operators' spaces of tilings share: several spaces as one, fields against what a call asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ascend_sim.host.space import Space
from ascend_sim.host.tiling import Tiling, TilingContext

MOST_BUFFERS = 8
"""Of all queues between one pair of pipes: so many flags a core has for it."""
MOST_REPEATS = 255
MOST_BLOCKS = 4095
"""Of one DataCopy or DataCopyPad."""
MOST_STRIDE = 0xFFFF
"""Between two blocks of a DataCopy, in UB blocks."""
MOST_GAP_BYTES = 0xFFFF_FFFF
"""Between two blocks of a DataCopyPad in GM."""


def one_of(of_call: Callable[[TilingContext], Space], of_tiling: Callable[[Tiling], Space]) -> Space:
    """The spaces of an operator with several, as one: that of the call, which is also that of the call's tilings."""
    return Space(
        axes=lambda context: of_call(context).axes(context),
        candidates=lambda context, limit: of_call(context).candidates(context, limit),
        coverage=lambda tiling, context: of_call(context).coverage(tiling, context),
        choices=lambda tiling: of_tiling(tiling).choices(tiling),
        fields=lambda words, context: of_call(context).fields(words, context),
        rebuild=lambda context, given: of_call(context).rebuild(context, given),
        problems=lambda tiling, context: of_call(context).problems(tiling, context),
    )


def fields_of(tiling: Tiling) -> dict[str, int]:
    return {name: value for name, value in tiling.data.items() if isinstance(value, int)}


def unfit(data: Mapping[str, int], wanted: Mapping[str, int]) -> list[str]:
    """The fields that are not what the call, or other fields, make them. A release's struct may lack some."""
    return [
        f"{name} is {data[name]}, it has to be {value}"
        for name, value in wanted.items()
        if data.get(name, value) != value
    ]


def too_small(data: Mapping[str, int], least: Mapping[str, int]) -> list[str]:
    return [f"{name} is {data[name]}, it has to be at least {low}" for name, low in least.items() if data[name] < low]


def wrong_buffers(buffers: int, queues: int) -> list[str]:
    """Where `queues` queues between one pair of pipes have `buffers` buffers each."""
    most = MOST_BUFFERS // queues
    if 1 <= buffers <= most:
        return []
    return [
        f"a queue has {buffers} buffers; allowed are 1 to {most}, with {queues} queues to share {MOST_BUFFERS} flags"
    ]
