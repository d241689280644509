"""The tilings that the A2/A3 kernels of inplace_partial_rotary_mul take.

Every kernel deals positions (rows) out to cores. The split S kernel takes whole rows in a UB step, the split BSN kernel
some heads of one row, the fast kernel whole short rows with double buffering; the host code uses the last one only
where cos has one row per batch, but it can rotate the short rows of any call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from ascend_sim.errors import InputError
from ascend_sim.host.space import (
    Piece,
    Space,
    Steps,
    distinct,
    number,
    tilings_by_blocks,
    tilings_by_step,
    words_as_fields,
)
from ascend_sim.host.tiling import Tiling, TilingContext, ceil_div

from ..shared.limits import MOST_COPIED_BLOCKS, MOST_REPEATS
from ..shared.spaces import counted_steps, fields_of, share_of, unfit, wrong_buffers, wrong_sum
from . import tiling as host
from .checks import RopeCall, check
from .struct import STRUCT

STEP_SIZES = 8
"""At most so many sizes of a UB step are tried for each number of blocks and buffers."""
BUFFERS = (1, 2)
QUEUES, FAST_QUEUES = 2, 3  # of inputs


def axes(context: TilingContext) -> dict[str, int]:
    call = check(context)
    if call.head_dim == 0:
        return {"rows": 0, "heads": 0}
    rows, heads = host.positions(context, call)
    return {"rows": rows, "heads": heads}


def candidates(context: TilingContext, limit: int) -> Iterator[Tiling]:
    """The host's choice, then kernels, sizes of steps and buffers by numbers of blocks."""
    own = host.tiling(context)
    if own.is_noop:
        yield own
        return
    call = check(context)
    rows, _ = host.positions(context, call)
    made = tilings_by_blocks(rows, context.cores, limit, partial(_forms, context, call))
    yield from distinct(own, (tiling for tiling in made if not SPACE.faults(tiling, context)))


def _forms(context: TilingContext, call: RopeCall, blocks: int) -> Iterator[Tiling]:
    """All kernels on so many blocks."""
    rows, heads = host.positions(context, call)
    per_core = ceil_div(rows, blocks)
    fields = host.general_fields(context, call, blocks)
    by_step = partial(tilings_by_step, count=STEP_SIZES, ub_bytes=context.ub_bytes)
    for buffers in BUFFERS:
        yield from by_step(per_core, tiling=partial(host.split_s, context, call, fields, buffers=buffers))
        yield from by_step(heads, tiling=partial(host.split_bsn, context, call, fields, buffers=buffers))
        if host.fast_takes(call):
            yield from by_step(per_core, tiling=partial(host.fast, context, call, per_core, buffers=buffers))


# --- what a tiling says ----------------------------------------------------------------------------------------------


def coverage(tiling: Tiling, context: TilingContext) -> Iterator[Piece]:
    """As the kernels read the fields."""
    data = fields_of(tiling)
    if tiling.is_noop:
        return
    for block in range(tiling.block_dim):
        if tiling.path.startswith("fast"):
            last = block == data["usedCoreNum"] - 1
            role = "T" if last else "B"
            steps = Steps(
                block * data["blockFactor"],
                data["ubFactor"],
                data[f"core{role}UbLoopTime"],
                data[f"core{role}UbLoopTail"],
            )
            yield Piece(block, (steps, Steps.whole(data["numHead"])))
            continue
        first, rows = share_of(block, data["frontCoreNum"], data["coreCalcNum"], data["coreCalcTail"])
        if tiling.path == "split_bsn":
            size, loops, tail = data["ubCalcNNum"], data["ubCalcNLoop"], data["ubCalcNTail"]
            yield Piece(block, (Steps.over(first, rows, 1), counted_steps(0, size, loops, tail)))
            continue
        names = _FRONT_NAMES if block < data["frontCoreNum"] else _TAIL_NAMES
        size, loops, tail = (data[name] for name in names)
        yield Piece(block, (counted_steps(first, size, loops, tail), Steps.whole(data["numHeads"])))


_FRONT_NAMES = ("ubCalcNum", "ubCalcLoop", "ubCalcTail")
_TAIL_NAMES = ("ubCalcTailNum", "ubCalcTailLoop", "ubCalcTailTail")


def choices(tiling: Tiling) -> dict[str, int | str]:
    data = fields_of(tiling)
    if tiling.is_noop:
        return {}
    if tiling.path.startswith("fast"):
        return {
            "kernel": "fast",
            "rows per loop": data["ubFactor"],
            "heads per loop": data["numHead"],
            "buffers": data.get("bufferNum", host.FAST_BUFFERS),
        }
    by_rows = tiling.path == "split_s"
    return {
        "kernel": "split S" if by_rows else "split BSN",
        "rows per loop": data["ubCalcNum"] if by_rows else 1,
        "heads per loop": data["numHeads"] if by_rows else data["ubCalcNNum"],
        "buffers": data.get("bufferNum", 1),
    }


def problems(tiling: Tiling, context: TilingContext) -> list[str]:
    """Fields that do not fit the call, and limits of the kernels' instructions."""
    call = check(context)
    if tiling.is_noop:
        return []
    data = fields_of(tiling)
    rows, heads = host.positions(context, call)
    fast = tiling.path.startswith("fast")
    wanted = {"usedCoreNum": tiling.block_dim, "headDim": call.head_dim, "allHeadDim": call.full_dim}
    wanted |= {"start": call.start, "numHead" if fast else "numHeads": heads}
    if not fast:
        wanted |= {"batchSize": 1, "seqLen": rows}
    found = unfit(data, wanted) + ([] if fast else wrong_sum(data, "frontCoreNum", tiling.block_dim))
    return found or [*_limits(tiling, data, call), *_overruns(tiling, data)]


def _limits(tiling: Tiling, data: Mapping[str, int], call: RopeCall) -> Iterator[str]:
    fast = tiling.path.startswith("fast")
    if fast and not host.fast_takes(call):
        yield (
            f"the fast kernel takes rows of up to {host.FAST_MAX_HEAD_DIM} elements that fill whole UB blocks, and one "
            "dtype"
        )
        return
    yield from wrong_buffers(data.get("bufferNum", 1), FAST_QUEUES if fast else QUEUES)
    if tiling.path == "fast_broadcast" and data["numHead"] > MOST_REPEATS:
        yield f"{data['numHead']} heads are more than the {MOST_REPEATS} repeats of the fast kernel's Mul"
    if fast:
        lines = data["ubFactor"] * data["numHead"]
    else:
        lines = data["ubCalcNNum"] if tiling.path == "split_bsn" else data["ubCalcNum"] * data["numHeads"]
    if lines > MOST_COPIED_BLOCKS:
        yield f"a step of {lines} lines is more than the {MOST_COPIED_BLOCKS} blocks of one DataCopyPad"
    if lines * call.padded_dim // 64 > MOST_REPEATS:
        yield f"a step of {lines * call.padded_dim} elements is more than the {MOST_REPEATS} repeats of the sign flip"


def _overruns(tiling: Tiling, data: Mapping[str, int]) -> Iterator[str]:
    """Steps that are larger than the buffers, which the kernels size by one field."""
    if tiling.path == "split_s" and data["ubCalcTailNum"] > data["ubCalcNum"]:
        yield (
            f"tail cores take {data['ubCalcTailNum']} rows in a step, the buffers hold ubCalcNum = {data['ubCalcNum']}"
        )


# --- tilings from elsewhere ------------------------------------------------------------------------------------------


def fields(words: Sequence[int], context: TilingContext) -> dict[str, int]:
    return words_as_fields(words, STRUCT)


def rebuild(context: TilingContext, given: Mapping[str, int | str]) -> Tiling:
    """The kernel that the fields are for, told by those that it alone reads."""
    call = check(context)
    data = {name: number(given, name, 0) for name in STRUCT}
    if call.head_dim == 0:
        return host.tiling(context)
    if data["ubFactor"] > 0:
        buffers = number(given, "bufferNum", host.FAST_BUFFERS)
        return host.fast_answer(context, call, data, data["usedCoreNum"], buffers)
    buffers = number(given, "bufferNum", 1)
    if data["ubCalcNNum"] > 0:
        return host.split_bsn_answer(context, call, data, data["usedCoreNum"], buffers)
    if data["ubCalcNum"] > 0:
        return host.split_s_answer(context, call, data, data["usedCoreNum"], buffers)
    raise InputError(
        "the tiling data is for no kernel of this operator: one of ubFactor (fast), ubCalcNum (split S) and "
        "ubCalcNNum (split BSN) must be positive"
    )


SPACE = Space(axes, candidates, coverage, choices, fields, rebuild, problems)
