"""Host tiling of apply_rotary_pos_emb on A2 and A3 (arch 2201).

Query and key of a position lie one after the other in UB, `heads` lines of `dim` elements. Cores take positions; where
a core has one position only and it fits, there is a kernel without any loop (key 1). Else a core loads pieces of
several positions and computes as many of them at a time as the temporaries hold: all at once (key 4), or, where UB has
room for more input than for temporaries, in several rounds with one store at the end (key 3).
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ascend_sim.host.tiling import DOES_NOT_FIT, CoreShare, Loop, Tiling, TilingContext, UbBuffer, ceil_div

from .checks import RopeCall, check
from .struct import STRUCT, answer

KEY_SMALL, KEY_AB, KEY_AB_CAST = 1, 3, 4
UB_BLOCK_BYTES = 32
REPEAT_BYTES = 256
FP32_BYTES = 4

Fields = dict[str, int]


class Buffers(NamedTuple):
    """Of each of the queues of heads, cos and sin, and of that of results."""

    inputs: int
    results: int


SMALL_BUFFERS, KERNELS_OWN = Buffers(1, 1), Buffers(2, 1)
"""Of the kernel for one position a core, and of those for pieces, which double-buffer what comes in."""


def tiling(context: TilingContext) -> Tiling:
    """The A2/A3 host code: checks, then the kernel for one position a core, or the one for pieces."""
    call = check(context)
    sizes = Sizes(call)
    per_core = ceil_div(call.positions, context.cores)
    if per_core == 1 and sizes.small <= context.ub_bytes:
        return small(context, call)
    context.require(
        sizes.piece <= context.ub_bytes,
        f"{call.heads} heads of {call.dim} elements are too many: one position needs {sizes.piece} B of unified "
        f"buffer, only {context.ub_bytes} B are there",
        DOES_NOT_FIT,
    )
    rounds, more = _per_piece(context, sizes, per_core)
    return pieces(context, call, per_core, rounds + more, rounds)


class Sizes:
    """Bytes of one position. bfloat16 is computed in float32, so its heads take float32 space from the start."""

    def __init__(self, call: RopeCall) -> None:
        self.cast = call.dtype == "bfloat16"
        self.compute_itemsize = FP32_BYTES if self.cast else call.itemsize
        self.heads = call.heads * call.dim * self.compute_itemsize  # in and out, and each of the two temporaries
        self.cos = call.dim * call.itemsize
        self.cos_cast = call.dim * FP32_BYTES if self.cast else call.dim * call.itemsize
        self.casts = 2 * self.cos_cast if self.cast else 0
        self.small = 4 * self.heads + 2 * self.cos + self.casts
        self.io = 3 * self.heads + 4 * self.cos  # heads twice in, once out; cos and sin twice
        self.piece = self.io + 2 * self.heads + self.casts


def common_fields(call: RopeCall, per_core: int) -> Fields:
    """Fields that all kernels read, which follow from the call and the positions of a core."""
    sizes = Sizes(call)
    lanes = REPEAT_BYTES // sizes.compute_itemsize
    return {
        "lastDim": call.dim,
        "halfNum": call.dim // 2,
        "qCoreOffset": per_core * call.q_heads * call.q_dim,
        "kCoreOffset": per_core * call.k_heads * call.k_dim,
        "cosCoreOffset": per_core * call.dim,
        "qcdNum": call.q_heads * call.dim,
        "kcdNum": call.k_heads * call.dim,
        "coscdNum": call.dim,
        "qkcNum": call.heads,
        "mask": min(call.dim, lanes),
        "qcNum": call.q_heads,
        "kcNum": call.k_heads,
        "qDim3": call.q_dim,
        "kDim3": call.k_dim,
        "blockMoveQ": call.dim * call.itemsize // UB_BLOCK_BYTES,
        "dstRepSBr": call.dim * sizes.compute_itemsize // UB_BLOCK_BYTES,
    }


def _meaning(call: RopeCall, text: str) -> str:
    part = "" if call.dim == call.q_dim else f", the first {call.dim} of {call.q_dim} elements"
    return f"{call.dtype}: {text}{part}"


def _warnings(context: TilingContext) -> tuple[str, ...]:
    mode = context.attrs["rotary_mode"]
    if mode == "half":
        return ()
    return (f"rotary_mode is {mode!r}; A2 and A3 do not read it and rotate halves, as on the chip",)


def _not_runnable(call: RopeCall) -> str:
    if call.k_dim == call.q_dim:
        return ""
    return (
        f"the last dim of query is {call.q_dim} and that of key {call.k_dim}; the host code does not check it, but the "
        "kernel walks key with the rows of query"
    )


# --- key 1: one position a core --------------------------------------------------------------------------------------


def small(context: TilingContext, call: RopeCall) -> Tiling:
    """As many cores as there are positions."""
    sizes = Sizes(call)
    fields = common_fields(call, 1) | {
        "useCoreNum": call.positions,
        "qPart1Ub": sizes.heads,
        "q2q1Part1Ub": sizes.heads,
        "cosPart1Ub": sizes.cos,
        "sin1UbSize": sizes.cos_cast,
        **small_fields(call),
    }
    return small_answer(context, call, fields, call.positions)


def small_fields(call: RopeCall) -> Fields:
    """What follows from the call, beside the common fields."""
    sizes = Sizes(call)
    return {
        "mulNum": call.heads * call.dim,
        "qcdHalfNum": call.dim * sizes.compute_itemsize // min(call.dim * sizes.compute_itemsize, REPEAT_BYTES),
        "blockLenQ": call.dim // 2 * sizes.compute_itemsize // UB_BLOCK_BYTES,
    }


def small_answer(context: TilingContext, call: RopeCall, fields: Fields, blocks: int) -> Tiling:
    """A tiling of the kernel without loops from its fields, which may be anybody's."""
    return answer(
        context,
        key=KEY_SMALL,
        meaning=_meaning(call, "one position a core"),
        block_dim=blocks,
        struct=STRUCT,
        fields=fields,
        path="small",
        shares=(CoreShare("front", blocks, 1, "positions", ()),),
        buffers=_buffers(fields, Sizes(call).cast, SMALL_BUFFERS),
        not_runnable=_not_runnable(call),
        warnings=_warnings(context),
    )


def _buffers(fields: Fields, cast: bool, count: Buffers) -> tuple[UbBuffer, ...]:
    casts = ("cosCast", "sinCast") if cast else ()
    return (
        UbBuffer("cosInQueue", fields["cosPart1Ub"], count.inputs),
        UbBuffer("sinInQueue", fields["cosPart1Ub"], count.inputs),
        UbBuffer("qInQueue", fields["qPart1Ub"], count.inputs),
        UbBuffer("qOutQueue", fields["qPart1Ub"], count.results),
        UbBuffer("mul1", fields["q2q1Part1Ub"]),
        UbBuffer("mul2", fields["q2q1Part1Ub"]),
        *(UbBuffer(name, fields["sin1UbSize"]) for name in casts),
    )


# --- keys 3 and 4: pieces of several positions -----------------------------------------------------------------------


def _per_piece(context: TilingContext, sizes: Sizes, per_core: int) -> tuple[int, int]:
    """Positions that are computed at a time, and how many more a piece holds."""
    rounds, rest = divmod(context.ub_bytes, sizes.piece)
    if rounds > per_core:
        return per_core, 0
    return rounds, 0 if sizes.cast else rest // sizes.io


def pieces(
    context: TilingContext, call: RopeCall, per_core: int, piece: int, rounds: int, buffers: Buffers = KERNELS_OWN
) -> Tiling:
    """`per_core` positions for each core, `piece` of them loaded and `rounds` computed at a time."""
    sizes = Sizes(call)
    cores = ceil_div(call.positions, per_core)
    last = call.positions - (cores - 1) * per_core
    fields = common_fields(call, per_core) | {
        "useCoreNum": cores,
        "qPart1Ub": piece * sizes.heads,
        "q2q1Part1Ub": rounds * sizes.heads,
        "cosPart1Ub": piece * sizes.cos,
        "sin1UbSize": rounds * sizes.cos_cast,
        **piece_fields(call),
        **_loops(per_core, last, piece, rounds),
    }
    return pieces_answer(context, call, fields, cores, buffers)


def piece_fields(call: RopeCall) -> Fields:
    """What follows from the call, beside the common fields."""
    itemsize = Sizes(call).compute_itemsize
    return {
        "mulNum": call.heads * call.dim * itemsize // UB_BLOCK_BYTES,
        "qcdHalfNum": call.q_heads * (call.dim // 2),
        "blockLenQ": call.q_heads * call.dim * call.itemsize // UB_BLOCK_BYTES,
        "srcStrideK": call.k_heads * call.dim * call.itemsize // UB_BLOCK_BYTES,
        "blockLenq2q1": call.dim // 2 * itemsize // UB_BLOCK_BYTES,
    }


def pieces_answer(
    context: TilingContext, call: RopeCall, fields: Fields, blocks: int, buffers: Buffers = KERNELS_OWN
) -> Tiling:
    """A tiling of the kernels for pieces from its fields, which may be anybody's."""
    piece, rounds = fields["preCBatchB"], fields["comBatchBB"]
    in_rounds = rounds < piece
    text = f"pieces of {piece} positions, computed {rounds} at a time" if in_rounds else f"pieces of {piece} positions"
    found = answer(
        context,
        key=KEY_AB if in_rounds else KEY_AB_CAST,
        meaning=_meaning(call, text),
        block_dim=blocks,
        struct=STRUCT,
        fields=fields,
        path="ab" if in_rounds else "ab_cast",
        shares=_shares(fields, blocks),
        buffers=_buffers(fields, Sizes(call).cast, buffers),
        not_runnable=_not_runnable(call),
        warnings=_warnings(context),
    )
    return found if buffers == KERNELS_OWN else _with_buffers(found, buffers)


def _with_buffers(tiling: Tiling, buffers: Buffers) -> Tiling:
    """The same with queues of another number of buffers, which are constants of the kernel's source."""
    note = (
        f"in the kernel's source the queues of heads, cos and sin have to have {buffers.inputs} buffers and that of "
        f"results {buffers.results}: it is not in the tiling data"
    )
    data = {**tiling.data, "bufferNum": buffers.inputs, "outBufferNum": buffers.results}
    return replace(tiling, data=data, notes=(*tiling.notes, note), changes_source=True)


def _before_last(total: int, step: int) -> int:
    """Steps before the last one, which the kernels always do apart."""
    return ceil_div(total, step) - 1


def _loops(per_core: int, last: int, piece: int, rounds: int) -> dict[str, int]:
    """Loop counts before the last step, and sizes of the last step: over pieces, and over rounds in each of them."""
    front_loops, tail_loops = _before_last(per_core, piece), _before_last(last, piece)
    front_last, tail_last = per_core - front_loops * piece, last - tail_loops * piece
    full_rounds, front_rounds, tail_rounds = (_before_last(size, rounds) for size in (piece, front_last, tail_last))
    return {
        "preCBatchB": piece,
        "preCLTimes": front_loops,
        "preCBatchL": front_last,
        "lastCLTimes": tail_loops,
        "lastCBatchL": tail_last,
        "comBatchBB": rounds,
        "preCBBTimes": full_rounds,
        "comBatchBBL": piece - full_rounds * rounds,
        "preCBLTimes": front_rounds,
        "comBatchBLL": front_last - front_rounds * rounds,
        "preCLLTimes": tail_rounds,
        "comBatchLLL": tail_last - tail_rounds * rounds,
    }


def _shares(fields: Fields, blocks: int) -> tuple[CoreShare, ...]:
    unit, piece = "positions", fields["preCBatchB"]
    front = Loop(unit, piece, fields["preCLTimes"] + 1, fields["preCBatchL"])
    last = Loop(unit, piece, fields["lastCLTimes"] + 1, fields["lastCBatchL"])
    fewer = int(last.total != front.total)
    kinds = (("front", blocks - fewer, front), ("tail", fewer, last))
    return tuple(CoreShare(role, count, loop.total, unit, (loop,)) for role, count, loop in kinds if count)
