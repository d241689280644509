"""Interleaved mode of the gradient on A2/A3: positions over cores; whole positions, or chunks of heads, in UB."""

from __future__ import annotations

from dataclasses import dataclass

from ascend_sim.host.tensors import shape_text
from ascend_sim.host.tiling import CoreShare, Loop, Tiling, TilingContext, UbBuffer, align_up, ceil_div

from ..rotary_position_embedding.checks import check_cos
from ..shared.rope_layout import leading_dims
from ..shared.structs import answer, with_buffers
from .struct import struct_of

BSND, BNSD, SBND = 0, 1, 2
LAYOUT_NAMES = {BSND: "BSND", BNSD: "BNSD", SBND: "SBND"}
KEY_BASE = 20000
KEY_DTYPE = {"float16": 0, "bfloat16": 10, "float32": 20}
KEY_LARGE = 100
KEY_WITH_X = 1000
MAX_ROWS_PER_POSITION = 1000
RESERVED_UB_BYTES = 32
SIGNS_BYTES = 32  # a block of signs for each direction
BUFFERS = 2  # of every queue of the kernels

Fields = dict[str, int]


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
    call = check(context)
    room = context.ub_bytes - RESERVED_UB_BYTES
    most_rows = max(room, 0) // (call.padded * call.item_bytes)  # rows of dy that fit at once
    context.require(
        most_rows > 0,
        f"one row needs {call.padded * call.item_bytes} B of unified buffer, {max(room, 0)} B are there: "
        f"the last dim, {call.dim}, is too large",
    )
    if most_rows >= call.rows:
        return small(context, call, context.cores, most_rows // call.rows)
    return large(context, call, context.cores, most_rows)


def check(context: TilingContext) -> InterleaveGradCall:
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


def core_fields(call: InterleaveGradCall, cores: int) -> Fields:
    """The call, and positions over `cores` cores."""
    front = call.seq % cores or cores
    return call_fields(call) | {
        "frontCoreNum": front,
        "tailCoreNum": 0 if call.seq < cores else cores - front,
        "seqFrontLen": ceil_div(call.seq, cores),
        "seqTailLen": call.seq // cores,
    }


def call_fields(call: InterleaveGradCall) -> Fields:
    return {
        "batchSize": call.batch,
        "seqLen": call.seq,
        "numHeads": call.heads,
        "headDim": call.dim,
        "alignHeadDim": call.padded,
        "padHeadDim": call.padded - call.dim,
        "layout": call.layout,
    }


def small(context: TilingContext, call: InterleaveGradCall, cores: int, most: int, buffers: int = BUFFERS) -> Tiling:
    """Whole positions: `most` of them at a time, or all that a core has."""
    fields = core_fields(call, cores)
    front = Loop.over("rows", fields["seqFrontLen"], min(fields["seqFrontLen"], most))
    tail = Loop.over("rows", fields["seqTailLen"], min(fields["seqTailLen"], most))
    fields |= {
        "seqFrontCalcNum": front.per_loop,
        "seqFrontCalcLoop": front.loops,
        "seqFrontCalcTail": front.remainder,
        "seqTailCalcNum": tail.per_loop,
        "seqTailCalcLoop": tail.loops,
        "seqTailCalcTail": tail.remainder,
    }
    return answer_from(context, call, "small", fields, used_cores(fields), buffers)


def large(context: TilingContext, call: InterleaveGradCall, cores: int, chunk: int, buffers: int = BUFFERS) -> Tiling:
    """One position at a time, chunks of `chunk` heads (BSND: of each batch; else over batches and heads together).

    The host's chunk may exceed the heads of one batch; the last, and then only, chunk is what there is.
    """
    prefix, heads = chunked(call)
    fields = core_fields(call, cores) | {
        f"{prefix}Length": chunk,
        f"{prefix}Loop": ceil_div(heads, chunk),
        f"{prefix}Tail": heads % chunk,
    }
    return answer_from(context, call, "large", fields, used_cores(fields), buffers)


def chunked(call: InterleaveGradCall) -> tuple[str, int]:
    """The fields that cut heads, and how many heads they cut."""
    return ("numHeads", call.heads) if call.layout == BSND else ("batchNumHeads", call.rows)


def used_cores(fields: Fields) -> int:
    return fields["frontCoreNum"] + fields["tailCoreNum"]


def answer_from(
    context: TilingContext, call: InterleaveGradCall, path: str, fields: Fields, blocks: int, buffers: int
) -> Tiling:
    """A tiling of the kernel that `path` names from its fields, which may be anybody's."""
    shares = [
        CoreShare(role.lower(), fields[cores], fields[f"seq{role}Len"], "rows", _loops(call, path, fields, role))
        for role, cores in (("Front", "frontCoreNum"), ("Tail", "tailCoreNum"))
        if fields[cores]
    ]
    needs = "dx, dcos and dsin" if call.with_x else "dx alone"
    step = "chunks of heads" if path == "large" else "whole positions"
    key = KEY_BASE + KEY_DTYPE[call.dtype] + (KEY_LARGE if path == "large" else 0) + (KEY_WITH_X if call.with_x else 0)
    found = answer(
        context,
        struct_of(path),
        key=key,
        meaning=f"interleaved mode, {call.dtype}, {LAYOUT_NAMES[call.layout]}, {needs}: positions over cores, {step} "
        f"per UB step",
        block_dim=blocks,
        fields=fields,
        path=path,
        shares=tuple(shares),
        buffers=_buffers(call, rows_of(call, path, fields) * call.padded, buffers),
    )
    return with_buffers(found, buffers, BUFFERS)


def rows_of(call: InterleaveGradCall, path: str, fields: Fields) -> int:
    """Rows of dy in a step: every core has buffers for its own, these are those of the core that takes most."""
    if path == "large":
        return fields[f"{chunked(call)[0]}Length"]
    front = fields["seqFrontCalcNum"] if fields["frontCoreNum"] else 0
    return max(front, fields["seqTailCalcNum"] if fields["tailCoreNum"] else 0) * call.rows


def _loops(call: InterleaveGradCall, path: str, fields: Fields, role: str) -> tuple[Loop, ...]:
    """Of a core, outermost first; a remainder of 0 means that the last step is full."""
    if path == "small":
        size, loops, tail = (fields[f"seq{role}Calc{name}"] for name in ("Num", "Loop", "Tail"))
        return (Loop("rows", size, loops, tail or size),)
    size, loops, tail = (fields[f"{chunked(call)[0]}{name}"] for name in ("Length", "Loop", "Tail"))
    chunk = Loop("heads", size, loops, tail or size)
    batches = (Loop("batches", 1, call.batch, 1),) if call.layout == BSND else ()
    return (Loop.over("rows", fields[f"seq{role}Len"], 1), *batches, chunk)


def _buffers(call: InterleaveGradCall, elements: int, count: int) -> tuple[UbBuffer, ...]:
    """What the kernels ask for, which is less than the host counts; cos and sin, dcos and dsin share theirs."""
    narrow, wide, with_x = elements * call.itemsize, elements * 4, call.with_x
    queues = [("inQueDy", narrow), ("inQueCosSin", 2 * narrow), ("outQueDx", narrow)]
    queues += [("inQueX", narrow), ("outQueSums", 2 * narrow)] if with_x else []
    rest = [("gatherTable", wide), ("signsBack", SIGNS_BYTES)]
    rest += [("signsForward", SIGNS_BYTES)] if with_x else []
    rest += [("spread", narrow)] if call.layout != BNSD else []
    rest += [("product", wide), ("swapped", wide)]
    if call.itemsize == 2:
        rest += [("dyCast", wide), ("cosSinCast", 2 * wide), ("dxCast", wide)]
        rest += [("xCast", wide), ("sumsCast", 2 * wide)] if with_x else []
    return (*(UbBuffer(name, size, count) for name, size in queues), *(UbBuffer(name, size) for name, size in rest))
