"""Host tiling of rotary_position_embedding_grad on the 950 (arch 3510).

dx comes first, by the forward operator's templates and with its budgets. With x, a second pass writes rot(x) to the
workspace, its lines dealt out evenly, and then CANN's reduce library sums dy * x and dy * rot(x) to dcos and dsin
(where cos has a row for every line there is nothing to sum, and a pass of the operator's own does it).
"""

from __future__ import annotations

from dataclasses import replace

from ascend_sim.host.tiling import Tiling, TilingContext, ceil_div

from ..rotary_position_embedding.checks_arch35 import RopeCall, call_of, check_inputs
from ..shared import reduce_key as reduce
from ..shared.checks_arch35 import check_platform
from ..shared.rope_layout import RopeDims
from ..shared.rotations import INTERLEAVE_HALF
from ..shared.templates_arch35 import COS_TEXT, MODE_PARTS, Plan, plan
from .struct_arch35 import answer

BUFFERS = ("inQueDy", "inQueCos", "inQueSin", "outQueDx")
DOUBLE_BUFFER = 2
ROTARY_X_QUEUES = 3  # x, x as the result has it, rot(x)


def tiling(context: TilingContext) -> Tiling:
    """The 950's host code: checks, then the template that the shape of cos asks for."""
    names = ("dy", "cos", "sin", *(("x",) if "x" in context.inputs else ()))
    check_inputs(context, names)
    check_platform(context)
    given = call_of(context, "dy")
    call = _filled(given)
    empty = context.inputs["dy"].size == 0
    cut = plan(context, call.rows())
    dims = cut.dims
    fields = {"b": dims.b, "s": dims.s, "d": call.dim, "n": dims.n, "usedCoreNum": cut.cores, "rotaryMode": call.mode}
    flag = int("x" in names)
    shared = COS_TEXT[cut.template].format("dy")
    meaning = f"template {cut.template}, {call.dtype}, {call.mode_name}: {shared}"
    lines = call.dims.b * call.dims.s * call.dims.n
    return answer(
        context,
        template=cut.template,
        meaning=meaning + (", with dcos and dsin" if flag else "") + (", dy is empty" if empty else ""),
        reduce_key=reduce.of_runs(_runs(context)),
        fields=fields | cut.fields,
        rotary_x=_rotary_x(context, call, cut),
        flag=flag,
        empty=int(empty),
        workspace_bytes=(2 if call.mode == INTERLEAVE_HALF else 1) * lines * call.dim * call.itemsize,
        shares=() if empty else cut.shares,
        buffers=() if empty else cut.buffers(call.rows().nbytes, BUFFERS),
    )


def _filled(call: RopeCall) -> RopeCall:
    """An empty dy is cut as if it had one of what it has none of; the kernels only write zeros to dcos and dsin."""
    dims = call.dims
    filled = RopeDims(dims.layout, max(dims.b, 1), dims.cos_b, max(dims.s, 1), max(dims.n, 1))
    return replace(call, dims=filled, dim=call.dim or MODE_PARTS[call.mode])


def _runs(context: TilingContext) -> int:
    dy, cos = context.shape("dy"), context.shape("cos")
    return reduce.runs(tuple(max(dim, 1) for dim in dy), cos)


def _rotary_x(context: TilingContext, call: RopeCall, cut: Plan) -> dict[str, int]:
    """The pass that rotates x: all lines are one axis. The host code fills it in without x as well."""
    dims = replace(cut.dims, n=call.dims.n) if cut.template == "AB" else cut.dims  # AB's own may be merged with b
    lines = dims.b * dims.s * dims.n
    factor = ceil_div(lines, cut.cores)
    cores = ceil_div(lines, factor)
    return {
        "b": dims.b,
        "s": dims.s,
        "d": call.dim,
        "n": dims.n,
        "usedCoreNum": cores,
        "blockFactorN": factor,
        "blockTailFactorN": lines - (cores - 1) * factor,
        "ubFactorN": min(factor, context.ub_bytes // (DOUBLE_BUFFER * call.rows().nbytes) // ROTARY_X_QUEUES),
        "rotaryMode": call.mode,
    }
