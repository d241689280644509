"""The tilings that the A2/A3 kernels of mode interleave take.

Both deal positions out to cores. Small takes whole positions with all their batches and heads in a step, large some
heads of one position; the host code takes large where not even one whole position fits UB.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from ascend_sim.errors import InputError
from ascend_sim.host.space import Piece, Space, Steps, distinct, number, tilings_by_blocks, tilings_by_step
from ascend_sim.host.tiling import Tiling, TilingContext, ceil_div

from ..shared.limits import MOST_COPIED_BLOCKS, MOST_GAP_BYTES, MOST_REPEATS
from ..shared.spaces import counted_steps, fields_of, share_of, too_small, unfit, wrong_buffers, wrong_sum
from . import tiling as operator
from . import tiling_interleave as host
from .struct import INTERLEAVE, struct_of

STEP_SIZES = 8
"""At most so many sizes of a UB step are tried for each kernel, number of blocks and buffers."""
BUFFERS = (2, 1)
ELEMENTS_PER_REPEAT = 64


def axes(context: TilingContext) -> dict[str, int]:
    """Heads are those of all batches, unless a chunk of them is of one batch (BSND)."""
    call = host.check(context)
    _, heads = host.chunked(call)
    return {"positions": call.seq, "batches": call.rows // heads, "heads": heads}


def candidates(context: TilingContext, limit: int) -> Iterator[Tiling]:
    """The host's choice, then kernels, sizes of steps and buffers by numbers of blocks."""
    call = host.check(context)
    made = tilings_by_blocks(call.seq, context.cores, limit, partial(_forms, context, call))
    yield from distinct(operator.tiling(context), (tiling for tiling in made if not SPACE.faults(tiling, context)))


def _forms(context: TilingContext, call: host.InterleaveGradCall, blocks: int) -> Iterator[Tiling]:
    """Both kernels on so many blocks."""
    kernels = ((host.small, ceil_div(call.seq, blocks)), (host.large, host.chunked(call)[1]))
    for buffers in BUFFERS:
        for kernel, total in kernels:
            form = partial(kernel, context, call, blocks, buffers=buffers)
            yield from tilings_by_step(total, STEP_SIZES, context.ub_bytes, form)


# --- what a tiling says ----------------------------------------------------------------------------------------------


def coverage(tiling: Tiling, context: TilingContext) -> Iterator[Piece]:
    """As the kernels read the fields."""
    data, sizes = fields_of(tiling), axes(context)
    prefix, _ = host.chunked(host.check(context))
    for block in range(tiling.block_dim):
        start, rows = share_of(block, data["frontCoreNum"], data["seqFrontLen"], data["seqTailLen"])
        if tiling.path == "small":
            role = "Front" if block < data["frontCoreNum"] else "Tail"
            positions = counted_steps(start, *(data[f"seq{role}Calc{name}"] for name in ("Num", "Loop", "Tail")))
            batches, heads = Steps.whole(sizes["batches"]), Steps.whole(sizes["heads"])
        else:
            positions, batches = Steps.over(start, rows, 1), Steps.over(0, sizes["batches"], 1)
            heads = counted_steps(0, *(data[f"{prefix}{name}"] for name in ("Length", "Loop", "Tail")))
        yield Piece(block, (positions, batches, heads))


def choices(tiling: Tiling) -> dict[str, int | str]:
    """Heads are counted as in `axes`."""
    data = fields_of(tiling)
    large, by_batch = tiling.path == "large", data["layout"] == host.BSND
    heads = data["numHeads"] * (1 if by_batch else data["batchSize"])
    return {
        "kernel": tiling.path,
        "positions per loop": 1 if large else max(data["seqFrontCalcNum"], data["seqTailCalcNum"]),
        "heads per loop": data["numHeadsLength" if by_batch else "batchNumHeadsLength"] if large else heads,
        "buffers": data.get("bufferNum", host.BUFFERS),
    }


def problems(tiling: Tiling, context: TilingContext) -> list[str]:
    """Fields that do not fit the call, and limits of the kernels' instructions."""
    call, data = host.check(context), fields_of(tiling)
    size = f"{host.chunked(call)[0]}Length" if tiling.path == "large" else "seqFrontCalcNum"
    found = unfit(data, host.call_fields(call))
    found += too_small(data, {name: int(name == size) for name in INTERLEAVE})
    found += wrong_buffers(data.get("bufferNum", host.BUFFERS), 3 if call.with_x else 2)
    found += wrong_sum(data, "frontCoreNum", tiling.block_dim)
    return found or list(_limits(call, tiling.path, data))


def _limits(call: host.InterleaveGradCall, path: str, data: Mapping[str, int]) -> Iterator[str]:
    rows = host.rows_of(call, path, dict(data))
    repeats = rows * call.padded // ELEMENTS_PER_REPEAT
    if repeats > MOST_REPEATS:
        yield f"a step of {rows * call.padded} elements is more than the {MOST_REPEATS} repeats of the signs' Mul"
    runs = 1 if path == "large" else {host.BSND: call.batch, host.BNSD: call.rows}.get(call.layout, 1)
    if rows // runs > MOST_COPIED_BLOCKS:
        yield f"a run of {rows // runs} rows is more than the {MOST_COPIED_BLOCKS} blocks of one DataCopyPad"
    gap_bytes = (call.seq - 1) * call.dim * call.itemsize
    if path == "large" and call.layout == host.BNSD and gap_bytes > MOST_GAP_BYTES:
        yield f"heads lie {gap_bytes} B apart, more than the {MOST_GAP_BYTES} B of one DataCopyPad"


# --- tilings from elsewhere ------------------------------------------------------------------------------------------


def fields(words: Sequence[int], context: TilingContext) -> dict[str, int]:
    found = struct_of("small").fields(words)
    if "batchSize" not in found:
        raise InputError("the tiling data is one of mode half, this call is of mode interleave")
    return found


def rebuild(context: TilingContext, given: Mapping[str, int | str]) -> Tiling:
    """For the kernel that the fields are for, told by those that it alone reads."""
    call = host.check(context)
    data = {name: number(given, name) for name in INTERLEAVE}
    chunk = f"{host.chunked(call)[0]}Length"
    if data[chunk] <= 0 and data["seqFrontCalcNum"] <= 0:
        raise InputError(
            f"the tiling data is for no kernel of mode interleave: one of seqFrontCalcNum (small) and {chunk} (large) "
            "must be positive"
        )
    path = "large" if data[chunk] > 0 else "small"
    blocks, buffers = number(given, "block_dim", host.used_cores(data)), number(given, "bufferNum", host.BUFFERS)
    return host.answer_from(context, call, path, data, blocks, buffers)


SPACE = Space(axes, candidates, coverage, choices, fields, rebuild, problems)
