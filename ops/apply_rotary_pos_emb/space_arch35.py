"""The tilings that the 950's kernels of apply_rotary_pos_emb take.

A template can turn a call that the host code gives to another one: it is enough that it finds every head of query and
key and its cos row where they are. One cos row per position, for all its heads, is AB's case, but BAB with one batch
and ABA with one position a batch read the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from math import gcd

from ascend_sim.errors import InputError
from ascend_sim.host.space import Piece, Space, Steps, distinct, number, step_sizes, words_as_fields
from ascend_sim.host.tiling import Tiling, TilingContext, ceil_div

from ..shared.limits import MOST_COPIED_BLOCKS
from ..shared.pairs_arch35 import View
from ..shared.plans_arch35 import STEP_SIZES, Room, by_turns, on_grids, tiles_of, whole_or_part
from ..shared.space_arch35 import share
from ..shared.spaces import unfit
from ..shared.splits_arch35 import GridBS, row_bytes
from .checks_arch35 import RopeCall, check
from .cuts_arch35 import COS_TEXT, CUTS, Fields, blocks, fields_of, struct_of, tiling_of, tiling_of_fields, view_of
from .struct import STRUCT_ARCH35, STRUCT_ARCH35_AB
from .tiling_arch35 import tiling


def axes(context: TilingContext) -> dict[str, int]:
    """The runs of the call, heads of query and key as one axis."""
    found: dict[str, int] = {}
    for kind, of_query, of_key in reversed(view_of(check(context)).runs):
        if kind == "H":
            found["heads"] = of_query + of_key
        else:
            found["positions" if kind == "A" and "positions" not in found else "batches"] = of_query
    return dict(reversed(found.items()))


def candidates(context: TilingContext, limit: int) -> Iterator[Tiling]:
    """The host's choice, then the templates by turns: grids by steps, those that deal out most evenly first."""
    own, call = tiling(context), check(context)
    row = row_bytes(call.real_dim, call.itemsize, call.parts)
    turns = [partial(_cuts, view, Room(context.ub_bytes, row, row), context.cores) for view in views(call)]
    made = (tiling_of(context, call, view, cut) for view, cut in by_turns(turns, limit))
    legal = (one for one in made if one.ub_used_bytes <= context.ub_bytes and not problems(one, context))
    yield from islice(distinct(own, legal), limit + 1)


def views(call: RopeCall) -> list[View]:
    """Every template that finds the heads and cos rows where this call has them; the host's own first."""
    own = view_of(call)
    b, s, q, k = own.b, own.s, own.q_heads, own.k_heads
    found = [own]
    if own.template == "BA":  # heads of the same number of batches, which may be any that both divide into
        each = gcd(q, k)
        found += [View("BA", 1, s, b * q, b * k), View("BA", b * each, s, q // each, k // each)]
    (kind, positions, _), *rest = own.runs
    if kind == "A" and [run[0] for run in rest] == ["H"]:
        _, q, k = rest[0]
        found += [View("AB", 1, positions, q, k), View("BAB", 1, positions, q, k), View("ABA", positions, 1, q, k)]
    return list(dict.fromkeys(found))


def _cuts(view: View, room: Room, cores: int, count: int) -> list[tuple[View, Fields]]:
    """About `count` ways to cut its work."""
    first, second = (view.s, 1) if view.template == "AB" else (view.b, view.s)
    return [(view, cut) for cut in on_grids(first, second, cores, partial(_on_grid, view, room), count)]


def _on_grid(view: View, room: Room, factors: tuple[int, int]) -> Iterator[Fields]:
    first, second = factors
    if view.template == "AB":
        cores = ceil_div(view.s, first)
        shares = {"blockNumBS": cores, "blockFactorBS": first, "blockTailBS": view.s - (cores - 1) * first}
        for positions, heads in _steps_of_list(view, room, first):
            yield shares | {"ubFactorBS": positions, "ubFactorN": heads}
        return
    grid = GridBS(ceil_div(view.b, first), first, ceil_div(view.s, second), second).fields()
    most = view.most_heads
    if view.template == "BAB":
        for positions, heads in whole_or_part(room, second, most, most):
            yield grid | {"ubFactorS": positions, **_heads_of_step(view, heads)}
    else:
        for positions, batches, heads in tiles_of(room, second, first, most, shared=view.template == "BA"):
            yield grid | {"ubFactorS": positions, "ubFactorB": batches, **_heads_of_step(view, heads)}


def _heads_of_step(view: View, heads: int) -> Fields:
    return {"ubFactorQN": min(heads, view.q_heads), "ubFactorKN": min(heads, view.k_heads)}


def _steps_of_list(view: View, room: Room, positions: int) -> Iterator[tuple[int, int]]:
    """(positions, heads) of a step. A step of several positions takes query's heads, then key's, so that the buffers
    need not hold both; a step of one position takes its list in pieces."""
    for heads in dict.fromkeys((view.heads, view.most_heads)):
        for size in step_sizes(positions, room.times(heads), STEP_SIZES):
            if size > 1:
                yield size, heads
    for heads in step_sizes(view.heads, room.lines(1), STEP_SIZES):
        yield 1, heads


# --- what a tiling says ----------------------------------------------------------------------------------------------


def coverage(tiling: Tiling, context: TilingContext) -> Iterator[Piece]:
    """As the kernels read the fields: query's heads, then key's, as one axis of heads."""
    call, data = check(context), _numbers(tiling.path, tiling.data)
    view, own = _view(tiling.path, data), view_of(call)
    if view.runs != own.runs:
        return
    for block in range(tiling.block_dim):
        if view.template == "AB":
            last = block == data["blockNumBS"] - 1
            count = data["blockTailBS"] if last else data["blockFactorBS"]
            positions = Steps.over(block * data["blockFactorBS"], count, data["ubFactorBS"])
            heads = Steps.over(0, view.heads, data["ubFactorN"])
            yield Piece(block, (heads,) if view.s == 1 else (positions, heads))
        else:
            yield from (Piece(block, box) for box in _boxes(view, data, block))


def _boxes(view: View, data: Mapping[str, int], block: int) -> Iterator[tuple[Steps, ...]]:
    """What a block of the grid does of query and of key, along the runs."""
    at_s, at_b = divmod(block, data["blockNumB"])
    batches = share(at_b, data["blockFactorB"], view.b, data.get("ubFactorB", 1))
    positions = share(at_s, data["blockFactorS"], view.s, data["ubFactorS"])
    merged = view.runs[0][0] == "H" and view.b > 1 and view.template != "ABA"
    offset = 0
    for count, step in ((view.q_heads, data["ubFactorQN"]), (view.k_heads, data["ubFactorKN"])):
        all_heads = Steps.over(offset, count, step)
        if merged:
            all_heads = Steps.over(offset + batches.start * count, batches.total * count, count)
        by_kind = {"R": batches, "H": all_heads, "A": batches if view.template == "ABA" else positions}
        box = [by_kind[kind] for kind, _, _ in view.runs]
        if view.template == "ABA" and view.s > 1:
            box[-1] = positions
        yield tuple(box)
        offset += count * (view.b if merged else 1)


def choices(tiling: Tiling) -> dict[str, int | str]:
    template = tiling.path
    data = _numbers(template, tiling.data)
    if template == "AB":
        return {
            "template": template,
            "grid": f"{data['blockNumBS']} x 1",
            "positions per loop": data["ubFactorBS"],
            "heads per loop": data["ubFactorN"],
        }
    return {
        "template": template,
        "grid": f"{data['blockNumB']} x {data['blockNumS']}",
        "positions per loop": data["ubFactorS"],
        "heads per loop": max(data["ubFactorQN"], data["ubFactorKN"]),
        "batches per loop": data["ubFactorB"],
        "batches": data["B"],
    }


def _numbers(template: str, given: Mapping[str, int | str]) -> Fields:
    """The fields of the template's struct."""
    return {name: number(given, name) for name in struct_of(template)}


def _view(template: str, data: Mapping[str, int]) -> View:
    """How the kernel of a template takes query and key; AB's positions are those of its blocks."""
    heads = data["QN"], data["KN"]
    if template == "AB":
        return View("AB", 1, (data["blockNumBS"] - 1) * data["blockFactorBS"] + data["blockTailBS"], *heads)
    return View(template, data["B"], data["S"], *heads)


# --- what is wrong with one ------------------------------------------------------------------------------------------


def problems(tiling: Tiling, context: TilingContext) -> list[str]:
    """Fields that do not fit the call or each other, and limits of instructions."""
    call, data = check(context), _numbers(tiling.path, tiling.data)
    view = _view(tiling.path, data)
    found = list(_misread(view, call))
    if not found:
        wanted = fields_of(call, view, data)
        found = unfit(data, {name: wanted.get(name, 0) for name in data})
    if blocks(tiling.path, data) != tiling.block_dim:
        found.append(f"the fields are for {blocks(tiling.path, data)} blocks, the block dim is {tiling.block_dim}")
    return found or [*_apart(view, data), *_limits(view, call, data)]


def _misread(view: View, call: RopeCall) -> Iterator[str]:
    """Why a view does not find heads and cos rows where they are, if it does not."""
    if view.runs == view_of(call).runs:
        return
    able = [one for one in views(call) if one.template == view.template]
    if not able:
        capable = ", ".join(sorted({one.template for one in views(call)}))
        yield f"template {view.template} takes {COS_TEXT[view.template]}; that of this call is another: {capable}"
        return

    def sizes(one: View) -> dict[str, int]:
        first = {"B": one.b, "S": one.s} if one.template != "AB" else {"positions of all blocks": one.s}
        return {"QN": one.q_heads, "KN": one.k_heads, **first}

    given = sizes(view)
    right = max((sizes(one) for one in able), key=lambda one: sum(one[name] == given[name] for name in one))
    yield from unfit(given, right)


def _apart(view: View, data: Mapping[str, int]) -> Iterator[str]:
    """Steps of several positions, which AB and BAB copy as if their heads were neighbours in memory."""
    if view.template == "AB" and _positions(view, data) > 1 and data["ubFactorN"] < view.most_heads:
        yield (
            f"a step of several positions takes all {view.most_heads} heads of query or key, the buffers hold "
            f"ubFactorN = {data['ubFactorN']}"
        )
    if view.template == "BAB" and _positions(view, data) > 1:
        for name, heads in (("ubFactorQN", view.q_heads), ("ubFactorKN", view.k_heads)):
            if data[name] < heads:
                yield f"{name} is {data[name]}; a step of several positions has to take all {heads} heads"


def _positions(view: View, data: Mapping[str, int]) -> int:
    """Of the largest step."""
    if view.template == "AB":
        return min(data["ubFactorBS"], max(data["blockFactorBS"], data["blockTailBS"]))
    return min(data["ubFactorS"], data["blockFactorS"])


def _limits(view: View, call: RopeCall, data: Mapping[str, int]) -> Iterator[str]:
    rows = lines = _positions(view, data)
    if view.template == "AB":
        lines = rows * view.most_heads if rows > 1 else data["ubFactorN"]
    elif view.template == "BAB":
        lines = rows * max(min(data["ubFactorQN"], view.q_heads), min(data["ubFactorKN"], view.k_heads))
    parts = call.parts if call.real_dim == call.dim else 1  # else a copy moves one part of each line
    most = max(rows * call.parts, lines * parts)
    if most > MOST_COPIED_BLOCKS:
        yield f"a copy of {most} blocks is more than the {MOST_COPIED_BLOCKS} of one DataCopyPad"


# --- tilings from elsewhere ------------------------------------------------------------------------------------------


def fields(words: Sequence[int], context: TilingContext) -> Fields:
    """By the names of template AB's struct, or of that of the others: whichever says what is known of the call."""
    own = tiling(context).data
    known = {name: own[name] for name in ("D", "rotaryMode", "realDim", "isPartialRope")}
    found: list[Fields] = []
    for names in (STRUCT_ARCH35, STRUCT_ARCH35_AB):
        try:
            found.append(words_as_fields(words, names))
        except InputError:
            if names is STRUCT_ARCH35_AB and not found:
                raise
    return max(found, key=lambda one: sum(one[name] == value for name, value in known.items()))


def rebuild(context: TilingContext, given: Mapping[str, int | str]) -> Tiling:
    call, template = check(context), _template(given)
    data = _numbers(template, given)
    for name in CUTS[template]:
        if data[name] < 1:
            raise InputError(f"{name} is {data[name]}, template {template} needs at least 1")
    found = tiling_of_fields(context, call, _view(template, data), data)
    return replace(found, block_dim=number(given, "block_dim", found.block_dim))


def _template(given: Mapping[str, int | str]) -> str:
    """The one that is named, or the one whose fields are filled."""
    path = str(given.get("path", ""))
    if path in CUTS:
        return path
    if number(given, "blockNumBS", 0) > 0:
        return "AB"
    if number(given, "ubLoopNumQN", 0) > 0:
        return "BAB"
    return "BA" if number(given, "CosB", 0) == 1 else "ABA"


SPACE = Space(axes, candidates, coverage, choices, fields, rebuild, problems)
