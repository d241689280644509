"""Half mode of the gradient on A2/A3: every core owns a run of cos elements, so sums need no other core."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm

from ascend_sim.host.tensors import shape_text
from ascend_sim.host.tiling import CoreShare, Loop, Tiling, TilingContext, UbBuffer, align_up, ceil_div

from ..rotary_position_embedding.checks import check_cos, check_half_dim
from ..shared.rope_layout import leading_dims
from ..shared.structs import answer, with_buffers
from .struct import struct_of

BSND, BNSD, SBND = 0, 10, 20
LAYOUT_NAMES = {BSND: "BSND", BNSD: "BNSD", SBND: "SBND"}
KEY_DTYPE = {"float16": 0, "float32": 1, "bfloat16": 2}
KEY_PAD = 100
KEY_NO_X = 1000
MASK_ELEMENTS = 64  # float32 lanes of one vector repeat
RESERVED_UB_BYTES = 20 * 1024
BUFFERS = 1  # of every queue of the kernel
CASTS = ("gradCast", "cosCast", "sinCast", "castRes")

Fields = dict[str, int]


@dataclass(frozen=True, slots=True)
class HalfGradCall:
    """An accepted call with its dims by name; `cos_b` and `cos_n` are the sizes of cos where dy has B and N."""

    layout: int
    b: int
    s: int
    n: int
    dim: int
    cos_b: int
    cos_n: int
    dtype: str
    itemsize: int
    with_x: bool

    @property
    def block(self) -> int:
        """Elements in one 32-byte UB block."""
        return 32 // self.itemsize

    @property
    def padded_half(self) -> int:
        return align_up(self.dim // 2, self.block)

    @property
    def pitch(self) -> int:
        """Elements that a line takes in UB."""
        return 2 * self.padded_half if self.pads else self.dim

    @property
    def pads(self) -> bool:
        """The pad kernel runs unless lines fill whole vector repeats."""
        return self.dim % MASK_ELEMENTS != 0

    @property
    def batches_outside(self) -> bool:
        """BNSD with cos B1SD: cores share the S lines, and walk the batches of cos inside."""
        return self.layout == BNSD and self.cos_b != 1 and self.cos_n == 1

    @property
    def lines(self) -> int:
        """Lines of cos that the cores share out."""
        return self.s if self.batches_outside else self.cos_b * self.s * self.cos_n


def tiling_half(context: TilingContext) -> Tiling:
    call = check(context)
    most = (context.ub_bytes - RESERVED_UB_BYTES) // _item_bytes(call)
    granule = lcm(call.pitch, MASK_ELEMENTS) if call.pads else call.dim
    context.require(
        most >= granule,
        f"the last dim, {call.dim}, is too large for {context.ub_bytes} B of unified buffer: {granule} elements are "
        f"worked on at once, {max(most, 0)} fit",
    )
    return half(context, call, ceil_div(call.lines, context.cores), most // granule * (granule // call.pitch))


def half(context: TilingContext, call: HalfGradCall, per_core: int, step: int, buffers: int = BUFFERS) -> Tiling:
    """`per_core` lines of cos for each core, `step` of them in a tile, in queues of `buffers` buffers."""
    used = ceil_div(call.lines, per_core)
    last = call.lines - (used - 1) * per_core
    fields = call_fields(context, call) | {
        "coreData": per_core * call.dim,
        "coreLast": last * call.dim,
        "copyLoop": per_core // step,
        "copyTail": per_core % step * call.dim,
        "lastCopyLoop": last // step,
        "lastCopyTail": last % step * call.dim,
        "alignUbSize": step * call.pitch,
        "calcUbSize": step * call.dim,
        "coreUsed": used,
        "coreNum": context.cores,
    }
    return answer_from(context, call, fields, used, buffers)


def answer_from(context: TilingContext, call: HalfGradCall, fields: Fields, blocks: int, buffers: int) -> Tiling:
    """A tiling from its fields, which may be anybody's."""
    needs = "dx, dcos and dsin" if call.with_x else "dx alone"
    pad = ", rows padded" if call.pads else ""
    found = answer(
        context,
        struct_of("half"),
        key=KEY_DTYPE[call.dtype] + call.layout + (KEY_PAD if call.pads else 0) + (0 if call.with_x else KEY_NO_X),
        meaning=f"half mode, {call.dtype}, {LAYOUT_NAMES[call.layout]}, {needs}: cos lines over cores{pad}",
        block_dim=blocks,
        fields=fields,
        path="half",
        shares=_shares(call, fields),
        buffers=_buffers(call, fields["alignUbSize"], buffers),
    )
    return with_buffers(found, buffers, BUFFERS)


def check(context: TilingContext) -> HalfGradCall:
    dy = context.inputs["dy"]
    check_cos(context, "dy")
    check_half_dim(context, dy.shape[-1])
    x, cos = leading_dims(dy.shape), leading_dims(context.shape("cos"))
    layout = detect(x, cos)
    context.require(
        layout is not None,
        f"dy is {shape_text(dy.shape)} and cos {shape_text(context.shape('cos'))}; half mode takes cos 1S1D, BS1D, "
        f"11SD, B1SD, S11D, SB1D or the shape of dy",
    )
    assert layout is not None
    order = {BSND: (0, 1, 2), BNSD: (0, 2, 1), SBND: (1, 0, 2)}[layout]
    b, s, n = (x[i] for i in order)
    return HalfGradCall(
        layout=layout,
        b=b,
        s=s,
        n=n,
        dim=dy.shape[-1],
        cos_b=cos[order[0]],
        cos_n=cos[order[2]],
        dtype=dy.dtype,
        itemsize=dy.itemsize,
        with_x="x" in context.inputs,
    )


def detect(x: tuple[int, ...], cos: tuple[int, ...]) -> int | None:
    """The first rule that fits. B below S tells BS1D and B1SD from SBND's shapes."""
    x0, x1, x2 = x
    c0, c1, c2 = cos
    rules = (
        (x == cos, BSND),
        (x0 != 1 and c0 == 1 and c1 == x1 and c2 == 1, BSND),
        (c0 == x0 and c1 == x1 and c2 == 1 and x0 < x1, BSND),
        (x0 != 1 and c0 == c1 == 1 and c2 == x2, BNSD),
        (c0 == x0 and c1 == 1 and c2 == x2 and x0 < x2, BNSD),
        (c0 == x0 and x1 != 1 and c1 == c2 == 1, SBND),
        (c0 == x0 and c1 == x1 and c2 == 1, SBND),
    )
    return next((layout for fits, layout in rules if fits), None)


def _item_bytes(call: HalfGradCall) -> int:
    """UB bytes per element over all buffers."""
    queues, temporaries = (7, 5) if call.with_x else (4, 3)
    if call.itemsize == 2:
        temporaries += len(CASTS)
    return queues * call.itemsize + temporaries * 4


def call_fields(context: TilingContext, call: HalfGradCall) -> Fields:
    """What follows from the call alone."""
    return _move_fields(call) | {
        "layout": call.layout,
        "xShapeSize": context.inputs["dy"].size,
        "cosShapeSize": context.inputs["cos"].size,
        "dimB": call.b,
        "dimS": call.s,
        "dimN": call.n,
        "dimD": call.dim,
        "cosDimB": call.cos_b,
        "cosDimN": call.cos_n,
        "halfDimDAlignNum": call.padded_half,
    }


def _move_fields(call: HalfGradCall) -> Fields:
    """How dy is walked for one run of cos lines: outer and inner repeats, and the strides of a copy."""
    batches, heads, half = call.b // call.cos_b, call.n // call.cos_n, call.dim // 2
    if call.layout == BNSD:
        first, second, gap, lines = batches * heads, 1, call.cos_b * call.cos_n * call.s * call.dim, 1
    elif call.layout == BSND:
        first, second, gap, lines = batches, heads, call.cos_b * call.s * call.n * call.dim, heads
    else:
        first, second, gap, lines = 1, batches * heads, 1, batches * heads
    strided = call.layout != BNSD
    return {
        "firstReduce": first,
        "secondReduce": second,
        "ubLoopGap": gap,
        "blockLenInner": ceil_div(call.dim, call.block) if strided else 1,
        "strideInner": ceil_div((lines - 1) * call.dim, call.block) if strided else 0,
        "blockLenPadInner": half * call.itemsize,
        "stridePadInner": (lines * call.dim - half) * call.itemsize,
    }


def _shares(call: HalfGradCall, fields: Fields) -> tuple[CoreShare, ...]:
    passes = fields["firstReduce"] * fields["secondReduce"]
    inner = (Loop("dy tiles per cos tile", 1, passes, 1),) if passes > 1 else ()
    if call.batches_outside:
        inner = (Loop("batches of cos", 1, call.cos_b, 1), *inner)

    def share(role: str, cores: int, elements: int) -> CoreShare:
        lines, step = elements // call.dim, max(0, fields["calcUbSize"]) // call.dim
        return CoreShare(role, cores, lines, "lines", (Loop.over("lines", lines, min(lines, step)), *inner))

    used, data, last = fields["coreUsed"], fields["coreData"], fields["coreLast"]
    if data == last:
        return (share("front", used, data),)
    ends = (share("last", 1, last),)
    return (share("front", used - 1, data), *ends) if used > 1 else ends


def _buffers(call: HalfGradCall, elements: int, count: int) -> tuple[UbBuffer, ...]:
    """`count` of each queue; the kernel as it is does not double-buffer."""
    queues = ["inGrad", "inCos", "inSin", "outXGrad"]
    temporaries = ["A", "B", "C"]
    if call.with_x:
        queues += ["inX", "outCosGrad", "outSinGrad"]
        temporaries += ["accCos", "accSin"]
    if call.itemsize == 2:
        temporaries += CASTS
    return (
        *(UbBuffer(name, elements * call.itemsize, count) for name in queues),
        *(UbBuffer(name, elements * 4) for name in temporaries),
    )
