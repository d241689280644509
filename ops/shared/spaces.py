"""What the operators' spaces of tilings share: how blocks walk, fields against what a call asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ascend_sim.host.space import Space, Steps
from ascend_sim.host.tiling import Tiling, TilingContext

from .limits import MOST_BUFFERS


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


# --- how blocks walk -------------------------------------------------------------------------------------------------


def share_of(block: int, former: int, of_former: int, of_other: int) -> tuple[int, int]:
    """`(first, count)` of what a block gets where the first `former` blocks get `of_former` each."""
    if block < former:
        return block * of_former, of_former
    return former * of_former + (block - former) * of_other, of_other


def counted_steps(start: int, per_step: int, steps: int, tail: int) -> Steps:
    """For kernels that count the last step as well: a tail of 0 means that it is full."""
    return Steps(start, per_step, steps, tail or per_step)


def steps_and_tail(start: int, per_step: int, full: int, tail: int) -> Steps:
    """For kernels that count full steps alone, behind which a tail may follow."""
    return Steps(start, per_step, full + (tail > 0), tail if tail > 0 else per_step)


# --- what is wrong with fields ---------------------------------------------------------------------------------------


def fields_of(tiling: Tiling) -> dict[str, int]:
    return {name: value for name, value in tiling.data.items() if isinstance(value, int)}


def unfit(data: Mapping[str, int | str], wanted: Mapping[str, int]) -> list[str]:
    """The fields that are not what the call, or other fields, make them. A release's struct may lack some."""
    return [
        f"{name} is {data[name]}, for this call it has to be {value}"
        for name, value in wanted.items()
        if data.get(name, value) != value
    ]


def too_small(data: Mapping[str, int], least: Mapping[str, int]) -> list[str]:
    return [f"{name} is {data[name]}, it has to be at least {low}" for name, low in least.items() if data[name] < low]


def wrong_sum(data: Mapping[str, int], former: str, block_dim: int) -> list[str]:
    """Where fields say how many blocks get a `former` share, and how many a tail."""
    if data[former] + data["tailCoreNum"] == block_dim:
        return []
    return [
        f"{former} {data[former]} and tailCoreNum {data['tailCoreNum']} do not add up to the block dim, {block_dim}"
    ]


def wrong_buffers(buffers: int, queues: int) -> list[str]:
    """Where `queues` queues between one pair of pipes have `buffers` buffers each."""
    most = MOST_BUFFERS // queues
    if 1 <= buffers <= most:
        return []
    return [
        f"a queue has {buffers} buffers; allowed are 1 to {most}, with {queues} queues to share {MOST_BUFFERS} flags"
    ]
