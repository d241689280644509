"""The tilings that the kernels of apply_rotary_pos_emb_grad take.

A template can turn a call that the host code gives to another one: it is enough that it finds every head of query and
key and its cos row where they are. AB and BAB with one batch read the same; heads that have a cos row each are
positions with one head.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

from ascend_sim.errors import InputError
from ascend_sim.host.space import Piece, Space, Steps, distinct, number, step_sizes, words_as_fields
from ascend_sim.host.tiling import Tiling, TilingContext, align_up, ceil_div

from ..shared.limits import MOST_COPIED_BLOCKS
from ..shared.pairs_arch35 import View
from ..shared.plans_arch35 import STEP_SIZES, Room, by_turns, on_grids, positions_by_heads, whole_or_part
from ..shared.space_arch35 import piece, share
from ..shared.spaces import unfit
from ..shared.splits_arch35 import UB_BLOCK_BYTES, GridBS
from .checks import RopeCall, check
from .cuts_arch35 import (
    COS_TEXT,
    CUTS,
    FP32_BYTES,
    Fields,
    blocks,
    cuts_of,
    fields_of,
    partial_row,
    phase_bytes,
    struct_of,
    tiling_of,
    tiling_of_fields,
    view_of,
)
from .struct import NAMES, PARAMS_AB_NAME, WORDS
from .tiling import copied_lines, tiling


def axes(context: TilingContext) -> dict[str, int]:
    """The runs of the call; query's and key's head of the same number are one."""
    own = view_of(check(context))
    names = {"R": "batches", "A": "lines" if own.template == "A" else "positions", "H": "heads"}
    return {names[kind]: max(of_query, of_key) for kind, of_query, of_key in own.runs}


def candidates(context: TilingContext, limit: int) -> Iterator[Tiling]:
    """The host's choice, then the templates by turns: grids by steps, those that deal out most evenly first."""
    own, call = tiling(context), check(context)
    turns = [partial(_cuts, context, call, view) for view in views(call)]
    made = (tiling_of(context, call, view, cut) for view, cut in by_turns(turns, limit))
    legal = (one for one in made if one.ub_used_bytes <= context.ub_bytes and not problems(one, context))
    yield from islice(distinct(own, legal), limit + 1)


def views(call: RopeCall) -> list[View]:
    """Every template that finds the heads and cos rows where this call has them; the host's own first."""
    own = view_of(call)
    found = [own]
    kinds = [kind for kind, _, _ in own.runs]
    if kinds in (["A", "H"], ["H"]):
        positions = own.runs[0][1] if kinds[0] == "A" else 1
        _, q, k = own.runs[-1]
        found += [View("AB", 1, positions, q, k), View("BAB", 1, positions, q, k)]
        if q == k == 1:
            found.append(View("A", 1, positions, 1, 1))
    return [view for view in dict.fromkeys(found) if _finds(view, call)]


def _finds(view: View, call: RopeCall) -> bool:
    """Whether a view finds the heads and cos rows where they are. Batches that count as heads also change which heads
    of query and key have the same number, and so the order in which their products are summed."""
    own = view_of(call)
    return view.runs == own.runs and (view.b == own.b or call.q_heads == call.k_heads or not call.flag)


def _cuts(context: TilingContext, call: RopeCall, view: View, count: int) -> list[tuple[View, Fields]]:
    """About `count` ways to cut its work."""
    first, second = {"A": (view.s, 1), "AB": (view.s, view.most_heads)}.get(view.template, (view.b, view.s))
    on_grid = partial(_on_grid, context, call, view)
    return [(view, cut) for cut in on_grids(first, second, context.cores, on_grid, count)]


def _on_grid(context: TilingContext, call: RopeCall, view: View, factors: tuple[int, int]) -> Iterator[Fields]:
    first, second = factors
    if view.template == "A":
        most = min(context.ub_bytes // max(sum(phase.values()) for phase in phase_bytes(call)), copied_lines(call))
        for size in step_sizes(first, most, STEP_SIZES):
            yield {"blockNumB": ceil_div(view.s, first), "blockFactorB": first, "ubFactorS": size}
        return
    # a head of both in and out, and, with grad_cos and grad_sin, its forward values and sums, beside cos and sin
    head = 3 * call.row + partial_row(call) if call.flag else 2 * call.row
    room, heads = Room(context.ub_bytes, head, call.row), view.most_heads
    if view.template == "AB":
        grid = positions_by_heads(view.s, heads, first, second).fields()
        for positions, step in whole_or_part(room, first, second, heads):
            yield grid | {"ubFactorBS": positions, "ubFactorN": step}
        return
    grid = GridBS(ceil_div(view.b, first), first, ceil_div(view.s, second), second).fields()
    for positions, step in whole_or_part(room, second, heads, heads):
        yield grid | {"ubFactorS": positions, "ubFactorN": step}


# --- what a tiling says ----------------------------------------------------------------------------------------------


def coverage(tiling: Tiling, context: TilingContext) -> Iterator[Piece]:
    """As the kernels read the fields."""
    cuts = cuts_of(tiling.path, _numbers(tiling.data))
    view = _view(tiling.path, _numbers(tiling.data))
    if not _finds(view, check(context)):
        return
    for block in range(tiling.block_dim):
        by_kind = _walk(view, cuts, block)
        yield Piece(block, tuple(by_kind[kind] for kind, _, _ in view.runs))


def _walk(view: View, cuts: Mapping[str, int], block: int) -> dict[str, Steps]:
    """The steps of a block along the axes of the view, by the kind of their run."""
    if view.template == "A":
        lines = share(block, cuts["blockFactorB"], view.s, cuts["ubFactorS"])
        return {"A": lines, "H": Steps(0, 1, 1, 1)}
    if view.template == "AB":
        at_bs, at_n = divmod(block, cuts["blockNumN"])
        return {"A": piece(at_bs, "BS", cuts), "H": piece(at_n, "N", cuts)}
    at_s, at_b = divmod(block, cuts["blockNumB"])
    batches = share(at_b, cuts["blockFactorB"], view.b, 1)
    positions = share(at_s, cuts["blockFactorS"], view.s, cuts["ubFactorS"])
    heads = Steps.over(0, view.most_heads, cuts["ubFactorN"])
    if view.s == 1 and view.b > 1:
        heads = Steps.over(batches.start * view.most_heads, batches.total * view.most_heads, view.most_heads)
    return {"R": batches, "A": positions, "H": heads}


def choices(tiling: Tiling) -> dict[str, int | str]:
    template, data = tiling.path, _numbers(tiling.data)
    cuts = cuts_of(template, data)
    if template == "A":
        return {"template": template, "grid": f"{cuts['blockNumB']} x 1", "lines per loop": cuts["ubFactorS"]}
    if template == "AB":
        grid, positions = f"{cuts['blockNumBS']} x {cuts['blockNumN']}", cuts["ubFactorBS"]
    else:
        grid, positions = f"{cuts['blockNumB']} x {cuts['blockNumS']}", cuts["ubFactorS"]
    return {
        "template": template,
        "grid": grid,
        "positions per loop": positions,
        "heads per loop": cuts["ubFactorN"],
    }


def _numbers(given: Mapping[str, int | str]) -> Fields:
    """The fields of the structs."""
    return {name: number(given, name) for name in NAMES}


def _view(template: str, data: Mapping[str, int]) -> View:
    """How the kernel of a template takes query and key; AB's positions are those of its blocks."""
    read = {name: data[f"{struct_of(template)}.{name}"] for name in ("b", "s", "nQ", "nK")}
    if template == "A":
        return View("A", 1, read["b"], 1, 1)
    if template == "AB":
        cuts = cuts_of("AB", data)
        positions = (cuts["blockNumBS"] - 1) * cuts["blockFactorBS"] + cuts["blockTailBS"]
        return View("AB", 1, positions, read["nQ"], read["nK"])
    return View("BAB", read["b"], read["s"], read["nQ"], read["nK"])


# --- what is wrong with one ------------------------------------------------------------------------------------------


def problems(tiling: Tiling, context: TilingContext) -> list[str]:
    """Fields that do not fit the call or each other, and limits of instructions."""
    call, data = check(context), _numbers(tiling.data)
    view, cuts = _view(tiling.path, data), cuts_of(tiling.path, data)
    found = list(_misread(view, call))
    if not found:
        wanted = fields_of(call, view, cuts)
        found = unfit(data, {name: wanted.get(name, 0) for name in data})
    if blocks(tiling.path, cuts) != tiling.block_dim:
        found.append(f"the fields are for {blocks(tiling.path, cuts)} blocks, the block dim is {tiling.block_dim}")
    if call.flag and tiling.block_dim > context.cores:
        found.append(f"{tiling.block_dim} blocks have to meet before the sums, there are {context.cores} cores")
    return found or [*_apart(view, cuts), *_limits(view, call, cuts), *_overruns(view, call, cuts, context.ub_bytes)]


def _misread(view: View, call: RopeCall) -> Iterator[str]:
    """Why a view does not find heads and cos rows where they are, if it does not."""
    if _finds(view, call):
        return
    able = [one for one in views(call) if one.template == view.template]
    if not able:
        capable = ", ".join(sorted({one.template for one in views(call)}))
        yield f"template {view.template} takes {COS_TEXT[view.template]}; that of this call is another: {capable}"
        return
    given = _sizes(view)
    right = max(map(_sizes, able), key=lambda one: sum(one[name] == given[name] for name in one))
    yield from unfit(given, right)


def _sizes(view: View) -> Fields:
    """By the names of the fields that say them."""
    struct = struct_of(view.template)
    if view.template == "A":
        return {f"{struct}.b": view.s}
    heads = {f"{struct}.nQ": view.q_heads, f"{struct}.nK": view.k_heads}
    if view.template == "AB":
        return heads | {"positions of all blocks": view.s}
    return heads | {f"{struct}.b": view.b, f"{struct}.s": view.s}


def _positions(view: View, cuts: Mapping[str, int]) -> int:
    """Of the largest step; lines of template A."""
    if view.template == "AB":
        return min(cuts["ubFactorBS"], max(cuts["blockFactorBS"], cuts["blockTailBS"]))
    return min(cuts["ubFactorS"], cuts["blockFactorB" if view.template == "A" else "blockFactorS"])


def _apart(view: View, cuts: Mapping[str, int]) -> Iterator[str]:
    """Steps whose heads are not neighbours, in memory or, as sums, in UB."""
    if view.template == "A":
        return
    of_block = max(cuts["blockFactorN"], cuts["blockTailN"]) if view.template == "AB" else view.most_heads
    step = cuts["ubFactorN"]
    if step > of_block:
        yield f"ubFactorN is {step}, a block has {of_block} heads"
    elif _positions(view, cuts) > 1 and step < view.most_heads:
        yield f"a step of several positions has to take all {view.most_heads} heads of each, it takes {step}"


def _limits(view: View, call: RopeCall, cuts: Mapping[str, int]) -> Iterator[str]:
    lines, most = _positions(view, cuts), MOST_COPIED_BLOCKS // 2
    if view.template == "A":
        most = most if call.flag else copied_lines(call)  # rotated query and key are copied in halves
    else:
        lines *= cuts["ubFactorN"]
    if lines > most:
        yield f"a step of {lines} lines is more than the {most} that one DataCopyPad moves"


def _overruns(view: View, call: RopeCall, cuts: Mapping[str, int], ub_bytes: int) -> Iterator[str]:
    """Template A: products lie in whole UB blocks, which the host code does not count."""
    if view.template != "A" or not call.flag:
        return
    elements = cuts["ubFactorS"] * call.dim
    wide = align_up(elements * FP32_BYTES, UB_BLOCK_BYTES)
    value = wide if call.itemsize == FP32_BYTES else wide + align_up(elements * call.itemsize, UB_BLOCK_BYTES)
    used = 12 * value + 5 * wide
    if used > ub_bytes:
        yield f"its buffers in whole UB blocks take {used:,} B of unified buffer, {ub_bytes:,} B are there"


# --- tilings from elsewhere ------------------------------------------------------------------------------------------


def fields(words: Sequence[int], _: TilingContext) -> Fields:
    return words_as_fields(words, WORDS)


def rebuild(context: TilingContext, given: Mapping[str, int | str]) -> Tiling:
    call, data = check(context), _numbers(given)
    template = _template(given, data, view_of(call))
    for name, value in cuts_of(template, data).items():
        if value < 1:
            raise InputError(f"{struct_of(template)}.{name} is {value}, template {template} needs at least 1")
    found = tiling_of_fields(context, call, _view(template, data), data)
    return replace(found, block_dim=number(given, "block_dim", found.block_dim))


def _template(given: Mapping[str, int | str], data: Mapping[str, int], own: View) -> str:
    """The one that is named, or the one whose fields are filled."""
    path = str(given.get("path", ""))
    if path in CUTS:
        return path
    if data[f"{PARAMS_AB_NAME}.blockNumBS"] > 0:
        return "AB"
    whole = own.template == "A" and (data["ropeGradParams.b"], data["ropeGradParams.s"]) == (own.s, 1)
    return "A" if whole else "BAB"


SPACE = Space(axes, candidates, coverage, choices, fields, rebuild, problems)
