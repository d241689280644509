"""The tilings that the A2/A3 kernels of mode half take.

Keys 10xx deal positions (lines of cos) out to cores, which walk them in tiles. Keys 11xx take all that a core has in
one pass; the host code does so for small shapes on at most half of the cores, the kernel on any number of them,
wherever the lines of a position lie together. With one cos for all, any number of lines may be such a group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod

from ascend_sim.errors import InputError
from ascend_sim.host.space import (
    Piece,
    Space,
    Steps,
    distinct,
    evenly,
    number,
    tilings_by_blocks,
    tilings_by_step,
)
from ascend_sim.host.tiling import Tiling, TilingContext, ceil_div

from ..shared.limits import MOST_COPIED_BLOCKS, MOST_GAP_BYTES
from ..shared.spaces import fields_of, share_of, steps_and_tail, too_small, unfit, wrong_buffers, wrong_sum
from . import tiling as operator
from . import tiling_half as host
from .struct import struct_of

STEP_SIZES = 8
"""At most so many sizes of a tile, and of a group, are tried for each number of blocks and buffers."""
BUFFERS = (2, 1)
QUEUES = 3  # of x, cos and sin
WIDE_BYTES = 2 * 4  # of an element of x in the kernel for one pass, as float32: x itself and y
FREE = ("storeSLines", *(f"{role}{name}" for role in host.ROLES for name in ("CoreNum", "SLines", "UbLoop", "UbLast")))
FULL_LOAD_FREE = ("formerCoreNum", "formerUbLoop", "formerUbLast", "axisLenX3")
KERNELS = {"half": "half", "half_full_load": "full load"}


def call_of(context: TilingContext) -> host.HalfCall:
    """The call. One cos for all goes with any shape of x: where the host code counts no lines, these are all of x."""
    call = host.check(context)
    layout = call.layout
    return replace(call, layout=replace(layout, lines=prod(call.x))) if layout.mode == host.BND else call


def axes(context: TilingContext) -> dict[str, int]:
    """Lines of cos, and lines of x for each."""
    layout = call_of(context).layout
    return {"positions": layout.lines, "heads": layout.first * layout.second}


def candidates(context: TilingContext, limit: int) -> Iterator[Tiling]:
    """The host's choice, then tiles by buffers, and groups in one pass, by numbers of blocks."""
    call = call_of(context)
    made = tilings_by_blocks(call.layout.lines, context.cores, limit, partial(_forms, context, call))
    yield from distinct(operator.tiling(context), (tiling for tiling in made if not SPACE.faults(tiling, context)))


def _forms(context: TilingContext, call: host.HalfCall, blocks: int) -> Iterator[Tiling]:
    """Both kernels on so many blocks."""
    per_core = ceil_div(call.layout.lines, blocks)
    for buffers in BUFFERS:
        form = partial(host.regular, context, call, blocks, buffers=buffers)
        yield from tilings_by_step(per_core, STEP_SIZES, context.ub_bytes, form)
    yield from evenly(_in_one_pass(context, call, blocks), STEP_SIZES)


def _in_one_pass(context: TilingContext, call: host.HalfCall, blocks: int) -> Iterator[Tiling]:
    """For every size of a group with which UB holds what a core has."""
    lines = prod(call.x)
    if context.cann == "8.3" or ceil_div(lines, blocks) * call.padded * WIDE_BYTES > context.ub_bytes:
        return
    for heads in range(lines, 0, -1):
        if _is_group(call, heads):
            per = ceil_div(lines // heads, blocks)
            found = host.full_load(context, call, heads, ceil_div(lines // heads, per), per)
            if found.ub_used_bytes <= context.ub_bytes:
                yield found


def _is_group(call: host.HalfCall, heads: int) -> bool:
    """Whether so many lines may be a group of the kernel for one pass."""
    if call.one_line:
        return prod(call.x) % heads == 0
    return _together(call) and heads == call.layout.first * call.layout.second


def _together(call: host.HalfCall) -> bool:
    """Whether the lines of x that share a line of cos lie together."""
    layout = call.layout
    return layout.mode in (host.SBND, host.NO_BROADCAST) or (layout.mode == host.BSND and layout.first == 1)


# --- what a tiling says ----------------------------------------------------------------------------------------------


def coverage(tiling: Tiling, context: TilingContext) -> Iterator[Piece]:
    """As the kernels read the fields."""
    data, call = fields_of(tiling), call_of(context)
    heads = call.layout.first * call.layout.second
    for block in range(tiling.block_dim):
        steps = _one_pass(data, call, block) if tiling.path == "half_full_load" else _tiles(data, block)
        yield Piece(block, (steps, Steps.whole(heads)))


def _tiles(data: Mapping[str, int], block: int) -> Steps:
    start, _ = share_of(block, data["formerCoreNum"], data["formerSLines"], data["tailSLines"])
    role = "former" if block < data["formerCoreNum"] else "tail"
    return steps_and_tail(start, data["storeSLines"], data[f"{role}UbLoop"], data[f"{role}UbLast"])


def _one_pass(data: Mapping[str, int], call: host.HalfCall, block: int) -> Steps:
    """With one cos for all, every line of a group is a position."""
    positions = data["axisLenX3"] if call.one_line else 1
    groups = data["formerUbLast"] if block == data["formerCoreNum"] - 1 else data["formerUbLoop"]
    return Steps(block * data["formerUbLoop"] * positions, groups * positions, 1, groups * positions)


def choices(tiling: Tiling) -> dict[str, int | str]:
    """Of the kernel for one pass, the groups of a core, and the lines of a group."""
    data = fields_of(tiling)
    one_pass = tiling.path == "half_full_load"
    return {
        "kernel": KERNELS[tiling.path],
        "positions per loop": max(data["formerUbLoop"], data["formerUbLast"]) if one_pass else data["storeSLines"],
        "heads per loop": data["axisLenX3"] if one_pass else 1,
        "buffers": 1 if one_pass else data.get("bufferNum", host.BUFFERS),
    }


def problems(tiling: Tiling, context: TilingContext) -> list[str]:
    """Fields that do not fit the call or each other, and limits of the kernels' instructions."""
    call, data = call_of(context), fields_of(tiling)
    if tiling.path == "half_full_load":
        return _problems_of_one_pass(context, call, data, tiling.block_dim)
    found = too_small(data, {name: int(name == "storeSLines") for name in FREE})
    found += wrong_buffers(data.get("bufferNum", host.BUFFERS), QUEUES)
    found += unfit(data, host.regular_fields(call, {name: data[name] for name in FREE}))
    found += wrong_sum(data, "formerCoreNum", tiling.block_dim)
    longest = data["storeSLines"] if data["formerUbLoop"] + data["tailUbLoop"] > 0 else 0
    longest = max(longest, data["formerUbLast"], data["tailUbLast"])
    return found or [*_limits(call, longest), *_gaps(call)]


def _problems_of_one_pass(
    context: TilingContext, call: host.HalfCall, data: Mapping[str, int], blocks: int
) -> list[str]:
    heads, lines = data["axisLenX3"], prod(call.x)
    if not call.one_line and not _together(call):
        return [
            f"the full load kernel takes lines of x that share a line of cos together; in layout {call.layout.mode} "
            "(tilingMode) they are apart"
        ]
    wanted = call.layout.first * call.layout.second
    if heads < 1 or not _is_group(call, heads):
        allowed = f"a divisor of the {lines} lines" if call.one_line else str(wanted)
        return [f"axisLenX3 is {heads}, it has to be {allowed}"]
    found = too_small(data, {"formerUbLoop": int(blocks > 1), "formerUbLast": 1})
    if data["formerCoreNum"] != blocks:
        found.append(f"formerCoreNum is {data['formerCoreNum']}, it has to be the block dim, {blocks}")
    found += unfit(data, host.full_load_fields(call, {name: data[name] for name in FULL_LOAD_FREE}))
    groups = max(data["formerUbLoop"] if blocks > 1 else 0, data["formerUbLast"])
    return found or list(_limits(call, groups * heads))


def _limits(call: host.HalfCall, lines: int) -> Iterator[str]:
    """Of the moves of the halves of a tile's lines."""
    if lines > MOST_COPIED_BLOCKS:
        yield f"a tile of {lines} lines is more than the {MOST_COPIED_BLOCKS} blocks of one DataCopy"
    elif not call.aligned and 2 * lines > MOST_COPIED_BLOCKS:
        yield f"the halves of {lines} lines are more than the {MOST_COPIED_BLOCKS} blocks of one DataCopyPad"


def _gaps(call: host.HalfCall) -> Iterator[str]:
    """Of the lines of a head, which lie apart in x where heads lie between."""
    layout = call.layout
    between = {host.BSND: layout.second, host.SBND: layout.first * layout.second}.get(layout.mode, 1)
    gap_bytes = (between * call.dim - (call.dim if call.aligned else call.dim // 2)) * call.itemsize
    if gap_bytes > MOST_GAP_BYTES:
        yield f"lines of a head lie {gap_bytes} B apart, more than the {MOST_GAP_BYTES} B of one DataCopyPad"


# --- tilings from elsewhere ------------------------------------------------------------------------------------------


def fields(words: Sequence[int], context: TilingContext) -> dict[str, int]:
    found = struct_of(context, "half").fields(words)
    if "tilingMode" not in found:
        raise InputError("the tiling data is one of mode interleave, this call is not")
    return found


def rebuild(context: TilingContext, given: Mapping[str, int | str]) -> Tiling:
    """For the kernel that tailAxesFLBoost tells; a block for each core that the fields count where none are given."""
    call = call_of(context)
    data = {name: number(given, name) for name in struct_of(context, "half").parts[0]}
    if data.get("tailAxesFLBoost"):
        return host.full_load_answer(context, call, data, number(given, "block_dim", data["formerCoreNum"]))
    blocks = number(given, "block_dim", data["formerCoreNum"] + data["tailCoreNum"])
    return host.regular_answer(context, call, data, blocks, number(given, "bufferNum", host.BUFFERS))


SPACE = Space(axes, candidates, coverage, choices, fields, rebuild, problems)
