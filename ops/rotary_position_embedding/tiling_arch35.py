"""Host tiling of rotary_position_embedding on the 950 (arch 3510).

Templates are named by how cos varies along B, S and N of the layout that its shape gives: A is a dim that cos has, B
one that it broadcasts over. Every line (one head at one position) lies in UB as a row whose parts (2 in the modes half
and interleave-half, 4 in quarter) are padded to whole blocks each.
"""

from __future__ import annotations

from ascend_sim.host.tiling import Tiling, TilingContext

from ..shared.structs import answer
from ..shared.templates_arch35 import COS_TEXT, plan
from .checks_arch35 import check
from .struct_arch35 import struct_of

KEYS = {"ABA": 20010, "BA": 20011, "BAB": 20020, "AB": 20030, "A": 20040, "B": 20041}
BUFFERS = ("inQueX", "inQueCos", "inQueSin", "outQueY")


def tiling(context: TilingContext) -> Tiling:
    """The 950's host code: checks, then the template that the shape of cos asks for."""
    call = check(context)
    rows = call.rows()
    cut = plan(context, rows)
    dims = cut.dims
    common = {
        "B": dims.b,
        "CosB": 0 if cut.template == "BAB" else dims.cos_b,  # BAB does not set it
        "S": dims.s,
        "D": call.dim,
        "N": dims.n,
        "rotaryMode": call.mode,
    }
    return answer(
        context,
        struct_of(cut.template),
        key=KEYS[cut.template],
        meaning=f"template {cut.template}, {call.dtype}, {call.mode_name}: {COS_TEXT[cut.template].format('x')}",
        block_dim=cut.cores,
        fields=common | cut.fields,
        path=cut.template,
        shares=cut.shares,
        buffers=cut.buffers(rows.nbytes, BUFFERS),
    )
