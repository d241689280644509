"""Interleaved mode on A2/A3: positions over cores, then positions, batches or heads over the unified buffer."""

from __future__ import annotations

from dataclasses import dataclass

from ascend_sim.host.tensors import shape_text
from ascend_sim.host.tiling import CoreShare, Loop, Tiling, TilingContext, UbBuffer, align_up, ceil_div

from ..shared.rope_layout import leading_dims
from ..shared.structs import answer, with_buffers
from .checks import DTYPES, check_cos
from .struct import struct_of

KEY_BASE = 2000
KEY_DTYPE = {"float16": 0, "bfloat16": 10, "float32": 20}
KEY_SPLIT = {"split_s": 0, "split_bs": 100, "split_bsn": 200}
KEY_PAD = 1
GATHER_ITEM_BYTES = 4
BUFFERS = 1  # of every queue of these kernels

Fields = dict[str, int]


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
    call = check(context)
    table = call.heads * call.padded * GATHER_ITEM_BYTES
    room = context.ub_bytes - table
    batch_bytes = call.heads * call.padded * call.item_bytes
    if room >= call.batch * batch_bytes:
        return split_s(context, call, context.cores, room // (call.batch * batch_bytes))
    if table < context.ub_bytes and room >= batch_bytes:
        return split_bs(context, call, context.cores, room // batch_bytes)
    return _split_bsn(context, call)


def check(context: TilingContext) -> InterleaveCall:
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


def core_fields(call: InterleaveCall, cores: int) -> Fields:
    """The call, and positions over `cores` cores."""
    front = call.seq % cores or cores
    return call_fields(call) | {
        "frontCoreNum": front,
        "tailCoreNum": 0 if call.seq <= cores else cores - front,
        "coreCalcNum": ceil_div(call.seq, cores),
        "coreCalcTail": call.seq // cores,
    }


def call_fields(call: InterleaveCall) -> Fields:
    return {"batchSize": call.batch, "seqLen": call.seq, "numHeads": call.heads, "headDim": call.dim}


def split_s(context: TilingContext, call: InterleaveCall, cores: int, most: int, buffers: int = BUFFERS) -> Tiling:
    """Whole positions of all batches: `most` of them at a time, or all that a core has."""
    fields = core_fields(call, cores)
    front = Loop.over("rows", fields["coreCalcNum"], min(fields["coreCalcNum"], most))
    tail = Loop.over("rows", fields["coreCalcTail"], min(fields["coreCalcTail"], most))
    fields |= {
        "ubCalcNum": front.per_loop,
        "ubCalcLoop": front.loops,
        "ubCalcTail": front.remainder,
        "ubCalcTailNum": tail.per_loop,
        "ubCalcTailLoop": tail.loops,
        "ubCalcTailTail": tail.remainder,
    }
    return answer_from(context, call, "split_s", fields, used_cores(fields), buffers)


def split_bs(context: TilingContext, call: InterleaveCall, cores: int, most: int, buffers: int = BUFFERS) -> Tiling:
    """One position at a time, chunks of `most` batches."""
    chunk = Loop.over("batches", call.batch, most)
    fields = core_fields(call, cores) | {
        "ubCalcBNum": chunk.per_loop,
        "ubCalcBLoop": chunk.loops,
        "ubCalcBTail": chunk.remainder,
    }
    return answer_from(context, call, "split_bs", fields, used_cores(fields), buffers)


def _split_bsn(context: TilingContext, call: InterleaveCall) -> Tiling:
    per_head = call.padded * (call.item_bytes + GATHER_ITEM_BYTES)
    context.require(
        context.ub_bytes >= per_head,
        f"one head needs {per_head} B of unified buffer, only {context.ub_bytes} B are there: the last dim, "
        f"{call.dim}, is too large",
    )
    return split_bsn(context, call, context.cores, context.ub_bytes // per_head)


def split_bsn(context: TilingContext, call: InterleaveCall, cores: int, most: int, buffers: int = BUFFERS) -> Tiling:
    """One position of one batch at a time, chunks of `most` heads."""
    chunk = Loop.over("heads", call.heads, most)
    fields = core_fields(call, cores) | {
        "ubCalcNNum": chunk.per_loop,
        "ubCalcNLoop": chunk.loops,
        "ubCalcNTail": chunk.remainder,
    }
    return answer_from(context, call, "split_bsn", fields, used_cores(fields), buffers)


def used_cores(fields: Fields) -> int:
    return fields["frontCoreNum"] + fields["tailCoreNum"]


def answer_from(
    context: TilingContext, call: InterleaveCall, path: str, fields: Fields, blocks: int, buffers: int
) -> Tiling:
    """A tiling of the kernel that `path` names from its fields, which may be anybody's."""
    step = {"split_s": "whole positions", "split_bs": "batches of a position", "split_bsn": "heads of a position"}
    pad = "" if call.dim == call.padded else f", rows padded from {call.dim} to {call.padded} elements"
    roles = (("front", "frontCoreNum", "coreCalcNum"), ("tail", "tailCoreNum", "coreCalcTail"))
    shares = [
        CoreShare(role, fields[cores], fields[rows], "rows", _loops(call, path, fields, role == "tail"))
        for role, cores, rows in roles
        if fields[cores]
    ]
    found = answer(
        context,
        struct_of(context, path),
        key=KEY_BASE + KEY_SPLIT[path] + KEY_DTYPE[call.dtype] + (KEY_PAD if pad else 0),
        meaning=f"interleaved mode, {call.dtype}: positions over cores, {step[path]} per UB step{pad}",
        block_dim=blocks,
        fields=fields,
        path=path,
        shares=tuple(shares),
        buffers=_buffers(call, path, fields, buffers),
    )
    return with_buffers(found, buffers, BUFFERS)


def _loops(call: InterleaveCall, path: str, fields: Fields, tail: bool) -> tuple[Loop, ...]:
    """Of a core, outermost first; a remainder of 0 means that the last step is full."""
    if path == "split_s":
        return (_loop("rows", fields, "ubCalcTail" if tail else "ubCalc"),)
    rows = Loop.over("rows", fields["coreCalcTail" if tail else "coreCalcNum"], 1)
    if path == "split_bs":
        return rows, _loop("batches", fields, "ubCalcB")
    return Loop("batches", 1, call.batch, 1), rows, _loop("heads", fields, "ubCalcN")


def _loop(unit: str, fields: Fields, prefix: str) -> Loop:
    size, loops, tail = (fields[f"{prefix}{end}"] for end in ("Num", "Loop", "Tail"))
    return Loop(unit, size, loops, tail or size)


def _buffers(call: InterleaveCall, path: str, fields: Fields, count: int) -> tuple[UbBuffer, ...]:
    row = call.heads * call.padded
    if path == "split_bsn":
        elements = table = fields["ubCalcNNum"] * call.padded
    else:
        table = row
        elements = row * (call.batch * fields["ubCalcNum"] if path == "split_s" else fields["ubCalcBNum"])
    temporaries = (1, 2, 3) if call.itemsize == 2 else ()
    return (
        *(UbBuffer(name, elements * call.itemsize, count) for name in ("inQueX", "inQueCos", "outQueY")),
        *(UbBuffer(f"tmpFp32Buf{n}", elements * 4) for n in temporaries),
        UbBuffer("gatherOffsetBuf", table * GATHER_ITEM_BYTES),
    )
