"""Half mode on A2/A3: keys 10xx (lines over cores, tiles of lines) and 11xx (small shapes, one tile per core)."""

from __future__ import annotations

from dataclasses import dataclass

from ascend_sim.host.tensors import shape_text
from ascend_sim.host.tiling import CoreShare, Loop, Tiling, TilingContext, UbBuffer, align_up, ceil_div

from ..shared.rope_layout import leading_dims
from ..shared.structs import answer
from .checks import check_cos, check_dtypes, check_half_dim
from .struct import struct_of

BNSD, BSND, SBND, NO_BROADCAST, BND, R_B1SD = range(1, 7)
MODE_TEXT = {
    BNSD: "BNSD: cos shared by batches and heads of contiguous lines",
    BSND: "BSND: cos shared by batches and by the heads of a line",
    SBND: "SBND: cos shared by the heads of a line",
    NO_BROADCAST: "cos the shape of x",
    BND: "one cos line for all",
    R_B1SD: "B1SD: cos shared by the heads of a batch",
}
DTYPE_DIGIT = {"float32": 1, "float16": 2, "bfloat16": 3}
KEY_REGULAR = 1000
KEY_FULL_LOAD = 1100
RESERVED_UB_BYTES = 2048
MASK_ELEMENTS = 64  # float32 lanes of one vector repeat


@dataclass(frozen=True, slots=True)
class Layout:
    """How lines of D are found: `lines` positions with their own cos, each met by first * second lines of x."""

    mode: int
    first: int
    second: int
    lines: int


@dataclass(frozen=True, slots=True)
class HalfCall:
    """An accepted call; `x` and `r` are the leading three dims of x and cos."""

    x: tuple[int, int, int]
    r: tuple[int, int, int]
    dim: int
    dtype: str
    itemsize: int
    layout: Layout

    @property
    def aligned(self) -> bool:
        """Whether half a line fills whole UB blocks."""
        return self.dim // 2 % (32 // self.itemsize) == 0

    @property
    def padded_half(self) -> int:
        return align_up(self.dim // 2, 32 // self.itemsize)

    @property
    def padded(self) -> int:
        """Elements that one line takes in UB."""
        return self.dim if self.aligned else 2 * self.padded_half

    @property
    def casts(self) -> bool:
        return self.itemsize == 2


def tiling_half(context: TilingContext) -> Tiling:
    call = _check(context)
    small = None if context.cann == "8.3" else _full_load(context, call)
    return small or _regular(context, call)


def _check(context: TilingContext) -> HalfCall:
    x = context.inputs["x"]
    check_half_dim(context, x.shape[-1])
    check_cos(context, "x")
    check_dtypes(context, ("x", "cos", "sin"))
    x0, x1, x2 = leading_dims(x.shape)
    r0, r1, r2 = leading_dims(context.shape("cos"))
    layout = detect((x0, x1, x2), (r0, r1, r2))
    context.require(
        layout is not None,
        f"x is {shape_text(x.shape)} and cos {shape_text(context.shape('cos'))}; no layout fits them",
    )
    assert layout is not None
    call = HalfCall((x0, x1, x2), (r0, r1, r2), x.shape[-1], x.dtype, x.itemsize, layout)
    _check_bnsd_cost(context, call)
    return call


def detect(x: tuple[int, int, int], r: tuple[int, int, int]) -> Layout | None:
    """The first rule that fits; which dims of cos are 1 hardly matters here, only which differ from those of x."""
    (x1, x2, x3), (r1, r2, r3) = x, r
    differ = (x1 != r1, x2 != r2, x3 != r3)
    rules = (
        (not any(differ), Layout(NO_BROADCAST, 1, 1, x1 * x2 * x3)),
        (r == (1, 1, 1), Layout(BND, 1, 1, _without_first_one(x))),
        (differ[0] and differ[1], Layout(BNSD, x1, x2, x3)),
        (differ[0] and differ[2], Layout(BSND, x1, x3, x2)),
        (differ[1] and differ[2], Layout(SBND, x2, x3, x1)),
        (differ[0] and 1 in (r2, r3), Layout(BSND, x1, 1, x2 * x3)),
        (differ[1] and r3 == 1, Layout(SBND, x2, 1, x1)),
        (differ[2], Layout(SBND, 1, x3, x1 * x2)),
        (differ[1], Layout(R_B1SD, x1, x2, x3)),
    )
    return next((layout for fits, layout in rules if fits), None)


def _without_first_one(x: tuple[int, int, int]) -> int:
    """Product of the two dims left when the first dim of size 1 is dropped; 0 when there is none."""
    for i, dim in enumerate(x):
        if dim == 1:
            rest = x[:i] + x[i + 1 :]
            return rest[0] * rest[1]
    return 0


def _check_bnsd_cost(context: TilingContext, call: HalfCall) -> None:
    """BNSD reloads cos for every batch and head: too many of them for the lines are refused."""
    if call.layout.mode != BNSD:
        return
    passes, lines = call.layout.first * call.layout.second, call.layout.lines
    if call.aligned:
        context.require(
            passes <= 8 * lines, f"B * N is {passes} with S {lines}; BNSD takes at most 8 * S = {8 * lines}"
        )
        return
    per_core = ceil_div(lines, context.cores)
    context.require(
        2 * passes <= per_core or call.dim >= 80,
        f"B * N is {passes} with S {lines} on {context.cores} cores; BNSD with unaligned halves of fewer than 40 "
        f"elements takes at most ceil(S / cores) / 2 = {per_core // 2}",
    )


def _shape_fields(call: HalfCall) -> dict[str, int]:
    names = ("axisLenX1", "axisLenX2", "axisLenX3", "axisLenR1", "axisLenR2", "axisLenR3")
    return {
        "tilingMode": call.layout.mode,
        **dict(zip(names, (*call.x, *call.r), strict=True)),
        "gmLength": call.x[0] * call.x[1] * call.x[2] * call.dim,
        "broadcastFirstDim": call.layout.first,
        "broadcastSecondDim": call.layout.second,
        "dLength": call.dim,
        "halfDLength": call.dim // 2,
        "halfDPadLength": call.padded_half,
        "dPadLength": call.padded,
        "isAligned": int(call.aligned),
        "totalSLines": call.layout.lines,
    }


# --- keys 10xx -------------------------------------------------------------------------------------------------------


def _regular(context: TilingContext, call: HalfCall) -> Tiling:
    layout, total = call.layout, call.layout.lines
    context.require(
        total > 0,
        f"x is {shape_text(context.shape('x'))} with one cos line for all; one of its leading dims must be 1 "
        f"(the host code counts no lines otherwise)",
    )
    cores = context.cores
    former, tail = (total, 0) if total <= cores else (total % cores, cores - total % cores)
    used = former + tail
    former_lines, tail_lines = ceil_div(total, used), total // used
    # per line: 4 double-buffered queues, and for 16-bit x four float32 temporaries; the host's budget is rounder
    ways, itemsize = (24, 2) if call.casts else (8, 4)
    store = (context.ub_bytes - RESERVED_UB_BYTES) // ways // (itemsize * call.padded)
    context.require(store > 0, f"the last dim, {call.dim}, is too large for {context.ub_bytes} B of unified buffer")
    fields = _shape_fields(call) | {
        "storeSLines": store,
        "storeDataLength": store * call.dim,
        "storePadDataLength": store * call.padded,
        "formerXCoreOffset": former * former_lines * _x_elements_per_line(call, offset=True),
        "formerRCoreOffset": 0 if layout.mode == BND else former * former_lines * call.dim,
        **_core_fields("former", former, former_lines, store, call),
        **_core_fields("tail", tail, tail_lines, store, call),
    }
    shares = [
        CoreShare(role, count, lines, "lines", _loops(call, lines, store))
        for role, count, lines in (("former", former, former_lines), ("tail", tail, tail_lines))
        if count
    ]
    return answer(
        context,
        struct_of(context, "half"),
        key=KEY_REGULAR + 10 * layout.mode + DTYPE_DIGIT[call.dtype],
        meaning=f"half mode, {call.dtype}, {MODE_TEXT[layout.mode]}{_pad_text(call)}",
        block_dim=used,
        fields=fields,
        path="half",
        shares=tuple(shares),
        buffers=_regular_buffers(call, store * call.padded),
    )


def _x_elements_per_line(call: HalfCall, *, offset: bool) -> int:
    """Elements of x per line of cos: those that a core works on, or those between two cores' first elements."""
    first, second, mode = call.layout.first, call.layout.second, call.layout.mode
    if mode == BND:
        return call.dim
    if not offset or mode == SBND:
        return first * second * call.dim
    return second * call.dim if mode == BSND else call.dim


def _core_fields(role: str, cores: int, lines: int, store: int, call: HalfCall) -> dict[str, int]:
    loops, last = divmod(lines, store)
    rope_lines = {BND: 1, R_B1SD: lines * call.layout.first}.get(call.layout.mode, lines)
    return {
        f"{role}CoreNum": cores,
        f"{role}SLines": lines,
        f"{role}UbLoop": loops,
        f"{role}UbLast": last,
        f"{role}XDataLength": lines * _x_elements_per_line(call, offset=False),
        f"{role}RDataLength": rope_lines * call.dim,
        f"{role}UbLastDataLength": last * call.dim,
        f"{role}UbLastPadDataLength": last * call.padded,
    }


def _loops(call: HalfCall, lines: int, store: int) -> tuple[Loop, ...]:
    tiles = Loop.over("lines", lines, min(store, lines))
    passes = 1 if call.layout.mode == BND else call.layout.first * call.layout.second
    return (tiles, Loop("heads", 1, passes, 1)) if passes > 1 else (tiles,)


def _regular_buffers(call: HalfCall, elements: int) -> tuple[UbBuffer, ...]:
    queues = tuple(UbBuffer(name, elements * call.itemsize, 2) for name in ("xQue", "yQue", "cosQue", "sinQue"))
    if not call.casts:
        return queues
    return queues + tuple(UbBuffer(name, elements * 4) for name in ("xFp32", "cosFp32", "sinFp32", "xNewFp32"))


def _pad_text(call: HalfCall) -> str:
    return "" if call.aligned else f", lines padded from {call.dim} to {call.padded} elements"


# --- keys 11xx -------------------------------------------------------------------------------------------------------


def _full_load(context: TilingContext, call: HalfCall) -> Tiling | None:
    """Small shapes with one cos line per group of X3 lines: everything of a core in one pass, on few cores."""
    groups, heads = call.x[0] * call.x[1], call.x[2]
    one_line = call.r[0] == call.r[1] == 1
    if call.r[2] != 1 or not (call.r[:2] == call.x[:2] or one_line):
        return None
    most = _most_groups(context.ub_bytes, call, one_line)
    if most < 1:
        return None
    cores = ceil_div(groups, most)
    per = ceil_div(groups, cores)
    if cores <= 2 and groups >= 4:
        cores, per = 4, groups // 4
    if cores > context.cores // 2:
        return None
    last = groups - per * (cores - 1)
    rope = (1, 1) if one_line else (per, last)
    fields = _shape_fields(call) | {
        "totalSLines": groups,
        "tailAxesFLBoost": 1,
        "formerCoreNum": cores,
        "formerUbLoop": per,
        "formerUbLast": last,
        "tailUbLoop": rope[0],
        "tailUbLast": rope[1],
        "isThreeOneDim": int(one_line),
    }
    front = CoreShare("former", cores - 1, per, "lines", (Loop("lines", per, 1, per),))
    end = CoreShare("last", 1, last, "lines", (Loop("lines", last, 1, last),))
    return answer(
        context,
        struct_of(context, "half_full_load"),
        key=KEY_FULL_LOAD + 10 * call.layout.mode + DTYPE_DIGIT[call.dtype],
        meaning=f"half mode, {call.dtype}, small shape: one pass per core{_pad_text(call)}",
        block_dim=cores,
        fields=fields,
        path="half_full_load",
        shares=(front, end) if cores > 1 else (end,),
        buffers=_full_load_buffers(call, max(per, last), max(rope), heads if _spread(call, one_line) else 0),
    )


def _spread(call: HalfCall, one_line: bool) -> bool:
    """Whether the one cos line is copied out to all X3 lines of a group (a line longer than one vector repeat)."""
    return one_line and call.padded > MASK_ELEMENTS


def _most_groups(ub_bytes: int, call: HalfCall, one_line: bool) -> int:
    """Groups of X3 lines that fit UB beside what does not grow with them."""
    heads, queued = call.x[2], call.itemsize if call.casts else 0
    if not _spread(call, one_line):
        return ub_bytes // (call.padded * (queued * (heads + 2) + 4 * (2 * heads + 2)))
    fixed = call.padded * (8 * heads + 2 * queued)
    return 0 if ub_bytes <= fixed else (ub_bytes - fixed) // (call.padded * (queued * heads + 8 * heads))


def _full_load_buffers(call: HalfCall, groups: int, rope_lines: int, spread_lines: int) -> tuple[UbBuffer, ...]:
    x, rope = groups * call.x[2] * call.padded, rope_lines * call.padded
    rope_fp32 = (spread_lines or rope_lines) * call.padded
    queues = (UbBuffer("inQueueX", x * 2), UbBuffer("inQueueCos", rope * 2), UbBuffer("inQueueSin", rope * 2))
    return (
        *(queues if call.casts else ()),
        UbBuffer("outQueueY", x * 4),
        UbBuffer("xFp32", x * 4),
        UbBuffer("cosFp32", rope_fp32 * 4),
        UbBuffer("sinFp32", rope_fp32 * 4),
    )
