"""Interleaved mode on A2/A3: positions over cores, then positions, batches or heads over the unified buffer."""

from __future__ import annotations

from dataclasses import dataclass

from ascend_sim.host.tensors import shape_text
from ascend_sim.host.tiling import CoreShare, Loop, Tiling, TilingContext, UbBuffer, align_up, ceil_div

from ..shared.rope_layout import leading_dims
from ..shared.structs import answer
from .checks import DTYPES, check_cos
from .struct import struct_of

KEY_BASE = 2000
KEY_DTYPE = {"float16": 0, "bfloat16": 10, "float32": 20}
KEY_SPLIT = {"split_s": 0, "split_bs": 100, "split_bsn": 200}
KEY_PAD = 1
GATHER_ITEM_BYTES = 4


@dataclass(frozen=True, slots=True)
class InterleaveCall:
    """An accepted call: `seq` positions with their own cos row, each met by batch * heads rows of x."""

    batch: int
    seq: int
    heads: int
    dim: int
    dtype: str
    itemsize: int

    @property
    def padded(self) -> int:
        """Elements that one row takes in UB."""
        return align_up(self.dim, 32 // self.itemsize)

    @property
    def item_bytes(self) -> int:
        """UB bytes per element of x: x, y, cos, and for 16-bit x three float32 temporaries."""
        return 3 * self.itemsize + (12 if self.itemsize == 2 else 0)


def tiling_interleave(context: TilingContext) -> Tiling:
    call = _check(context)
    fields = _split_cores(call, context.cores)
    table = call.heads * call.padded * GATHER_ITEM_BYTES
    room = context.ub_bytes - table
    batch_bytes = call.heads * call.padded * call.item_bytes
    if room >= call.batch * batch_bytes:
        return _split_s(context, call, fields, room // (call.batch * batch_bytes))
    if table < context.ub_bytes and room >= batch_bytes:
        return _split_bs(context, call, fields, room // batch_bytes)
    return _split_bsn(context, call, fields)


def _check(context: TilingContext) -> InterleaveCall:
    x = context.inputs["x"]
    check_cos(context, "x")
    context.require(x.dtype in DTYPES, f"x is {x.dtype}; allowed are {', '.join(DTYPES)}")
    for name in ("cos", "sin"):  # the definition pairs equal dtypes; the host code itself does not look
        given = context.dtype(name)
        context.require(given == x.dtype, f"x is {x.dtype} and {name} is {given}; all must have one dtype")
    (x0, x1, x2), (r0, r1, r2) = leading_dims(x.shape), leading_dims(context.shape("cos"))
    if r1 == r2 == 1 and r0 == x0:
        batch, seq, heads = 1, r0, x1 * x2
    elif r0 == r2 == 1 and r1 == x1:
        batch, seq, heads = x0, r1, x2
    elif r0 == r1 == 1 and r2 == x2:
        batch, seq, heads = x0 * x1, r2, 1
    else:
        context.refuse(
            f"x is {shape_text(x.shape)} and cos {shape_text(context.shape('cos'))}; interleaved mode takes cos "
            f"(S, 1, 1, D), (1, S, 1, D), (1, 1, S, D) or (T, 1, D)"
        )
    return InterleaveCall(batch, seq, heads, x.shape[-1], x.dtype, x.itemsize)


def _split_cores(call: InterleaveCall, cores: int) -> dict[str, int]:
    front = call.seq % cores or cores
    return {
        "batchSize": call.batch,
        "seqLen": call.seq,
        "numHeads": call.heads,
        "headDim": call.dim,
        "frontCoreNum": front,
        "tailCoreNum": 0 if call.seq <= cores else cores - front,
        "coreCalcNum": ceil_div(call.seq, cores),
        "coreCalcTail": call.seq // cores,
    }


def _split_s(context: TilingContext, call: InterleaveCall, fields: dict[str, int], most: int) -> Tiling:
    front = Loop.over("rows", fields["coreCalcNum"], min(fields["coreCalcNum"], most))
    tail = Loop.over("rows", fields["coreCalcTail"], min(fields["coreCalcTail"], most))
    fields = fields | {
        "ubCalcNum": front.per_loop,
        "ubCalcLoop": front.loops,
        "ubCalcTail": front.remainder,
        "ubCalcTailNum": tail.per_loop,
        "ubCalcTailLoop": tail.loops,
        "ubCalcTailTail": tail.remainder,
    }
    row = call.heads * call.padded
    buffers = _buffers(call, call.batch * front.per_loop * row, row)
    return _answer(context, call, "split_s", fields, ((front,), (tail,)), buffers)


def _split_bs(context: TilingContext, call: InterleaveCall, fields: dict[str, int], most: int) -> Tiling:
    """One position at a time, chunks of batches."""
    chunk = Loop.over("batches", call.batch, most)
    fields = fields | {
        "ubCalcBNum": chunk.per_loop,
        "ubCalcBLoop": chunk.loops,
        "ubCalcBTail": chunk.remainder,
    }
    row = call.heads * call.padded
    buffers = _buffers(call, chunk.per_loop * row, row)
    return _answer(context, call, "split_bs", fields, _by_row(fields, chunk), buffers)


def _split_bsn(context: TilingContext, call: InterleaveCall, fields: dict[str, int]) -> Tiling:
    """One position of one batch at a time, chunks of heads."""
    per_head = call.padded * (call.item_bytes + GATHER_ITEM_BYTES)
    context.require(
        context.ub_bytes >= per_head,
        f"one head needs {per_head} B of unified buffer, only {context.ub_bytes} B are there: the last dim, "
        f"{call.dim}, is too large",
    )
    chunk = Loop.over("heads", call.heads, context.ub_bytes // per_head)
    fields = fields | {
        "ubCalcNNum": chunk.per_loop,
        "ubCalcNLoop": chunk.loops,
        "ubCalcNTail": chunk.remainder,
    }
    loops = tuple((Loop("batches", 1, call.batch, 1), *rest) for rest in _by_row(fields, chunk))
    elements = chunk.per_loop * call.padded
    return _answer(context, call, "split_bsn", fields, (loops[0], loops[1]), _buffers(call, elements, elements))


def _by_row(fields: dict[str, int], chunk: Loop) -> tuple[tuple[Loop, ...], tuple[Loop, ...]]:
    front = (Loop.over("rows", fields["coreCalcNum"], 1), chunk)
    tail = (Loop.over("rows", fields["coreCalcTail"], 1), chunk)
    return front, tail


def _answer(
    context: TilingContext,
    call: InterleaveCall,
    path: str,
    fields: dict[str, int],
    loops: tuple[tuple[Loop, ...], tuple[Loop, ...]],
    buffers: tuple[UbBuffer, ...],
) -> Tiling:
    step = {"split_s": "whole positions", "split_bs": "batches of a position", "split_bsn": "heads of a position"}
    pad = "" if call.dim == call.padded else f", rows padded from {call.dim} to {call.padded} elements"
    front, tail = fields["frontCoreNum"], fields["tailCoreNum"]
    shares = [CoreShare("front", front, fields["coreCalcNum"], "rows", loops[0])]
    if tail:
        shares.append(CoreShare("tail", tail, fields["coreCalcTail"], "rows", loops[1]))
    return answer(
        context,
        struct_of(context, path),
        key=KEY_BASE + KEY_SPLIT[path] + KEY_DTYPE[call.dtype] + (KEY_PAD if pad else 0),
        meaning=f"interleaved mode, {call.dtype}: positions over cores, {step[path]} per UB step{pad}",
        block_dim=front + tail,
        fields=fields,
        path=path,
        shares=tuple(shares),
        buffers=buffers,
    )


def _buffers(call: InterleaveCall, elements: int, table: int) -> tuple[UbBuffer, ...]:
    """All single: the interleaved kernels do not double-buffer."""
    temporaries = (1, 2, 3) if call.itemsize == 2 else ()
    return (
        *(UbBuffer(name, elements * call.itemsize) for name in ("inQueX", "inQueCos", "outQueY")),
        *(UbBuffer(f"tmpFp32Buf{n}", elements * 4) for n in temporaries),
        UbBuffer("gatherOffsetBuf", table * GATHER_ITEM_BYTES),
    )
