"""Host tiling of inplace_partial_rotary_mul on A2 and A3 (arch 2201).

Two kernel families share one tiling struct: the fast path (keys 1 and 2), for short aligned rows whose cos has one
position per batch, and the general path (keys 20xx and 22xx), which cuts positions over cores and then positions
(split S) or heads (split BSN) over the unified buffer.
"""

from __future__ import annotations

from dataclasses import replace

from ascend_sim.host.tensors import shape_text
from ascend_sim.host.tiling import DOES_NOT_FIT, CoreShare, Loop, Tiling, TilingContext, UbBuffer, ceil_div

from ..shared.structs import with_buffers
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
FAST_BUFFERS = 2  # of the fast kernel's queues

Fields = dict[str, int]


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
    if not special or not fast_takes(call):
        return None
    heads, dim = call.x1 * call.x2, call.head_dim
    per_core = ceil_div(call.x0, context.cores)
    # x and y twice, cos and sin twice, all in float32, and the gather table of one row of heads.
    room = context.ub_bytes // 4 - heads * dim
    factor = min(room // (4 * heads * dim + 4 * dim), per_core)
    return fast(context, call, per_core, factor) if factor > 0 else None


def fast_takes(call: RopeCall) -> bool:
    """Whether the fast kernel can rotate rows of this kind."""
    return not call.mixed and call.aligned and call.head_dim <= FAST_MAX_HEAD_DIM


def fast(context: TilingContext, call: RopeCall, per_core: int, factor: int, buffers: int = FAST_BUFFERS) -> Tiling:
    """`per_core` rows for each core, `factor` of them in each UB step, in queues of `buffers` buffers."""
    rows, heads = positions(context, call)
    used = ceil_div(rows, per_core)
    front = Loop.over("rows", per_core, factor)
    last = Loop.over("rows", rows - per_core * (used - 1), factor)
    fields = {
        "usedCoreNum": used,
        "numHead": heads,
        "headDim": call.head_dim,
        "allHeadDim": call.full_dim,
        "coreTUbLoopTime": last.loops,
        "coreBUbLoopTime": front.loops,
        "coreTUbLoopTail": last.last,
        "coreBUbLoopTail": front.last,
        "ubFactor": factor,
        "start": call.start,
        "blockFactor": per_core,
    }
    return fast_answer(context, call, fields, used, buffers)


def fast_answer(context: TilingContext, call: RopeCall, fields: Fields, blocks: int, buffers: int) -> Tiling:
    """A tiling of the fast path from its fields, which may be anybody's."""
    heads = fields["numHead"]
    broadcast = heads != 1
    key = KEY_FAST_BROADCAST if broadcast else KEY_FAST_ELEMENTWISE
    path = "fast_broadcast" if broadcast else "fast_elementwise"
    cos_text = "each cos row broadcast over its heads" if broadcast else "cos the shape of x"
    found = answer(context, key, f"fast path, dim 0 over cores, {cos_text}", blocks, fields, path)
    factor, used = fields["ubFactor"], fields["usedCoreNum"]
    front = Loop("rows", factor, fields["coreBUbLoopTime"], fields["coreBUbLoopTail"])
    last = Loop("rows", factor, fields["coreTUbLoopTime"], fields["coreTUbLoopTail"])
    found = replace(
        found,
        shares=_fast_shares(used, front, last),
        buffers=_fast_buffers(heads, fields["headDim"], factor, buffers),
        warnings=_repeat_warnings(heads) if broadcast else (),
    )
    return with_buffers(found, buffers, FAST_BUFFERS)


def _fast_shares(used: int, front: Loop, last: Loop) -> tuple[CoreShare, ...]:
    unit = "rows"
    if last.total == front.total:
        return (CoreShare("front", used, front.total, unit, (front,)),)
    return (
        CoreShare("front", used - 1, front.total, unit, (front,)),
        CoreShare("tail", 1, last.total, unit, (last,)),
    )


def _fast_buffers(heads: int, dim: int, factor: int, count: int) -> tuple[UbBuffer, ...]:
    row = factor * heads * dim * 4
    rope = factor * dim * 4
    return (
        UbBuffer("xQue", row, count),
        UbBuffer("r1Que", rope, count),
        UbBuffer("r2Que", rope, count),
        UbBuffer("yQue", row, count),
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
    _, heads = positions(context, call)
    fields = general_fields(context, call, context.cores)
    table = heads * call.padded_dim * GATHER_ITEM_BYTES
    row = heads * call.padded_dim * row_item_bytes(call)
    if context.ub_bytes - table >= row:
        return split_s(context, call, fields, (context.ub_bytes - table) // row)
    return _split_bsn(context, call, fields)


def general_fields(context: TilingContext, call: RopeCall, cores: int) -> Fields:
    """Positions over `cores` cores."""
    seq, heads = positions(context, call)
    front_cores = seq % cores or cores
    tail_cores = 0 if seq <= cores else cores - front_cores
    return {
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


def _general_key(call: RopeCall) -> int:
    return KEY_GENERAL + (KEY_MIXED if call.mixed else KEY_DTYPE)[call.dtype] + (0 if call.aligned else KEY_PAD)


def positions(context: TilingContext, call: RopeCall) -> tuple[int, int]:
    """Positions that have their own cos row, and heads under each; every other layout is refused."""
    if call.cos1 == 1:
        return call.x0, call.x1 * call.x2
    context.require(
        call.cos1 == call.x1,
        f"x is {shape_text(context.shape('x'))}, cos and sin are {shape_text(context.shape('cos'))}; "
        f"dim 1 of cos and sin must be 1 or that of x",
    )
    return call.x0 * call.x1, call.x2


def row_item_bytes(call: RopeCall) -> int:
    """UB bytes per element of x in the split S kernel, the gather table apart."""
    if call.mixed:
        return 2 + 2 + 4 + 2 * 4  # x, y, float32 cos, two float32 temporaries
    temporaries = 3 * 4 if call.itemsize == 2 else 0
    return 3 * call.itemsize + temporaries  # x, y, cos


def split_s(context: TilingContext, call: RopeCall, fields: Fields, most_rows: int, buffers: int = 1) -> Tiling:
    """Each UB step takes whole positions: `most_rows` of them, or all that a core has."""
    front_rows, tail_rows = fields["coreCalcNum"], fields["coreCalcTail"]
    front = Loop.over("rows", front_rows, min(front_rows, most_rows))
    tail = Loop.over("rows", tail_rows, min(tail_rows, most_rows))
    fields = fields | {
        "ubCalcNum": front.per_loop,
        "ubCalcLoop": front.loops,
        "ubCalcTail": front.remainder,
        "ubCalcTailNum": tail.per_loop,
        "ubCalcTailLoop": tail.loops,
        "ubCalcTailTail": tail.remainder,
    }
    return split_s_answer(context, call, fields, fields["usedCoreNum"], buffers)


def split_s_answer(context: TilingContext, call: RopeCall, fields: Fields, blocks: int, buffers: int) -> Tiling:
    """A tiling of the split S kernel from its fields, which may be anybody's."""
    meaning = f"general path, {_dtype_text(call)}: positions over cores, whole positions per UB step{_pad_text(call)}"
    found = answer(context, _general_key(call), meaning, blocks, fields, "split_s")
    table = fields["numHeads"] * call.padded_dim
    elements = fields["ubCalcNum"] * table
    front = _loop("rows", fields["ubCalcNum"], fields["ubCalcLoop"], fields["ubCalcTail"])
    tail = _loop("rows", fields["ubCalcTailNum"], fields["ubCalcTailLoop"], fields["ubCalcTailTail"])
    found = replace(
        found,
        shares=_general_shares(fields, (front,), (tail,)),
        buffers=_general_buffers(call, elements, table, buffers),
        warnings=_sign_warnings(elements),
    )
    return with_buffers(found, buffers, 1)


def _loop(unit: str, per_loop: int, loops: int, tail: int) -> Loop:
    """A loop from fields in which a tail of 0 means that the last step is full."""
    return Loop(unit, per_loop, loops, tail or per_loop)


def _sign_warnings(elements: int) -> tuple[str, ...]:
    """The sign flip repeats once per 64 elements, in 8 bits; only more UB than any 2201 chip has lets that overflow."""
    repeats = elements // 64
    if repeats <= 255:
        return ()
    return (
        f"a UB step of {elements} elements overflows the 8-bit repeat of the sign flip, which wraps from {repeats} to "
        f"{repeats & 255}: elements from {(repeats & 255) * 64} on keep the wrong sign of sin",
    )


def _split_bsn(context: TilingContext, call: RopeCall, fields: Fields) -> Tiling:
    """One position at a time, cut into chunks of heads: a position and its gather table do not fit together."""
    per_head = call.padded_dim * (row_item_bytes(call) + GATHER_ITEM_BYTES)
    context.require(
        context.ub_bytes >= per_head,
        f"one head needs {per_head} B of unified buffer, only {context.ub_bytes} B are there: "
        f"partial_slice is too long",
        DOES_NOT_FIT,
    )
    return split_bsn(context, call, fields, context.ub_bytes // per_head)


def split_bsn(context: TilingContext, call: RopeCall, fields: Fields, most_heads: int, buffers: int = 1) -> Tiling:
    """Each UB step takes `most_heads` heads of one position, or all that there are."""
    loop = Loop.over("heads", fields["numHeads"], most_heads)
    fields = fields | {
        "ubCalcNNum": loop.per_loop,
        "ubCalcNLoop": loop.loops,
        "ubCalcNTail": loop.remainder,
    }
    return split_bsn_answer(context, call, fields, fields["usedCoreNum"], buffers)


def split_bsn_answer(context: TilingContext, call: RopeCall, fields: Fields, blocks: int, buffers: int) -> Tiling:
    """A tiling of the split BSN kernel from its fields, which may be anybody's."""
    meaning = f"general path, {_dtype_text(call)}: positions over cores, chunks of heads per UB step{_pad_text(call)}"
    found = answer(context, _general_key(call) + KEY_SPLIT_BSN, meaning, blocks, fields, "split_bsn")
    loop = _loop("heads", fields["ubCalcNNum"], fields["ubCalcNLoop"], fields["ubCalcNTail"])
    front = (Loop.over("rows", fields["coreCalcNum"], 1), loop)
    tail = (Loop.over("rows", fields["coreCalcTail"], 1), loop)
    chunk = fields["ubCalcNNum"] * call.padded_dim
    shares, room = _general_shares(fields, front, tail), _general_buffers(call, chunk, chunk, buffers)
    found = replace(found, shares=shares, buffers=room, warnings=_sign_warnings(chunk))
    return with_buffers(found, buffers, 1)


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


def _general_buffers(call: RopeCall, elements: int, table: int, count: int) -> tuple[UbBuffer, ...]:
    """Every buffer of a split S or split BSN kernel; with the kernels as they are all are single."""
    cos_itemsize = 4 if call.mixed else call.itemsize
    temporaries = (1, 3) if call.mixed else (1, 2, 3) if call.itemsize == 2 else ()
    return (
        UbBuffer("inQueX", elements * call.itemsize, count),
        UbBuffer("inQueCos", elements * cos_itemsize, count),
        UbBuffer("outQueY", elements * call.itemsize, count),
        *(UbBuffer(f"tmpFp32Buf{n}", elements * 4) for n in temporaries),
        UbBuffer("gatherOffsetBuf", table * GATHER_ITEM_BYTES),
    )
