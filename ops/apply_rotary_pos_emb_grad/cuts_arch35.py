"""How the templates cut the gradients of query and key: the fields of the tiling that follow from the steps.

Host code and tiling space choose the numbers; fields, shares and buffers are the same formulas for both.
"""

from __future__ import annotations

from collections.abc import Mapping

from ascend_sim.host.tiling import CoreShare, Loop, Tiling, TilingContext, UbBuffer

from ..shared import reduce_key as reduce
from ..shared.pairs_arch35 import View
from ..shared.splits_arch35 import Axis, one_axis_shares, row_bytes, shares
from .checks import Layout, RopeCall
from .struct import PARAMS_AB_NAME, PARAMS_NAME, answer

FP32_BYTES = 4
UNIT = "heads"
COS_TEXT = {
    "A": "a cos row for every head",
    "AB": "one cos row per position, for all its heads",
    "BAB": "one cos row per position, for all batches and their heads",
}
GRID = ("blockNumB", "blockFactorB", "blockNumS", "blockFactorS")
CUTS = {
    "A": ("blockNumB", "blockFactorB", "ubFactorS"),
    "AB": (
        *("blockNumBS", "blockFactorBS", "blockTailBS", "blockNumN", "blockFactorN", "blockTailN"),
        *("ubFactorBS", "ubFactorN"),
    ),
    "BAB": (*GRID, "ubFactorS", "ubFactorN"),
}
"""The fields that cut the work, all of them at least 1; the others follow from the call and them."""

Fields = dict[str, int]


def view_of(call: RopeCall) -> View:
    """The template for what cos shares. Where it is the same for all batches of SBND their heads count together."""
    if call.layout is Layout.BSND:
        return View("BAB", call.b, call.s, call.q_heads, call.k_heads)
    if call.layout is Layout.NO_BROADCAST:
        return View("A", 1, call.b * call.s * call.q_heads, 1, 1)
    if call.cos_b == 1:
        return View("AB", 1, call.s, call.b * call.q_heads, call.b * call.k_heads)
    return View("AB", 1, call.b * call.s, call.q_heads, call.k_heads)


def struct_of(template: str) -> str:
    return PARAMS_AB_NAME if template == "AB" else PARAMS_NAME


def cuts_of(template: str, fields: Mapping[str, int]) -> Fields:
    return {name: fields[f"{struct_of(template)}.{name}"] for name in CUTS[template]}


def blocks(template: str, cuts: Mapping[str, int]) -> int:
    if template == "A":
        return cuts["blockNumB"]
    return cuts["blockNumBS"] * cuts["blockNumN"] if template == "AB" else cuts["blockNumB"] * cuts["blockNumS"]


def tiling_of(context: TilingContext, call: RopeCall, view: View, cuts: Mapping[str, int]) -> Tiling:
    """The template's tiling with these cuts."""
    return tiling_of_fields(context, call, view, fields_of(call, view, cuts))


def fields_of(call: RopeCall, view: View, cuts: Mapping[str, int]) -> Fields:
    """All fields of the structs that are not 0."""
    own = {name: cuts[name] for name in CUTS[view.template]} | {"usedCoreNum": blocks(view.template, cuts)}
    common = {"b": call.b, "s": call.s, "d": call.dim, "nQ": call.q_heads, "nK": call.k_heads}
    params, params_ab = common, Fields()
    match view.template:
        case "AB":
            params_ab = common | {"nQ": view.q_heads, "nK": view.k_heads} | own
            params_ab |= {"dAlign": call.row // call.itemsize, "dSplitCoef": 2}
        case "BAB":
            heads = Loop.over(UNIT, view.most_heads, cuts["ubFactorN"])
            params = common | {"b": view.b, "s": view.s, "nQ": view.q_heads, "nK": view.k_heads} | own
            params |= {"ubLoopNumN": heads.loops, "ubTailFactorN": heads.last}
            params |= {"layout": int(call.layout), "dCosFlag": call.flag}
        case _:
            ones = ("s", "nQ", "nK", "blockNumS", "blockFactorS", "ubLoopNumN", "ubFactorN", "ubTailFactorN")
            params = common | dict.fromkeys(ones, 1) | own | {"b": view.s, "layout": int(call.layout)}
    found = {f"{PARAMS_NAME}.{name}": value for name, value in params.items()}
    found |= {f"{PARAMS_AB_NAME}.{name}": value for name, value in params_ab.items()}
    return found | {"dCosFlag": call.flag, "layout": int(call.layout)}


def tiling_of_fields(context: TilingContext, call: RopeCall, view: View, fields: Mapping[str, int]) -> Tiling:
    """A tiling from all fields of the structs, which may be anybody's; those that cut the work are positive."""
    template, cuts = view.template, cuts_of(view.template, fields)
    sums = bool(call.flag) and template != "A"
    partial_itemsize = FP32_BYTES if sums else call.itemsize
    workspace_rows = call.b * call.s * call.heads
    with_cos = ", with grad_cos and grad_sin" if call.flag else ""
    return answer(
        context,
        template=template,
        meaning=f"template {template}, {call.dtype}: {COS_TEXT[template]}{with_cos}",
        reduce_key=reduce.of_runs(call.runs) if sums else reduce.EMPTY,
        fields=fields,
        flag=call.flag,
        block_dim=blocks(template, cuts),
        workspace_bytes=2 * workspace_rows * call.dim * partial_itemsize,
        shares=_shares(view, cuts),
        buffers=_buffers(call, template, cuts),
    )


def _shares(view: View, cuts: Mapping[str, int]) -> tuple[CoreShare, ...]:
    if view.template == "A":
        return one_axis_shares(view.s, cuts["blockFactorB"], cuts["ubFactorS"], unit=UNIT)
    if view.template == "AB":

        def by_positions(positions: int, heads: int) -> tuple[Loop, ...]:
            return Loop.over("positions", positions, cuts["ubFactorBS"]), Loop.over(UNIT, heads, cuts["ubFactorN"])

        axes = Axis("S", view.s, cuts["blockFactorBS"]), Axis("N", view.most_heads, cuts["blockFactorN"])
        return shares(*axes, 1, by_positions, unit=UNIT)
    heads = Loop.over(UNIT, view.most_heads, cuts["ubFactorN"])

    def by_batches(batches: int, positions: int) -> tuple[Loop, ...]:
        return Loop.over("batches", batches, 1), Loop.over("positions", positions, cuts["ubFactorS"]), heads

    axes = Axis("B", view.b, cuts["blockFactorB"]), Axis("S", view.s, cuts["blockFactorS"])
    return shares(*axes, view.most_heads, by_batches, unit=UNIT)


def _buffers(call: RopeCall, template: str, cuts: Mapping[str, int]) -> tuple[UbBuffer, ...]:
    if template == "A":
        first, last = phase_bytes(call)
        larger, lines = max(first, last, key=lambda phase: sum(phase.values())), cuts["ubFactorS"]
        counts = {name: 1 if name == "tmp" else 2 for name in larger}
        return tuple(UbBuffer(name, lines * larger[name] // count, count) for name, count in counts.items())
    cos_rows = cuts["ubFactorBS" if template == "AB" else "ubFactorS"]
    heads = cos_rows * cuts["ubFactorN"]
    values = ("queryIn", "keyIn") if call.flag else ()
    partials = ("gradCosOut", "gradSinOut") if call.flag else ()
    return (
        *(UbBuffer(name, cos_rows * call.row, 2) for name in ("cosIn", "sinIn")),
        *(UbBuffer(name, heads * call.row, 2) for name in ("gradQIn", "gradKIn", "gradQOut", "gradKOut", *values)),
        *(UbBuffer(name, heads * partial_row(call), 2) for name in partials),
    )


def partial_row(call: RopeCall) -> int:
    """Bytes of a row of float32 sums."""
    return row_bytes(call.dim, FP32_BYTES, 2)


def phase_bytes(call: RopeCall) -> tuple[Fields, Fields]:
    """Template A: bytes per line of every buffer, both halves of double buffers: of the gradients, and of grad_cos and
    grad_sin."""
    first = dict.fromkeys(("cosIn", "sinIn", "gradQIn", "gradKIn", "gradQOut", "gradKOut"), 2 * call.row)
    if not call.flag:
        return first, {}
    wide = call.dim * FP32_BYTES
    value = wide if call.itemsize == FP32_BYTES else call.dim * call.itemsize + wide  # widened in place
    inputs = dict.fromkeys(("gradQIn", "queryIn", "queryRotIn", "gradKIn", "keyIn", "keyRotIn"), 2 * value)
    return first, inputs | dict.fromkeys(("gradCosOut", "gradSinOut"), 2 * wide) | {"tmp": wide}
