"""Host tiling of rotary_position_embedding_grad on the 950 (arch 3510).

dx comes first, by the forward operator's templates and with its budgets. With x, a second pass writes rot(x) to the
workspace, its lines dealt out evenly, and then CANN's reduce library sums dy * x and dy * rot(x) to dcos and dsin
(where cos has a row for every line there is nothing to sum, and a pass of the operator's own does it).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from ascend_sim.host.tiling import Tiling, TilingContext, ceil_div

from ..rotary_position_embedding.checks_arch35 import RopeCall, call_of, check_inputs
from ..shared import reduce_key as reduce
from ..shared.checks_arch35 import check_platform
from ..shared.cuts_arch35 import COS_TEXT, Plan
from ..shared.rope_layout import RopeDims
from ..shared.rotations import INTERLEAVE_HALF
from ..shared.templates_arch35 import MODE_PARTS, plan
from .struct_arch35 import ROTARY_X_PARAMS, answer, params_of

BUFFERS = ("inQueDy", "inQueCos", "inQueSin", "outQueDx")
DOUBLE_BUFFER = 2
ROTARY_X_QUEUES = 3  # x, x as the result has it, rot(x)


def tiling(context: TilingContext) -> Tiling:
    """The 950's host code: checks, then the template that the shape of cos asks for."""
    call = check(context)
    cut = plan(context, call.rows())
    return tiling_of(context, call, cut, fields_of(context, call, cut, {}))


def check(context: TilingContext) -> RopeCall:
    """The call, in which an empty dy counts as if it had one of what it has none of: that is how it is cut, and the
    kernels only write zeros to dcos and dsin."""
    check_inputs(context, ("dy", "cos", "sin", *(("x",) if "x" in context.inputs else ())))
    check_platform(context)
    call = call_of(context, "dy")
    dims = call.dims
    filled = RopeDims(dims.layout, max(dims.b, 1), dims.cos_b, max(dims.s, 1), max(dims.n, 1))
    return replace(call, dims=filled, dim=call.dim or MODE_PARTS[call.mode])


def fields_of(context: TilingContext, call: RopeCall, cut: Plan, given: Mapping[str, int]) -> dict[str, int]:
    """What the structs of the template and of the pass that rotates x say, and the flags. `given` may say how many
    lines a core and a step of that pass take, and without x anything about it."""
    view, rows = cut.view, call.rows()
    found = {"b": view.b, "s": view.s, "d": call.dim, "n": view.n, "usedCoreNum": cut.cores, "rotaryMode": call.mode}
    if cut.template == "AB":
        found |= {"dAlign": rows.nbytes // rows.itemsize, "dSplitCoef": rows.parts}
    found = {f"{params_of(cut.template)}.{name}": value for name, value in (found | cut.fields).items()}
    rotary_x = {f"{ROTARY_X_PARAMS}.{name}": value for name, value in _rotary_x(context, call, cut, given).items()}
    found |= rotary_x if "x" in context.inputs else {name: given.get(name, value) for name, value in rotary_x.items()}
    return found | {
        "dCosFlag": int("x" in context.inputs),
        "isEmptyDy": int(context.inputs["dy"].size == 0),
        "cosShapeSize": context.inputs["cos"].size,
    }


def tiling_of(context: TilingContext, call: RopeCall, cut: Plan, fields: Mapping[str, int]) -> Tiling:
    """A tiling of these fields, whose template cuts the lines as `cut` says."""
    empty, with_x = context.inputs["dy"].size == 0, "x" in context.inputs
    shared = COS_TEXT[cut.template].format("dy")
    meaning = f"template {cut.template}, {call.dtype}, {call.mode_name}: {shared}"
    row = call.rows().nbytes
    return answer(
        context,
        template=cut.template,
        meaning=meaning + (", with dcos and dsin" if with_x else "") + (", dy is empty" if empty else ""),
        reduce_key=reduce.of_runs(_runs(context)),
        fields=fields,
        block_dim=cut.cores,
        workspace_bytes=(2 if call.mode == INTERLEAVE_HALF else 1) * lines_of(call) * call.dim * call.itemsize,
        shares=() if empty else cut.shares,
        buffers=() if empty else cut.buffers(row, row, BUFFERS),
    )


def lines_of(call: RopeCall) -> int:
    return call.dims.b * call.dims.s * call.dims.n


def _runs(context: TilingContext) -> int:
    dy, cos = context.shape("dy"), context.shape("cos")
    return reduce.runs(tuple(max(dim, 1) for dim in dy), cos)


def _rotary_x(context: TilingContext, call: RopeCall, cut: Plan, given: Mapping[str, int]) -> dict[str, int]:
    """The pass that rotates x: all lines are one axis. The host code fills it in without x as well."""
    view = cut.view
    lines = lines_of(call)
    factor = max(1, given.get(f"{ROTARY_X_PARAMS}.blockFactorN", ceil_div(lines, cut.cores)))
    cores = ceil_div(lines, factor)
    most = context.ub_bytes // (DOUBLE_BUFFER * call.rows().nbytes) // ROTARY_X_QUEUES
    dims = {name: given.get(f"{ROTARY_X_PARAMS}.{name}", 0) for name in ("b", "s", "n")}
    if prod(dims.values()) != lines:  # the pass wants to know no more than how many there are
        heads = lines // max(1, view.b * view.s) if cut.template == "AB" else view.n  # AB's own may be merged with b
        dims = {"b": view.b, "s": view.s, "n": heads}
    return {
        **dims,
        "d": call.dim,
        "usedCoreNum": cores,
        "blockFactorN": factor,
        "blockTailFactorN": lines - (cores - 1) * factor,
        "ubFactorN": given.get(f"{ROTARY_X_PARAMS}.ubFactorN", min(factor, most)),
        "rotaryMode": call.mode,
    }
