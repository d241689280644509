"""Half mode of the gradient on A2/A3: every core owns a run of cos elements, so sums need no other core."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm

from ascend_sim.host.tensors import shape_text
from ascend_sim.host.tiling import CoreShare, Loop, Tiling, TilingContext, UbBuffer, align_up, ceil_div

from ..rotary_position_embedding.checks import check_cos, check_half_dim
from ..shared.rope_layout import leading_dims
from ..shared.structs import answer
from .struct import struct_of

BSND, BNSD, SBND = 0, 10, 20
LAYOUT_NAMES = {BSND: "BSND", BNSD: "BNSD", SBND: "SBND"}
KEY_DTYPE = {"float16": 0, "float32": 1, "bfloat16": 2}
KEY_PAD = 100
KEY_NO_X = 1000
MASK_ELEMENTS = 64  # float32 lanes of one vector repeat
RESERVED_UB_BYTES = 20 * 1024
CASTS = ("gradCast", "cosCast", "sinCast", "castRes")


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
    def pads(self) -> bool:
        """The pad kernel runs unless lines fill whole vector repeats."""
        return self.dim % MASK_ELEMENTS != 0

    @property
    def batches_outside(self) -> bool:
        """BNSD with cos B1SD: cores share the S lines, and walk the batches of cos inside."""
        return self.layout == BNSD and self.cos_b != 1 and self.cos_n == 1


def tiling_half(context: TilingContext) -> Tiling:
    call = _check(context)
    most, item_bytes = _ub_elements(context, call)
    granule = lcm(2 * call.padded_half, MASK_ELEMENTS) if call.pads else call.dim
    lines_per_granule = granule // (2 * call.padded_half) if call.pads else 1
    align_size = most // granule * granule
    calc_size = most // granule * lines_per_granule * call.dim
    context.require(
        align_size > 0 and 2 * call.padded_half <= align_size,
        f"the last dim, {call.dim}, is too large for {context.ub_bytes} B of unified buffer: {granule} elements are "
        f"worked on at once, {max(most, 0)} fit",
    )
    cos_elements = context.inputs["cos"].size
    tasks = call.s * call.dim if call.batches_outside else cos_elements
    core_data = align_up(ceil_div(tasks, context.cores), call.dim)
    used = ceil_div(tasks, core_data)
    core_last = tasks % core_data or core_data
    fields = {
        **_shape_fields(context, call),
        "coreData": core_data,
        "coreLast": core_last,
        "copyLoop": core_data // calc_size,
        "copyTail": core_data % calc_size,
        "lastCopyLoop": core_last // calc_size,
        "lastCopyTail": core_last % calc_size,
        "alignUbSize": align_size,
        "calcUbSize": calc_size,
        "coreUsed": used,
        "coreNum": context.cores,
        **_move_fields(call),
    }
    needs = "dx, dcos and dsin" if call.with_x else "dx alone"
    pad = ", rows padded" if call.pads else ""
    return answer(
        context,
        struct_of("half"),
        key=KEY_DTYPE[call.dtype] + call.layout + (KEY_PAD if call.pads else 0) + (0 if call.with_x else KEY_NO_X),
        meaning=f"half mode, {call.dtype}, {LAYOUT_NAMES[call.layout]}, {needs}: cos lines over cores{pad}",
        block_dim=used,
        fields=fields,
        path="half",
        shares=_shares(call, fields),
        buffers=_buffers(call, align_size, item_bytes),
    )


def _check(context: TilingContext) -> HalfGradCall:
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


def _ub_elements(context: TilingContext, call: HalfGradCall) -> tuple[int, int]:
    """Elements that each buffer may hold, and UB bytes per element over all buffers."""
    queues, temporaries = (7, 5) if call.with_x else (4, 3)
    if call.itemsize == 2:
        temporaries += len(CASTS)
    item_bytes = queues * call.itemsize + temporaries * 4
    return (context.ub_bytes - RESERVED_UB_BYTES) // item_bytes, item_bytes


def _shape_fields(context: TilingContext, call: HalfGradCall) -> dict[str, int]:
    return {
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


def _move_fields(call: HalfGradCall) -> dict[str, int]:
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


def _shares(call: HalfGradCall, fields: dict[str, int]) -> tuple[CoreShare, ...]:
    passes = fields["firstReduce"] * fields["secondReduce"]
    inner = (Loop("dy tiles per cos tile", 1, passes, 1),) if passes > 1 else ()
    if call.batches_outside:
        inner = (Loop("batches of cos", 1, call.cos_b, 1), *inner)

    def share(role: str, cores: int, elements: int) -> CoreShare:
        lines, step = elements // call.dim, fields["calcUbSize"] // call.dim
        return CoreShare(role, cores, lines, "lines", (Loop.over("lines", lines, min(lines, step)), *inner))

    used, data, last = fields["coreUsed"], fields["coreData"], fields["coreLast"]
    if data == last:
        return (share("front", used, data),)
    ends = (share("last", 1, last),)
    return (share("front", used - 1, data), *ends) if used > 1 else ends


def _buffers(call: HalfGradCall, elements: int, item_bytes: int) -> tuple[UbBuffer, ...]:
    """All single: this kernel does not double-buffer."""
    queues = ["inGrad", "inCos", "inSin", "outXGrad"]
    temporaries = ["A", "B", "C"]
    if call.with_x:
        queues += ["inX", "outCosGrad", "outSinGrad"]
        temporaries += ["accCos", "accSin"]
    if call.itemsize == 2:
        temporaries += CASTS
    return (
        *(UbBuffer(name, elements * call.itemsize) for name in queues),
        *(UbBuffer(name, elements * 4) for name in temporaries),
    )
