"""The tilings that the A2/A3 kernel of mode half takes: lines of cos over cores, then tiles, in one buffer or two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from ascend_sim.errors import InputError
from ascend_sim.host.space import Piece, Space, Steps, distinct, number, tilings_by_blocks, tilings_by_step
from ascend_sim.host.tiling import Tiling, TilingContext, ceil_div

from ..shared.limits import MOST_COPIED_BLOCKS, MOST_GAP_BYTES, MOST_STRIDE
from ..shared.spaces import fields_of, steps_and_tail, too_small, unfit, wrong_buffers
from . import tiling as operator
from . import tiling_half as host
from .struct import HALF, struct_of

STEP_SIZES = 8
"""At most so many sizes of a tile are tried for each number of blocks and buffers."""
BUFFERS = (1, 2)
SIZES = ("coreData", "coreLast", "copyTail", "lastCopyTail", "calcUbSize")
"""Elements of cos, which are those of whole lines."""
LOOPS = ("copyLoop", "lastCopyLoop")


def axes(context: TilingContext) -> dict[str, int]:
    """Lines of cos (with B1SD those of one batch), and the lines of dy for each."""
    call = host.check(context)
    return {"positions": call.lines, "heads": call.b * call.s * call.n // call.lines}


def candidates(context: TilingContext, limit: int) -> Iterator[Tiling]:
    """The host's choice, then sizes of tiles and buffers by numbers of blocks."""
    call = host.check(context)
    made = tilings_by_blocks(call.lines, context.cores, limit, partial(_forms, context, call))
    yield from distinct(operator.tiling(context), (tiling for tiling in made if not SPACE.faults(tiling, context)))


def _forms(context: TilingContext, call: host.HalfGradCall, blocks: int) -> Iterator[Tiling]:
    """All tiles on so many blocks."""
    per_core = ceil_div(call.lines, blocks)
    for buffers in BUFFERS:
        form = partial(host.half, context, call, per_core, buffers=buffers)
        yield from tilings_by_step(per_core, STEP_SIZES, context.ub_bytes, form)


# --- what a tiling says ----------------------------------------------------------------------------------------------


def coverage(tiling: Tiling, context: TilingContext) -> Iterator[Piece]:
    """As the kernel reads the fields."""
    data, dim, heads = fields_of(tiling), host.check(context).dim, axes(context)["heads"]
    per_core, step = data["coreData"] // dim, data["calcUbSize"] // dim
    for block in range(tiling.block_dim):
        names = ("lastCopyLoop", "lastCopyTail") if block == data["coreUsed"] - 1 else ("copyLoop", "copyTail")
        steps = steps_and_tail(block * per_core, step, data[names[0]], data[names[1]] // dim)
        yield Piece(block, (steps, Steps.whole(heads)))


def choices(tiling: Tiling) -> dict[str, int | str]:
    data = fields_of(tiling)
    return {
        "kernel": "half",
        "positions per loop": data["calcUbSize"] // max(1, data["dimD"]),
        "buffers": data.get("bufferNum", host.BUFFERS),
    }


def problems(tiling: Tiling, context: TilingContext) -> list[str]:
    """Fields that do not fit the call or each other, and limits of the kernel's instructions."""
    call, data = host.check(context), fields_of(tiling)
    found = unfit(data, host.call_fields(context, call) | {"coreUsed": tiling.block_dim})
    found += too_small(data, {name: int(name == "calcUbSize") for name in (*SIZES, *LOOPS)})
    found += [
        f"{name} is {data[name]}, it has to be a multiple of {call.dim}, whole lines"
        for name in SIZES
        if data[name] % call.dim
    ]
    found += wrong_buffers(data.get("bufferNum", host.BUFFERS), 4 if call.with_x else 3)
    lines = data["calcUbSize"] // call.dim
    if lines * call.pitch > data["alignUbSize"]:
        found.append(
            f"a tile of {lines} lines takes {lines * call.pitch} elements, the buffers hold alignUbSize = "
            f"{data['alignUbSize']}"
        )
    block = call.block
    if data["alignUbSize"] % block:
        found.append(f"alignUbSize is {data['alignUbSize']}, it has to be a multiple of {block}, whole UB blocks")
    return found or [*_limits(call, lines), *_gaps(call, data)]


def _limits(call: host.HalfGradCall, lines: int) -> Iterator[str]:
    """Of the moves of the halves of a tile's lines."""
    if lines > MOST_COPIED_BLOCKS:
        yield f"a tile of {lines} lines is more than the {MOST_COPIED_BLOCKS} blocks of one DataCopy"
    elif call.pads and 2 * lines > MOST_COPIED_BLOCKS:
        yield f"the halves of {lines} lines are more than the {MOST_COPIED_BLOCKS} blocks of one DataCopyPad"


def _gaps(call: host.HalfGradCall, data: Mapping[str, int]) -> Iterator[str]:
    """Of the lines of dy for the lines of a tile."""
    if call.pads and data["stridePadInner"] > MOST_GAP_BYTES:
        yield f"lines of dy lie {data['stridePadInner']} B apart, more than the {MOST_GAP_BYTES} B of one DataCopyPad"
    elif not call.pads and data["strideInner"] > MOST_STRIDE:
        yield f"lines of dy lie {data['strideInner']} UB blocks apart, more than the {MOST_STRIDE} of one DataCopy"


# --- tilings from elsewhere ------------------------------------------------------------------------------------------


def fields(words: Sequence[int], context: TilingContext) -> dict[str, int]:
    found = struct_of("half").fields(words)
    if "dimD" not in found:
        raise InputError("the tiling data is one of mode interleave, this call is of mode half")
    return found


def rebuild(context: TilingContext, given: Mapping[str, int | str]) -> Tiling:
    """As many blocks as coreUsed says where their number is not given."""
    call = host.check(context)
    data = {name: number(given, name) for name in HALF}
    blocks, buffers = number(given, "block_dim", data["coreUsed"]), number(given, "bufferNum", host.BUFFERS)
    return host.answer_from(context, call, data, blocks, buffers)


SPACE = Space(axes, candidates, coverage, choices, fields, rebuild, problems)
