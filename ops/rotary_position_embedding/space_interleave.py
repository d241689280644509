"""The tilings that the A2/A3 kernels of mode interleave take.

Every kernel deals positions out to cores. Split S takes whole positions of all batches in a UB step, split BS some
batches of one position, split BSN some heads of one batch and position; the host code takes the first that fits UB.
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
BUFFERS = (1, 2)
QUEUES = 2  # of x and cos
KERNELS = {"split_s": "split S", "split_bs": "split BS", "split_bsn": "split BSN"}
STEPS = {"split_s": "ubCalc", "split_bs": "ubCalcB", "split_bsn": "ubCalcN"}
SIZES = {path: f"{prefix}Num" for path, prefix in STEPS.items()}
"""The field with the size of a step, which tells the kernels apart."""


def axes(context: TilingContext) -> dict[str, int]:
    call = host.check(context)
    return {"positions": call.seq, "batches": call.batch, "heads": call.heads}


def candidates(context: TilingContext, limit: int) -> Iterator[Tiling]:
    """The host's choice, then kernels, sizes of steps and buffers by numbers of blocks."""
    call = host.check(context)
    made = tilings_by_blocks(call.seq, context.cores, limit, partial(_forms, context, call))
    yield from distinct(operator.tiling(context), (tiling for tiling in made if not SPACE.faults(tiling, context)))


def _forms(context: TilingContext, call: host.InterleaveCall, blocks: int) -> Iterator[Tiling]:
    """All kernels on so many blocks."""
    kernels = (
        (host.split_s, ceil_div(call.seq, blocks)),
        (host.split_bs, call.batch),
        (host.split_bsn, call.heads),
    )
    for buffers in BUFFERS:
        for kernel, total in kernels:
            form = partial(kernel, context, call, blocks, buffers=buffers)
            yield from tilings_by_step(total, STEP_SIZES, context.ub_bytes, form)


# --- what a tiling says ----------------------------------------------------------------------------------------------


def coverage(tiling: Tiling, context: TilingContext) -> Iterator[Piece]:
    """As the kernels read the fields."""
    data, call = fields_of(tiling), host.check(context)
    for block in range(tiling.block_dim):
        start, rows = share_of(block, data["frontCoreNum"], data["coreCalcNum"], data["coreCalcTail"])
        positions, batches, heads = Steps.over(start, rows, 1), Steps.over(0, call.batch, 1), Steps.whole(call.heads)
        if tiling.path == "split_s":
            prefix = "ubCalc" if block < data["frontCoreNum"] else "ubCalcTail"
            positions, batches = _steps(start, data, prefix), Steps.whole(call.batch)
        elif tiling.path == "split_bs":
            batches = _steps(0, data, "ubCalcB")
        else:
            heads = _steps(0, data, "ubCalcN")
        yield Piece(block, (positions, batches, heads))


def _steps(start: int, data: Mapping[str, int], prefix: str) -> Steps:
    return counted_steps(start, *(data[f"{prefix}{name}"] for name in ("Num", "Loop", "Tail")))


def choices(tiling: Tiling) -> dict[str, int | str]:
    data = fields_of(tiling)
    size = data[SIZES[tiling.path]]
    return {
        "kernel": KERNELS[tiling.path],
        "positions per loop": size if tiling.path == "split_s" else 1,
        "batches per loop": {"split_s": data["batchSize"], "split_bs": size}.get(tiling.path, 1),
        "heads per loop": size if tiling.path == "split_bsn" else data["numHeads"],
        "buffers": data.get("bufferNum", host.BUFFERS),
    }


def problems(tiling: Tiling, context: TilingContext) -> list[str]:
    """Fields that do not fit the call, and limits of the kernels' instructions."""
    call, data = host.check(context), fields_of(tiling)
    found = unfit(data, host.call_fields(call))
    found += too_small(data, {name: int(name == SIZES[tiling.path]) for name in INTERLEAVE})
    found += wrong_buffers(data.get("bufferNum", host.BUFFERS), QUEUES)
    found += wrong_sum(data, "frontCoreNum", tiling.block_dim)
    if tiling.path == "split_s" and data["ubCalcTailNum"] > data["ubCalcNum"]:
        found.append(
            f"tail cores take {data['ubCalcTailNum']} positions in a step, the buffers hold ubCalcNum = "
            f"{data['ubCalcNum']}"
        )
    return found or list(_limits(tiling.path, call, data[SIZES[tiling.path]]))


def _limits(path: str, call: host.InterleaveCall, size: int) -> Iterator[str]:
    rows = {"split_s": size, "split_bsn": 0}.get(path, 1)
    batches = {"split_s": call.batch, "split_bs": size}.get(path, 1)
    lines = size if path == "split_bsn" else rows * call.heads  # of one batch
    if batches * lines * call.padded // 64 > MOST_REPEATS:
        elements = batches * lines * call.padded
        yield f"a step of {elements} elements is more than the {MOST_REPEATS} repeats of the sign flip"
    one_by_one = call.padded != call.dim and lines > 1
    blocks = max(lines if one_by_one else batches, rows)
    if blocks > MOST_COPIED_BLOCKS:
        yield f"a step of {blocks} blocks is more than the {MOST_COPIED_BLOCKS} of one DataCopyPad"
    gap_bytes = (call.seq * call.heads - lines) * call.dim * call.itemsize
    if batches > 1 and not one_by_one and gap_bytes > MOST_GAP_BYTES:
        yield f"batches lie {gap_bytes} B apart, more than the {MOST_GAP_BYTES} B of one DataCopyPad"


# --- tilings from elsewhere ------------------------------------------------------------------------------------------


def fields(words: Sequence[int], context: TilingContext) -> dict[str, int]:
    found = struct_of(context, "split_s").fields(words)
    if "batchSize" not in found:
        raise InputError("the tiling data is one of mode half, this call is of mode interleave")
    return found


def rebuild(context: TilingContext, given: Mapping[str, int | str]) -> Tiling:
    """For the kernel that the fields are for, told by those that it alone reads."""
    call = host.check(context)
    data = {name: number(given, name) for name in INTERLEAVE}
    path = next((path for path, name in SIZES.items() if data[name] > 0), None)
    if path is None:
        raise InputError(
            "the tiling data is for no kernel of mode interleave: one of ubCalcNum (split S), ubCalcBNum (split BS) "
            "and ubCalcNNum (split BSN) must be positive"
        )
    blocks = number(given, "block_dim", host.used_cores(data))
    return host.answer_from(context, call, path, data, blocks, number(given, "bufferNum", host.BUFFERS))


SPACE = Space(axes, candidates, coverage, choices, fields, rebuild, problems)
