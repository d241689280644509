"""Host tiling of inplace_partial_rotary_mul on A2 and A3 (arch 2201).

Two kernel families share one tiling struct: the fast path (keys 1 and 2), for short aligned rows whose cos has one
position per batch, and the general path (keys 20xx and 22xx), which cuts positions over cores and then positions
(split S) or heads (split BSN) over the unified buffer.
"""

from __future__ import annotations

from dataclasses import replace

from ascend_sim.host.tensors import shape_text
from ascend_sim.host.tiling import DOES_NOT_FIT, CoreShare, Loop, Tiling, TilingContext, UbBuffer, ceil_div

from .checks import RopeCall, check
from .struct import answer

KEY_NOOP = 1
KEY_FAST_BROADCAST = 1
KEY_FAST_ELEMENTWISE = 2
KEY_GENERAL = 2000
KEY_SPLIT_BSN = 200
KEY_PAD = 1
KEY_DTYPE = {"float16": 0, "bfloat16": 10, "float32": 20}
KEY_MIXED = {"bfloat16": 30, "float16": 40}
FAST_MAX_HEAD_DIM = 64  # one vector repeat of float32
GATHER_ITEM_BYTES = 4


def tiling(context: TilingContext) -> Tiling:
    """The A2/A3 host code: checks, then the first path that takes the call."""
    call = check(context)
    if call.head_dim == 0:
        return _noop(context, call)
    return _fast(context, call) or _general(context, call)


def _noop(context: TilingContext, call: RopeCall) -> Tiling:
    fields = {"allHeadDim": call.full_dim, "start": call.start}
    return answer(context, KEY_NOOP, "the slice is empty: nothing to rotate", 1, fields, "noop")


# --- fast path: keys 1 and 2 -----------------------------------------------------------------------------------------


def _fast(context: TilingContext, call: RopeCall) -> Tiling | None:
    """One cos row per dim 0 and whole-block rows of at most 64 elements; None when the call does not fit."""
    special = call.cos1 == 1 and 1 in (call.x1, call.x2)
    if call.mixed or not special or not call.aligned or call.head_dim > FAST_MAX_HEAD_DIM:
        return None
    heads, dim = call.x1 * call.x2, call.head_dim
    per_core = ceil_div(call.x0, context.cores)
    used = ceil_div(call.x0, per_core)
    # x and y twice, cos and sin twice, all in float32, and the gather table of one row of heads.
    room = context.ub_bytes // 4 - heads * dim
    factor = min(room // (4 * heads * dim + 4 * dim), per_core)
    if factor <= 0:
        return None
    front = Loop.over("rows", per_core, factor)
    last = Loop.over("rows", call.x0 - per_core * (used - 1), factor)
    fields = {
        "usedCoreNum": used,
        "numHead": heads,
        "headDim": dim,
        "allHeadDim": call.full_dim,
        "coreTUbLoopTime": last.loops,
        "coreBUbLoopTime": front.loops,
        "coreTUbLoopTail": last.last,
        "coreBUbLoopTail": front.last,
        "ubFactor": factor,
        "start": call.start,
        "blockFactor": per_core,
    }
    broadcast = heads != 1
    key = KEY_FAST_BROADCAST if broadcast else KEY_FAST_ELEMENTWISE
    path = "fast_broadcast" if broadcast else "fast_elementwise"
    cos_text = "each cos row broadcast over its heads" if broadcast else "cos the shape of x"
    found = answer(context, key, f"fast path, dim 0 over cores, {cos_text}", used, fields, path)
    return replace(
        found,
        shares=_fast_shares(used, front, last),
        buffers=_fast_buffers(heads, dim, factor),
        warnings=_repeat_warnings(heads) if broadcast else (),
    )


def _fast_shares(used: int, front: Loop, last: Loop) -> tuple[CoreShare, ...]:
    unit = "rows"
    if last.total == front.total:
        return (CoreShare("front", used, front.total, unit, (front,)),)
    return (
        CoreShare("front", used - 1, front.total, unit, (front,)),
        CoreShare("tail", 1, last.total, unit, (last,)),
    )


def _fast_buffers(heads: int, dim: int, factor: int) -> tuple[UbBuffer, ...]:
    row = factor * heads * dim * 4
    rope = factor * dim * 4
    return (
        UbBuffer("xQue", row, 2),
        UbBuffer("r1Que", rope, 2),
        UbBuffer("r2Que", rope, 2),
        UbBuffer("yQue", row, 2),
        UbBuffer("ids", heads * dim * GATHER_ITEM_BYTES),
    )


def _repeat_warnings(heads: int) -> tuple[str, ...]:
    """The broadcast Mul repeats once per head, in a field of 8 bits, and the host code does not guard it."""
    if heads <= 255:
        return ()
    done = heads & 255
    return (
        f"{heads} heads overflow the 8-bit repeat of the fast path's Mul, which wraps to {done}: "
        f"heads {done} to {heads - 1} are left unwritten by it and their results are undefined, as on the chip",
    )


# --- general path: keys 20xx and 22xx --------------------------------------------------------------------------------


def _general(context: TilingContext, call: RopeCall) -> Tiling:
    seq, heads = _positions(context, call)
    cores = context.cores
    front_cores = seq % cores or cores
    tail_cores = 0 if seq <= cores else cores - front_cores
    fields = {
        "usedCoreNum": front_cores + tail_cores,
        "headDim": call.head_dim,
        "allHeadDim": call.full_dim,
        "start": call.start,
        "batchSize": 1,
        "seqLen": seq,
        "numHeads": heads,
        "frontCoreNum": front_cores,
        "tailCoreNum": tail_cores,
        "coreCalcNum": ceil_div(seq, cores),
        "coreCalcTail": seq // cores,
    }
    key = KEY_GENERAL + (KEY_MIXED if call.mixed else KEY_DTYPE)[call.dtype] + (0 if call.aligned else KEY_PAD)
    table = heads * call.padded_dim * GATHER_ITEM_BYTES
    row = heads * call.padded_dim * _row_item_bytes(call)
    if context.ub_bytes - table >= row:
        return _split_s(context, call, key, fields, context.ub_bytes - table)
    return _split_bsn(context, call, key + KEY_SPLIT_BSN, fields)


def _positions(context: TilingContext, call: RopeCall) -> tuple[int, int]:
    """Positions that have their own cos row, and heads under each; every other layout is refused."""
    if call.cos1 == 1:
        return call.x0, call.x1 * call.x2
    context.require(
        call.cos1 == call.x1,
        f"x is {shape_text(context.shape('x'))}, cos and sin are {shape_text(context.shape('cos'))}; "
        f"dim 1 of cos and sin must be 1 or that of x",
    )
    return call.x0 * call.x1, call.x2


def _row_item_bytes(call: RopeCall) -> int:
    """UB bytes per element of x in the split S kernel, the gather table apart."""
    if call.mixed:
        return 2 + 2 + 4 + 2 * 4  # x, y, float32 cos, two float32 temporaries
    temporaries = 3 * 4 if call.itemsize == 2 else 0
    return 3 * call.itemsize + temporaries  # x, y, cos


def _split_s(context: TilingContext, call: RopeCall, key: int, fields: dict[str, int], room: int) -> Tiling:
    """Each UB step takes whole positions: as many as fit beside the gather table."""
    heads = fields["numHeads"]
    row = heads * call.padded_dim * _row_item_bytes(call)
    front_rows, tail_rows = fields["coreCalcNum"], fields["coreCalcTail"]
    front = Loop.over("rows", front_rows, min(front_rows, room // row))
    tail = Loop.over("rows", tail_rows, min(tail_rows, room // row))
    fields = fields | {
        "ubCalcNum": front.per_loop,
        "ubCalcLoop": front.loops,
        "ubCalcTail": front.remainder,
        "ubCalcTailNum": tail.per_loop,
        "ubCalcTailLoop": tail.loops,
        "ubCalcTailTail": tail.remainder,
    }
    meaning = f"general path, {_dtype_text(call)}: positions over cores, whole positions per UB step{_pad_text(call)}"
    found = answer(context, key, meaning, fields["usedCoreNum"], fields, "split_s")
    table = heads * call.padded_dim
    return replace(
        found,
        shares=_general_shares(fields, (front,), (tail,)),
        buffers=_general_buffers(call, front.per_loop * table, table),
        warnings=_sign_warnings(front.per_loop * table),
    )


def _sign_warnings(elements: int) -> tuple[str, ...]:
    """The sign flip repeats once per 64 elements, in 8 bits; only more UB than any 2201 chip has lets that overflow."""
    repeats = elements // 64
    if repeats <= 255:
        return ()
    return (
        f"a UB step of {elements} elements overflows the 8-bit repeat of the sign flip, which wraps from {repeats} to "
        f"{repeats & 255}: elements from {(repeats & 255) * 64} on keep the wrong sign of sin",
    )


def _split_bsn(context: TilingContext, call: RopeCall, key: int, fields: dict[str, int]) -> Tiling:
    """One position at a time, cut into chunks of heads: a position and its gather table do not fit together."""
    heads = fields["numHeads"]
    per_head = call.padded_dim * (_row_item_bytes(call) + GATHER_ITEM_BYTES)
    context.require(
        context.ub_bytes >= per_head,
        f"one head needs {per_head} B of unified buffer, only {context.ub_bytes} B are there: "
        f"partial_slice is too long",
        DOES_NOT_FIT,
    )
    loop = Loop.over("heads", heads, context.ub_bytes // per_head)
    fields = fields | {
        "ubCalcNNum": loop.per_loop,
        "ubCalcNLoop": loop.loops,
        "ubCalcNTail": loop.remainder,
    }
    meaning = f"general path, {_dtype_text(call)}: positions over cores, chunks of heads per UB step{_pad_text(call)}"
    found = answer(context, key, meaning, fields["usedCoreNum"], fields, "split_bsn")
    front = (Loop.over("rows", fields["coreCalcNum"], 1), loop)
    tail = (Loop.over("rows", fields["coreCalcTail"], 1), loop)
    chunk = loop.per_loop * call.padded_dim
    return replace(found, shares=_general_shares(fields, front, tail), buffers=_general_buffers(call, chunk, chunk))


def _dtype_text(call: RopeCall) -> str:
    return f"{call.dtype} with float32 cos" if call.mixed else call.dtype


def _pad_text(call: RopeCall) -> str:
    return "" if call.aligned else f", rows padded from {call.head_dim} to {call.padded_dim} elements"


def _general_shares(fields: dict[str, int], front: tuple[Loop, ...], tail: tuple[Loop, ...]) -> tuple[CoreShare, ...]:
    unit = "rows"
    shares = [CoreShare("front", fields["frontCoreNum"], fields["coreCalcNum"], unit, front)]
    if fields["tailCoreNum"]:
        shares.append(CoreShare("tail", fields["tailCoreNum"], fields["coreCalcTail"], unit, tail))
    return tuple(shares)


def _general_buffers(call: RopeCall, elements: int, table: int) -> tuple[UbBuffer, ...]:
    """Every buffer of a split S or split BSN kernel; all are single (no double buffering)."""
    cos_itemsize = 4 if call.mixed else call.itemsize
    temporaries = (1, 3) if call.mixed else (1, 2, 3) if call.itemsize == 2 else ()
    return (
        UbBuffer("inQueX", elements * call.itemsize),
        UbBuffer("inQueCos", elements * cos_itemsize),
        UbBuffer("outQueY", elements * call.itemsize),
        *(UbBuffer(f"tmpFp32Buf{n}", elements * 4) for n in temporaries),
        UbBuffer("gatherOffsetBuf", table * GATHER_ITEM_BYTES),
    )
