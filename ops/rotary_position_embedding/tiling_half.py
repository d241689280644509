"""Half mode on A2/A3: keys 10xx (lines over cores, tiles of lines) and 11xx (small shapes, one tile per core)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from ascend_sim.host.tensors import shape_text
from ascend_sim.host.tiling import CoreShare, Loop, Tiling, TilingContext, UbBuffer, align_up, ceil_div

from ..shared.rope_layout import leading_dims
from ..shared.structs import answer, with_buffers
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
BUFFERS = 2  # of every queue of the kernel for keys 10xx
ROLES = ("former", "tail")  # cores with one line more, and the others

Fields = dict[str, int]


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

    @property
    def one_line(self) -> bool:
        """Whether cos is a single line."""
        return self.r == (1, 1, 1)


def tiling_half(context: TilingContext) -> Tiling:
    call = check(context)
    small = None if context.cann == "8.3" else _full_load(context, call)
    return small or _regular(context, call)


def check(context: TilingContext) -> HalfCall:
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


def _shape_fields(call: HalfCall) -> Fields:
    names = ("axisLenX1", "axisLenX2", "axisLenX3", "axisLenR1", "axisLenR2", "axisLenR3")
    return {
        "tilingMode": call.layout.mode,
        **dict(zip(names, (*call.x, *call.r), strict=True)),
        "gmLength": prod(call.x) * call.dim,
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
    context.require(
        call.layout.lines > 0,
        f"x is {shape_text(context.shape('x'))} with one cos line for all; one of its leading dims must be 1 "
        f"(the host code counts no lines otherwise)",
    )
    # per line: 4 double-buffered queues, and for 16-bit x four float32 temporaries; the host's budget is rounder
    ways, itemsize = (24, 2) if call.casts else (8, 4)
    store = (context.ub_bytes - RESERVED_UB_BYTES) // ways // (itemsize * call.padded)
    context.require(store > 0, f"the last dim, {call.dim}, is too large for {context.ub_bytes} B of unified buffer")
    return regular(context, call, context.cores, store)


def regular(context: TilingContext, call: HalfCall, cores: int, store: int, buffers: int = BUFFERS) -> Tiling:
    """Lines over `cores` cores, `store` of them in a tile, in queues of `buffers` buffers."""
    total = call.layout.lines
    former, tail = (total, 0) if total <= cores else (total % cores, cores - total % cores)
    used = former + tail
    shares = ((former, ceil_div(total, used)), (tail, total // used))
    fields = {"storeSLines": store}
    for role, (count, lines) in zip(ROLES, shares, strict=True):
        loops, last = divmod(lines, store)
        fields |= {f"{role}CoreNum": count, f"{role}SLines": lines, f"{role}UbLoop": loops, f"{role}UbLast": last}
    return regular_answer(context, call, fields | regular_fields(call, fields), used, buffers)


def regular_fields(call: HalfCall, fields: Fields) -> Fields:
    """What follows from the call, and from how many lines a tile and each core take."""
    store, line = fields["storeSLines"], call.dim
    former = fields["formerCoreNum"] * fields["formerSLines"]
    found = _shape_fields(call) | {
        "storeDataLength": store * line,
        "storePadDataLength": store * call.padded,
        "formerXCoreOffset": former * _x_elements_per_line(call, offset=True),
        "formerRCoreOffset": 0 if call.layout.mode == BND else former * line,
    }
    for role in ROLES:
        lines, last = fields[f"{role}SLines"], fields[f"{role}UbLast"]
        rope_lines = {BND: 1, R_B1SD: lines * call.layout.first}.get(call.layout.mode, lines)
        found |= {
            f"{role}XDataLength": lines * _x_elements_per_line(call, offset=False),
            f"{role}RDataLength": rope_lines * line,
            f"{role}UbLastDataLength": last * line,
            f"{role}UbLastPadDataLength": last * call.padded,
        }
    return found


def _x_elements_per_line(call: HalfCall, *, offset: bool) -> int:
    """Elements of x per line of cos: those that a core works on, or those between two cores' first elements."""
    first, second, mode = call.layout.first, call.layout.second, call.layout.mode
    if mode == BND:
        return call.dim
    if not offset or mode == SBND:
        return first * second * call.dim
    return second * call.dim if mode == BSND else call.dim


def regular_answer(context: TilingContext, call: HalfCall, fields: Fields, blocks: int, buffers: int) -> Tiling:
    """A tiling of the kernel for keys 10xx from its fields, which may be anybody's."""
    mode = call.layout.mode
    shares = [
        CoreShare(role, fields[f"{role}CoreNum"], fields[f"{role}SLines"], "lines", _loops(call, fields, role))
        for role in ROLES
        if fields[f"{role}CoreNum"]
    ]
    found = answer(
        context,
        struct_of(context, "half"),
        key=KEY_REGULAR + 10 * mode + DTYPE_DIGIT[call.dtype],
        meaning=f"half mode, {call.dtype}, {MODE_TEXT[mode]}{_pad_text(call)}",
        block_dim=blocks,
        fields=fields,
        path="half",
        shares=tuple(shares),
        buffers=_regular_buffers(call, fields["storeSLines"] * call.padded, buffers),
    )
    return with_buffers(found, buffers, BUFFERS)


def _loops(call: HalfCall, fields: Fields, role: str) -> tuple[Loop, ...]:
    store, full, last = (fields[name] for name in ("storeSLines", f"{role}UbLoop", f"{role}UbLast"))
    tiles = Loop("lines", store if full else last, full + (last > 0), last or store)
    passes = 1 if call.layout.mode == BND else call.layout.first * call.layout.second
    return (tiles, Loop("heads", 1, passes, 1)) if passes > 1 else (tiles,)


def _regular_buffers(call: HalfCall, elements: int, count: int) -> tuple[UbBuffer, ...]:
    queues = tuple(UbBuffer(name, elements * call.itemsize, count) for name in ("xQue", "yQue", "cosQue", "sinQue"))
    if not call.casts:
        return queues
    return queues + tuple(UbBuffer(name, elements * 4) for name in ("xFp32", "cosFp32", "sinFp32", "xNewFp32"))


def _pad_text(call: HalfCall) -> str:
    return "" if call.aligned else f", lines padded from {call.dim} to {call.padded} elements"


# --- keys 11xx -------------------------------------------------------------------------------------------------------


def _full_load(context: TilingContext, call: HalfCall) -> Tiling | None:
    """Small shapes with one cos line per group of X3 lines: everything of a core in one pass, on few cores."""
    groups, heads = call.x[0] * call.x[1], call.x[2]
    if call.r[2] != 1 or not (call.r[:2] == call.x[:2] or call.one_line):
        return None
    most = _most_groups(context.ub_bytes, call)
    if most < 1:
        return None
    cores = ceil_div(groups, most)
    per = ceil_div(groups, cores)
    if cores <= 2 and groups >= 4:
        cores, per = 4, groups // 4
    return None if cores > context.cores // 2 else full_load(context, call, heads, cores, per)


def full_load(context: TilingContext, call: HalfCall, heads: int, cores: int, per: int) -> Tiling:
    """`per` groups of `heads` lines for each core, what is left for the last."""
    groups = prod(call.x) // heads
    fields = {
        "axisLenX3": heads,
        "formerCoreNum": cores,
        "formerUbLoop": per,
        "formerUbLast": groups - per * (cores - 1),
    }
    return full_load_answer(context, call, full_load_fields(call, fields) | fields, cores)


def full_load_fields(call: HalfCall, fields: Fields) -> Fields:
    """What follows from the call, and from the lines of a group and the groups of each core.

    x is a row of groups: where these are not those of its own dims, it is taken as (groups, 1, lines of a group, D).
    """
    heads = fields["axisLenX3"]
    groups = prod(call.x) // heads
    found = _shape_fields(call) | {
        "totalSLines": groups,
        "tailAxesFLBoost": 1,
        "tailUbLoop": 1 if call.one_line else fields["formerUbLoop"],
        "tailUbLast": 1 if call.one_line else fields["formerUbLast"],
        "isThreeOneDim": int(call.one_line),
    }
    if heads != call.x[2]:
        found |= {"axisLenX1": groups, "axisLenX2": 1, "axisLenX3": heads}
        found |= {"axisLenR1": 1 if call.one_line else groups, "axisLenR2": 1, "axisLenR3": 1}
    return found


def full_load_answer(context: TilingContext, call: HalfCall, fields: Fields, blocks: int) -> Tiling:
    """A tiling of the kernel for keys 11xx from its fields, which may be anybody's."""
    heads, cores, per, last = (fields[name] for name in ("axisLenX3", "formerCoreNum", "formerUbLoop", "formerUbLast"))
    front = CoreShare("former", cores - 1, per, "lines", (Loop("lines", per, 1, per),))
    end = CoreShare("last", 1, last, "lines", (Loop("lines", last, 1, last),))
    most = max(per, last)
    found = answer(
        context,
        struct_of(context, "half_full_load"),
        key=KEY_FULL_LOAD + 10 * call.layout.mode + DTYPE_DIGIT[call.dtype],
        meaning=f"half mode, {call.dtype}, small shape: one pass per core{_pad_text(call)}",
        block_dim=blocks,
        fields=fields,
        path="half_full_load",
        shares=(front, end) if cores > 1 else (end,),
        buffers=_full_load_buffers(call, most * heads, 1 if call.one_line else most, heads if _spread(call) else 0),
    )
    if heads in (0, call.x[2]):
        return found
    shape = shape_text((prod(call.x) // heads, 1, heads, call.dim))
    return replace(
        found, notes=(f"x is read as {shape}: give it that shape, which leaves its elements where they are",)
    )


def _spread(call: HalfCall) -> bool:
    """Whether the one cos line is copied out to all X3 lines of a group (a line longer than one vector repeat)."""
    return call.one_line and call.padded > MASK_ELEMENTS


def _most_groups(ub_bytes: int, call: HalfCall) -> int:
    """Groups of X3 lines that fit UB beside what does not grow with them."""
    heads, queued = call.x[2], call.itemsize if call.casts else 0
    if not _spread(call):
        return ub_bytes // (call.padded * (queued * (heads + 2) + 4 * (2 * heads + 2)))
    fixed = call.padded * (8 * heads + 2 * queued)
    return 0 if ub_bytes <= fixed else (ub_bytes - fixed) // (call.padded * (queued * heads + 8 * heads))


def _full_load_buffers(call: HalfCall, lines: int, rope_lines: int, spread_lines: int) -> tuple[UbBuffer, ...]:
    x, rope = lines * call.padded, rope_lines * call.padded
    rope_fp32 = (spread_lines or rope_lines) * call.padded
    queues = (UbBuffer("inQueueX", x * 2), UbBuffer("inQueueCos", rope * 2), UbBuffer("inQueueSin", rope * 2))
    return (
        *(queues if call.casts else ()),
        UbBuffer("outQueueY", x * 4),
        UbBuffer("xFp32", x * 4),
        UbBuffer("cosFp32", rope_fp32 * 4),
        UbBuffer("sinFp32", rope_fp32 * 4),
    )
