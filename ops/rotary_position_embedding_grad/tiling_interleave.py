"""Interleaved mode of the gradient on A2/A3: positions over cores; whole positions, or chunks of heads, in UB."""

from __future__ import annotations

from dataclasses import dataclass

from ascend_sim.host.tensors import shape_text
from ascend_sim.host.tiling import CoreShare, Loop, Tiling, TilingContext, UbBuffer, align_up, ceil_div

from ..rotary_position_embedding.checks import check_cos
from ..shared.rope_layout import leading_dims
from ..shared.structs import answer
from .struct import struct_of

BSND, BNSD, SBND = 0, 1, 2
LAYOUT_NAMES = {BSND: "BSND", BNSD: "BNSD", SBND: "SBND"}
KEY_BASE = 20000
KEY_DTYPE = {"float16": 0, "bfloat16": 10, "float32": 20}
KEY_LARGE = 100
KEY_WITH_X = 1000
MAX_ROWS_PER_POSITION = 1000
RESERVED_UB_BYTES = 32


@dataclass(frozen=True, slots=True)
class InterleaveGradCall:
    """An accepted call: `seq` positions, each with batch * heads rows of dy."""

    layout: int
    batch: int
    seq: int
    heads: int
    dim: int
    dtype: str
    itemsize: int
    with_x: bool

    @property
    def padded(self) -> int:
        return align_up(self.dim, 32 // self.itemsize)

    @property
    def rows(self) -> int:
        return self.batch * self.heads

    @property
    def item_bytes(self) -> int:
        """UB bytes per element of dy over all buffers, as the host counts them."""
        wide = self.layout != BNSD  # these broadcast cos through one more buffer
        if self.itemsize == 2:
            return 2 * (36 + 2 * wide)
        return 4 * (17 + wide)


def tiling_interleave(context: TilingContext) -> Tiling:
    call = _check(context)
    cores, room = context.cores, context.ub_bytes - RESERVED_UB_BYTES
    front = call.seq % cores or cores
    tail = 0 if call.seq < cores else cores - front
    fields = {
        "batchSize": call.batch,
        "seqLen": call.seq,
        "numHeads": call.heads,
        "headDim": call.dim,
        "alignHeadDim": call.padded,
        "padHeadDim": call.padded - call.dim,
        "frontCoreNum": front,
        "tailCoreNum": tail,
        "seqFrontLen": ceil_div(call.seq, cores),
        "seqTailLen": call.seq // cores,
        "layout": call.layout,
    }
    most_rows = max(room, 0) // (call.padded * call.item_bytes)  # rows of dy that fit at once
    context.require(
        most_rows > 0,
        f"one row needs {call.padded * call.item_bytes} B of unified buffer, {max(room, 0)} B are there: "
        f"the last dim, {call.dim}, is too large",
    )
    if most_rows >= call.rows:
        return _small(context, call, fields, most_rows // call.rows)
    return _large(context, call, fields, most_rows)


def _check(context: TilingContext) -> InterleaveGradCall:
    dy = context.inputs["dy"]
    check_cos(context, "dy")
    (x0, x1, x2), (c0, c1, c2) = leading_dims(dy.shape), leading_dims(context.shape("cos"))
    if c0 == c2 == 1 and c1 == x1:
        layout, batch, seq, heads = BSND, x0, x1, x2
    elif c0 == c1 == 1 and c2 == x2:
        layout, batch, seq, heads = BNSD, x0, x2, x1
    elif c1 == c2 == 1 and c0 == x0:
        layout, batch, seq, heads = SBND, x1, x0, x2
    else:
        context.refuse(
            f"dy is {shape_text(dy.shape)} and cos {shape_text(context.shape('cos'))}; interleaved mode takes cos "
            f"(1, S, 1, D), (1, 1, S, D), (S, 1, 1, D) or (T, 1, D)"
        )
    context.require(
        batch * heads < MAX_ROWS_PER_POSITION,
        f"B * N is {batch * heads}; interleaved mode takes fewer than {MAX_ROWS_PER_POSITION}",
    )
    with_x = "x" in context.inputs
    return InterleaveGradCall(layout, batch, seq, heads, dy.shape[-1], dy.dtype, dy.itemsize, with_x)


def _small(context: TilingContext, call: InterleaveGradCall, fields: dict[str, int], most: int) -> Tiling:
    """At least one whole position fits."""
    front = Loop.over("rows", fields["seqFrontLen"], min(fields["seqFrontLen"], most))
    tail = Loop.over("rows", fields["seqTailLen"], min(fields["seqTailLen"], most))
    fields = fields | {
        "seqFrontCalcNum": front.per_loop,
        "seqFrontCalcLoop": front.loops,
        "seqFrontCalcTail": front.remainder,
        "seqTailCalcNum": tail.per_loop,
        "seqTailCalcLoop": tail.loops,
        "seqTailCalcTail": tail.remainder,
    }
    return _answer(context, call, fields, ((front,), (tail,)), front.per_loop * call.rows, KEY_BASE)


def _large(context: TilingContext, call: InterleaveGradCall, fields: dict[str, int], most_rows: int) -> Tiling:
    """One position at a time, chunks of heads (BSND: of each batch; else over batches and heads together)."""
    prefix, total = ("numHeads", call.heads) if call.layout == BSND else ("batchNumHeads", call.rows)
    # the host's chunk may exceed the heads of one batch; the last, and then only, chunk is what there is
    chunk = Loop.over("heads", total, most_rows)
    remainder = total % most_rows
    fields = fields | {
        f"{prefix}Length": most_rows,
        f"{prefix}Loop": chunk.loops,
        f"{prefix}Tail": remainder,
    }
    walk = (Loop("batches", 1, call.batch, 1), chunk) if call.layout == BSND else (chunk,)
    front = (Loop.over("rows", fields["seqFrontLen"], 1), *walk)
    tail = (Loop.over("rows", fields["seqTailLen"], 1), *walk)
    return _answer(context, call, fields, (front, tail), most_rows, KEY_BASE + KEY_LARGE)


def _answer(
    context: TilingContext,
    call: InterleaveGradCall,
    fields: dict[str, int],
    loops: tuple[tuple[Loop, ...], tuple[Loop, ...]],
    rows: int,
    key: int,
) -> Tiling:
    front, tail = fields["frontCoreNum"], fields["tailCoreNum"]
    shares = [CoreShare("front", front, fields["seqFrontLen"], "rows", loops[0])]
    if tail:
        shares.append(CoreShare("tail", tail, fields["seqTailLen"], "rows", loops[1]))
    needs = "dx, dcos and dsin" if call.with_x else "dx alone"
    step = "chunks of heads" if key >= KEY_BASE + KEY_LARGE else "whole positions"
    return answer(
        context,
        struct_of("large" if step == "chunks of heads" else "small"),
        key=key + KEY_DTYPE[call.dtype] + (KEY_WITH_X if call.with_x else 0),
        meaning=f"interleaved mode, {call.dtype}, {LAYOUT_NAMES[call.layout]}, {needs}: positions over cores, {step} "
        f"per UB step",
        block_dim=front + tail,
        fields=fields,
        path="large" if step == "chunks of heads" else "small",
        shares=tuple(shares),
        buffers=(UbBuffer("all buffers, as the host counts them", rows * call.padded * call.item_bytes),),
    )
