"""Host tiling of rotary_position_embedding on the 950 (arch 3510).

Templates are named by how cos varies along B, S and N of the layout that its shape gives: A is a dim that cos has, B
one that it broadcasts over. Every line (one head at one position) lies in UB as a row whose parts (2 in the modes half
and interleave-half, 4 in quarter) are padded to whole blocks each.
"""

from __future__ import annotations

from collections.abc import Mapping

from ascend_sim.host.tiling import Tiling, TilingContext

from ..shared.cuts_arch35 import COS_TEXT, Plan
from ..shared.structs import answer
from ..shared.templates_arch35 import plan
from .checks_arch35 import RopeCall, check
from .struct_arch35 import struct_of

KEYS = {"ABA": 20010, "BA": 20011, "BAB": 20020, "AB": 20030, "A": 20040, "B": 20041}
BUFFERS = ("inQueX", "inQueCos", "inQueSin", "outQueY")


def tiling(context: TilingContext) -> Tiling:
    """The 950's host code: checks, then the template that the shape of cos asks for."""
    call = check(context)
    cut = plan(context, call.rows())
    return tiling_of(context, call, cut, fields_of(call, cut))


def fields_of(call: RopeCall, cut: Plan) -> dict[str, int]:
    """What the struct of the template says."""
    view = cut.view
    found = {"B": view.b, "CosB": view.cos_b, "S": view.s, "N": view.n, **same_in_all(call)}
    return found | (in_ab(call) if cut.template == "AB" else {}) | cut.fields


def same_in_all(call: RopeCall) -> dict[str, int]:
    """The fields that the call alone decides."""
    return {"D": call.dim, "rotaryMode": call.mode}


def in_ab(call: RopeCall) -> dict[str, int]:
    """More of them, which template AB has."""
    rows = call.rows()
    return {"dAlign": rows.nbytes // rows.itemsize, "dSplitCoef": rows.parts}


def tiling_of(context: TilingContext, call: RopeCall, cut: Plan, fields: Mapping[str, int]) -> Tiling:
    """A tiling of these fields, whose template cuts the lines as `cut` says."""
    row = call.rows().nbytes
    return answer(
        context,
        struct_of(cut.template),
        key=KEYS[cut.template],
        meaning=f"template {cut.template}, {call.dtype}, {call.mode_name}: {COS_TEXT[cut.template].format('x')}",
        block_dim=cut.cores,
        fields=fields,
        path=cut.template,
        shares=cut.shares,
        buffers=cut.buffers(row, row, BUFFERS),
    )
