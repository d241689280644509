"""How the 950's templates cut query and key: the fields of the tiling that follow from the steps.

Host code and tiling space choose the numbers; fields, shares and buffers are the same formulas for both. Heads, cos,
sin and results are double-buffered.
"""

from __future__ import annotations

from collections.abc import Mapping

from ascend_sim.host.tiling import CoreShare, Loop, Tiling, TilingContext, UbBuffer

from ..shared.pairs_arch35 import View
from ..shared.splits_arch35 import Axis, row_bytes, shares
from .checks_arch35 import BNSD, BSND, MODE_CODES, RopeCall
from .struct import STRUCT_ARCH35, STRUCT_ARCH35_AB, answer

KEYS = {"ABA": 20010, "BA": 20011, "BAB": 20020, "AB": 20030}
COS_TEXT = {
    "AB": "one cos row per position, for all its heads",
    "ABA": "one cos row per batch and position, for all heads",
    "BA": "one cos row per position, for all batches and heads",
    "BAB": "one cos row per position, for all batches and their heads",
}
GRID = ("blockNumB", "blockFactorB", "blockNumS", "blockFactorS")
CUTS = {
    "AB": ("blockNumBS", "blockFactorBS", "blockTailBS", "ubFactorBS", "ubFactorN"),
    "ABA": (*GRID, "ubFactorS", "ubFactorB", "ubFactorQN", "ubFactorKN"),
    "BA": (*GRID, "ubFactorS", "ubFactorB", "ubFactorQN", "ubFactorKN"),
    "BAB": (*GRID, "ubFactorS", "ubFactorQN", "ubFactorKN"),
}
"""The fields that cut the work, all of them at least 1; the others follow from the call and them."""

Fields = dict[str, int]


def view_of(call: RopeCall) -> View:
    """The template that the layout and the batches of cos ask for. Where all batches of SBND have the same cos rows
    their heads count together."""
    if call.layout == BNSD:
        return View("BA" if call.cos_b == 1 else "ABA", call.b, call.s, call.q_heads, call.k_heads)
    if call.layout == BSND and call.cos_b != call.b:
        return View("BAB", call.b, call.s, call.q_heads, call.k_heads)
    if call.layout != BSND and call.cos_b == 1:
        return View("AB", 1, call.s, call.b * call.q_heads, call.b * call.k_heads)
    return View("AB", 1, call.b * call.s, call.q_heads, call.k_heads)


def tiling_of(context: TilingContext, call: RopeCall, view: View, cuts: Mapping[str, int]) -> Tiling:
    """The template's tiling with these cuts."""
    return tiling_of_fields(context, call, view, fields_of(call, view, cuts))


def fields_of(call: RopeCall, view: View, cuts: Mapping[str, int]) -> Fields:
    """All fields of the template's struct that are not 0."""
    found = {
        "B": view.b,
        "S": view.s,
        "D": call.dim,
        "QN": view.q_heads,
        "KN": view.k_heads,
        "rotaryMode": MODE_CODES[call.mode],
        "realDim": call.real_dim,
        "isPartialRope": int(call.real_dim != call.dim),
        **{name: cuts[name] for name in CUTS[view.template]},
    }
    match view.template:
        case "AB":
            loop = Loop.over("heads", view.heads, cuts["ubFactorN"])
            row = row_bytes(call.real_dim, call.itemsize, call.parts)
            found |= {"B": call.b, "S": call.s, "CosB": call.cos_b}
            found |= {"dAlign": row // call.itemsize, "dSplitCoef": call.parts}
            found |= {"ubLoopN": loop.loops, "ubTailN": loop.last}
        case "BAB":
            query = Loop.over("heads", view.q_heads, cuts["ubFactorQN"])
            key = Loop.over("heads", view.k_heads, cuts["ubFactorKN"])
            found |= {"ubFactorB": 1, "ubLoopNumQN": query.loops, "ubTailFactorQN": query.last}
            found |= {"ubLoopNumKN": key.loops, "ubTailFactorKN": key.last}
        case _:
            found["CosB"] = 1 if view.template == "BA" else view.b
    return found


def tiling_of_fields(context: TilingContext, call: RopeCall, view: View, fields: Mapping[str, int]) -> Tiling:
    """A tiling from all fields of the struct, which may be anybody's; those that cut the work are positive."""
    template = view.template
    part = "" if call.real_dim == call.dim else f", the first {call.real_dim} of {call.dim} elements"
    lines, cos_rows = _tile(template, fields)
    row = row_bytes(call.real_dim, call.itemsize, call.parts)
    return answer(
        context,
        key=KEYS[template],
        meaning=f"template {template}, {call.dtype}, {call.mode}: {COS_TEXT[template]}{part}",
        block_dim=blocks(template, fields),
        struct=struct_of(template),
        fields=fields,
        path=template,
        shares=_shares(view, fields),
        buffers=_buffers(row, lines, cos_rows),
        not_runnable=call.not_runnable,
    )


def struct_of(template: str) -> tuple[str, ...]:
    return STRUCT_ARCH35_AB if template == "AB" else STRUCT_ARCH35


def blocks(template: str, fields: Mapping[str, int]) -> int:
    return fields["blockNumBS"] if template == "AB" else fields["blockNumB"] * fields["blockNumS"]


def _tile(template: str, fields: Mapping[str, int]) -> tuple[int, int]:
    """Lines and cos rows that the buffers hold."""
    if template == "AB":
        return fields["ubFactorBS"] * fields["ubFactorN"], fields["ubFactorBS"]
    heads, positions = max(fields["ubFactorQN"], fields["ubFactorKN"]), fields["ubFactorS"]
    if template == "BAB":
        return positions * heads, positions
    return fields["ubFactorB"] * positions * heads, positions * (1 if template == "BA" else fields["ubFactorB"])


def _buffers(row: int, lines: int, cos_rows: int) -> tuple[UbBuffer, ...]:
    return (
        UbBuffer("inQueQK", lines * row, 2),
        UbBuffer("inQueCos", cos_rows * row, 2),
        UbBuffer("inQueSin", cos_rows * row, 2),
        UbBuffer("outQueQK", lines * row, 2),
    )


def _shares(view: View, fields: Mapping[str, int]) -> tuple[CoreShare, ...]:
    if view.template == "AB":

        def of_positions(positions: int, _: int) -> tuple[Loop, ...]:
            by_heads = Loop.over("heads", view.heads, fields["ubFactorN"])
            return Loop.over("positions", positions, fields["ubFactorBS"]), by_heads

        return shares(Axis("S", view.s, fields["blockFactorBS"]), Axis("N", 1, 1), view.heads, of_positions)

    def loops(batches: int, positions: int) -> tuple[Loop, ...]:
        by_positions = Loop.over("positions", positions, fields["ubFactorS"])
        if view.template == "BAB":
            return Loop.over("batches", batches, 1), by_positions
        return by_positions, Loop.over("batches", batches, fields["ubFactorB"])

    axes = Axis("B", view.b, fields["blockFactorB"]), Axis("S", view.s, fields["blockFactorS"])
    return shares(*axes, view.heads, loops)
