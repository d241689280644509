"""The tilings of the operators on the 950 that have the templates A, B, AB, ABA, BA and BAB.

A template can turn a call that the host code gives to another one: it is enough that it finds every line and its cos
row where they are. One cos row per position, for all its heads, is AB's case, but BAB with one batch reads the same,
and so does ABA with one position. Template A never turns a call in which lines share cos rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise

from ascend_sim.errors import InputError
from ascend_sim.host.space import Piece, Space, Steps, distinct, words_as_fields
from ascend_sim.host.tiling import Tiling, TilingContext, ceil_div

from .cuts_arch35 import COS_TEXT, CUTS, GRID, ONE_AXIS, POSITIONS_AND_HEADS, TEMPLATES, Plan, View, from_fields
from .plans_arch35 import Room, plans, views
from .rope_layout import RopeDims, Runs
from .spaces import unfit

AXES = {
    "": ("lines",),
    "A": ("lines",),
    "R": ("lines",),
    "AR": ("positions", "heads"),
    "RA": ("heads", "positions"),
    "ARA": ("batches", "heads", "positions"),
    "RAR": ("batches", "positions", "heads"),
}
"""What the runs of a call are called."""

Fields = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Lines:
    """A call that has something to turn, as its space sees it.

    `x_row` and `cos_row`: bytes of a row in UB. `fields` are those that the kernels read, for a plan, from what
    somebody gives of them where that is a choice; `answer` makes a tiling of a plan and all fields. `only`: beside the
    host's, the templates that do all of the call's work.
    """

    dims: RopeDims
    x_row: int
    cos_row: int
    fields: Callable[[Plan, Fields], dict[str, int]]
    answer: Callable[[Plan, Fields], Tiling]
    only: Sequence[str] = TEMPLATES

    @property
    def own(self) -> View:
        return View.of(self.dims)

    @property
    def views(self) -> list[View]:
        own = self.own
        return [view for view in views(self.dims) if view == own or view.template in self.only]

    @property
    def runs(self) -> Runs:
        return self.own.runs


@dataclass(frozen=True, slots=True)
class Templates:
    """What the spaces differ in.

    `lines`: None where there is nothing to turn, which leaves only what the host says. `name`: what the struct of a
    template calls a field of `cuts_arch35`, or one of b, s, n and cos_b. `sort` puts names to raw words. `others`: the
    choices beside those of the template, as fields that replace a tiling's (True: all, False: few); `more_choices` and
    `more_problems` tell of them.
    """

    host: Callable[[TilingContext], Tiling]
    lines: Callable[[TilingContext], Lines | None]
    name: Callable[[str, str], str]
    sort: Callable[[Sequence[int], TilingContext], Mapping[str, int]]
    word_bytes: Sequence[int] = (8,)
    others: Callable[[TilingContext, Tiling, bool], Sequence[Fields]] = lambda _context, _tiling, _all: ()
    more_choices: Callable[[Tiling], dict[str, int | str]] = lambda _: {}
    more_problems: Callable[[Tiling, TilingContext], list[str]] = lambda _tiling, _context: []

    def space(self) -> Space:
        return Space(
            self.axes,
            self.candidates,
            self.coverage,
            self.choices,
            self.sort,
            self.rebuild,
            self.problems,
            self.word_bytes,
        )

    def axes(self, context: TilingContext) -> dict[str, int]:
        lines = self.lines(context)
        if lines is None:
            return {"lines": 0}
        runs = lines.runs
        return dict(zip(AXES[runs.kinds], runs.sizes or (1,), strict=True))

    def candidates(self, context: TilingContext, limit: int) -> Iterator[Tiling]:
        """The host's choice, then the templates by turns: grids by steps, those that deal out most evenly first."""
        own, lines = self.host(context), self.lines(context)
        if lines is None:
            yield own
            return
        room = Room(context.ub_bytes, lines.x_row, lines.cos_row)
        count = ceil_div(limit, 1 + len(self.others(context, own, False)))
        made = (lines.answer(plan, lines.fields(plan, {})) for plan in plans(lines.views, room, context.cores, count))
        every = (self._changed(context, own, change) for change in self.others(context, own, True))
        each = (
            self._changed(context, tiling, change)
            for tiling in made
            for change in ({}, *self.others(context, tiling, False))
        )
        fitting = (tiling for tiling in chain(every, each) if self._fits(tiling, context))
        yield from islice(distinct(own, fitting), max(1, limit))

    def _changed(self, context: TilingContext, tiling: Tiling, change: Fields) -> Tiling:
        return self.rebuild(context, {**tiling.data, **change}) if change else tiling

    def _fits(self, tiling: Tiling, context: TilingContext) -> bool:
        """Without what the plans see to: grids that cover all lines."""
        return tiling.ub_used_bytes <= tiling.ub_bytes and not self.problems(tiling, context)

    # --- what a tiling says ------------------------------------------------------------------------------------------

    def coverage(self, tiling: Tiling, context: TilingContext) -> Iterator[Piece]:
        """As the kernels read the fields. Axes that are one run of the call are taken together, and a step is all of
        the inner ones."""
        lines = self.lines(context)
        if lines is None:
            return
        view, fields = self._read(tiling.path, tiling.data, lines)
        if view.runs != lines.runs:
            return
        for block in range(tiling.block_dim):
            yield from (Piece(block, axes) for axes in _in_runs(view, _walk(view, fields, block)))

    def choices(self, tiling: Tiling) -> dict[str, int | str]:
        template = tiling.path
        if template not in TEMPLATES:
            return {}
        read = {name: _int(tiling.data.get(self.name(template, name), 0)) for name in (*CUTS[template], "b", "s", "n")}
        found: dict[str, int | str] = {"template": template}
        if template in ONE_AXIS:
            found["lines per loop"] = read["ubFactorB"]
        elif template in POSITIONS_AND_HEADS:
            found["grid"] = f"{read['blockNumBS']} x {read['blockNumN']}"
            found |= {"positions per loop": read["ubFactorBS"], "heads per loop": read["ubFactorN"]}
        else:
            found["grid"] = f"{read['blockNumB']} x {read['blockNumS']}"
            found |= {"positions per loop": read["ubFactorS"], "heads per loop": read["ubFactorN"]}
            found["batches per loop"] = 1 if template == "BAB" else read["ubFactorB"]
            found["batches"] = read["b"]
        return found | self.more_choices(tiling)

    def problems(self, tiling: Tiling, context: TilingContext) -> list[str]:
        """Fields that do not fit the call or each other."""
        lines = self.lines(context)
        if lines is None:
            return []
        data = {name: value for name, value in tiling.data.items() if isinstance(value, int)}
        view, cuts = self._read(tiling.path, data, lines)
        plan = from_fields(view, cuts)
        found = self._misread(view, lines) or unfit(data, lines.fields(plan, data))
        if plan.cores != tiling.block_dim:
            found.append(f"the fields are for {plan.cores} blocks, the block dim is {tiling.block_dim}")
        return found + _of_grid(view, cuts) + _apart(view, cuts) + self.more_problems(tiling, context)

    def _misread(self, view: View, lines: Lines) -> list[str]:
        """Why a view does not find the lines and cos rows where they are, if it does not."""
        template = view.template
        able = [one for one in lines.views if one.template == template]
        if able and view.runs == lines.runs:
            return []
        if not able:
            capable = ", ".join(sorted({one.template for one in lines.views}))
            return [
                f"template {template} takes {COS_TEXT[template].format('x')}; that of this call is another: {capable}"
            ]
        names = ("b", "n") if template in ONE_AXIS else ("n",) if template in POSITIONS_AND_HEADS else ("b", "s", "n")
        right = max(able, key=lambda one: sum(getattr(one, name) == getattr(view, name) for name in names))
        return [
            f"{self.name(template, name)} is {getattr(view, name)}, for this call it has to be {getattr(right, name)}"
            for name in names
            if getattr(view, name) != getattr(right, name)
        ]

    # --- tilings from elsewhere --------------------------------------------------------------------------------------

    def rebuild(self, context: TilingContext, given: Mapping[str, int | str]) -> Tiling:
        lines = self.lines(context)
        if lines is None:
            return self.host(context)
        data = {name: value for name, value in given.items() if isinstance(value, int)}
        template = self._template(given, data, lines)
        view, cuts = self._read(template, data, lines)
        for name in CUTS[template]:
            if cuts[name] < 1:
                raise InputError(f"{self.name(template, name)} is {cuts[name]}, template {template} needs at least 1")
        plan = from_fields(view, cuts)
        fields = lines.fields(plan, data)
        found = lines.answer(plan, {name: data.get(name, value) for name, value in fields.items()})
        return replace(found, block_dim=data.get("block_dim", plan.cores))

    def _template(self, given: Mapping[str, int | str], data: Fields, lines: Lines) -> str:
        """The one that is named, or the one whose fields are filled; of two with the same fields that which can."""
        path = given.get("path", "")
        if path in TEMPLATES:
            return str(path)

        def filled(template: str, name: str) -> int:
            return data.get(self.name(template, name), 0)

        if filled("AB", "blockNumBS") > 0:
            return "AB"
        if filled("BAB", "blockNumS") > 0:
            if filled("BAB", "ubLoopNumN") > 0:
                return "BAB"
            own_rows = lines.runs.kinds in ("AR", "ARA")
            return "ABA" if own_rows and filled("ABA", "cos_b") != 1 else "BA"
        if filled("A", "ubFactorB") > 0:
            shared = lines.runs.kinds not in ("", "A") or filled("A", "cos_b") == 1 < filled("A", "b")
            return "B" if shared else "A"
        raise InputError(
            "the tiling data is for no template of this operator: one of blockNumBS (AB), blockNumS (ABA, BA, BAB) and "
            "ubFactorB (A, B) must be positive"
        )

    def _read(self, template: str, data: Mapping[str, int | str], lines: Lines) -> tuple[View, dict[str, int]]:
        """How the kernel of a template takes x, and the fields that cut it."""

        def read(name: str) -> int:
            return _int(data.get(self.name(template, name), 0))

        cuts = {name: read(name) for name in CUTS[template]}
        b, s, n = (read(name) for name in ("b", "s", "n"))
        all_lines = lines.own.lines
        positions = all_lines // n if template in POSITIONS_AND_HEADS and n > 0 else 0
        return View(template, b, read("cos_b"), s, n, positions), cuts


def sorted_words(words: Sequence[int], other: Sequence[str], ab: Sequence[str], known: Fields) -> dict[str, int]:
    """Raw words by the names of template AB's struct, or of that of the others: whichever says what is `known`."""
    found: list[tuple[int, dict[str, int]]] = []
    for names, filled in ((ab, CUTS["AB"]), (other, ("blockNumB", "blockFactorB"))):
        if len(words) < len(names) and len(names) > min(len(ab), len(other)):
            continue
        fields = words_as_fields(words[: len(names)] if names is ab else words, names)
        wrong = [name for name, value in known.items() if fields.get(name, value) != value]
        found.append((len(wrong) + sum(fields[name] < 1 for name in filled), fields))
    return min(found, key=lambda one: one[0])[1]


def upper_case(_: str, name: str) -> str:
    """The structs of the forward operators call b, s, n and cos_b B, S, N and CosB."""
    return {"b": "B", "s": "S", "n": "N", "cos_b": "CosB"}.get(name, name)


def lower_case(_: str, name: str) -> str:
    """Those of the gradients keep b, s and n."""
    return name


def _int(value: int | str) -> int:
    return value if isinstance(value, int) else 0


def _of_grid(view: View, cuts: Fields) -> list[str]:
    """What AB's grid covers: its kernel believes the tail fields."""
    if view.template != "AB":
        return []
    found = []
    for axis, name, there in (("BS", "positions", view.positions), ("N", "heads", view.n)):
        covered = (cuts[f"blockNum{axis}"] - 1) * cuts[f"blockFactor{axis}"] + cuts[f"blockTail{axis}"]
        if covered != there:
            found.append(f"its grid covers {covered} {name}, for this call it has to be {there}")
    return found


def _most(axis: str, cuts: Fields) -> int:
    """What a core of AB's grid takes of an axis at most."""
    last = cuts[f"blockTail{axis}"]
    return max(last, cuts[f"blockFactor{axis}"]) if cuts[f"blockNum{axis}"] > 1 else last


def _apart(view: View, cuts: Fields) -> list[str]:
    """Steps whose lines are not neighbours in memory, which AB and BAB copy as if they were."""
    if view.template == "AB":
        positions, heads = min(_most("BS", cuts), cuts["ubFactorBS"]), min(_most("N", cuts), cuts["ubFactorN"])
    elif view.template == "BAB":
        positions, heads = min(cuts["ubFactorS"], cuts["blockFactorS"]), cuts["ubFactorN"]
    else:
        return []
    if positions <= 1 or heads >= view.n:
        return []
    return [f"a step of several positions has to take all {view.n} heads of each, it takes {heads}"]


# --- how kernels walk ------------------------------------------------------------------------------------------------


def _walk(view: View, cuts: Fields, block: int) -> tuple[Steps, ...]:
    """The steps of a block along the axes of the view."""
    match view.template:
        case "A" | "B":
            return (share(block, cuts["blockFactorB"], view.b, cuts["ubFactorB"]),)
        case "AB":
            at_bs, at_n = divmod(block, cuts["blockNumN"])
            return (
                piece(at_bs, "BS", cuts),
                piece(at_n, "N", cuts),
            )
    _, factor_b, _, factor_s = (cuts[name] for name in GRID)
    at_s, at_b = divmod(block, cuts["blockNumB"])
    batches = share(at_b, factor_b, view.b, 1 if view.template == "BAB" else cuts["ubFactorB"])
    positions = share(at_s, factor_s, view.s, cuts["ubFactorS"])
    heads = Steps.over(0, view.n, cuts["ubFactorN"])
    return (batches, positions, heads) if view.template == "BAB" else (batches, heads, positions)


def share(index: int, factor: int, total: int, per_step: int) -> Steps:
    """What is there of a piece of `factor`."""
    start = min(index * factor, total)
    return Steps.over(start, min(factor, total - start), per_step)


def piece(index: int, axis: str, cuts: Fields) -> Steps:
    """A piece of template AB: the last one is as large as its field says."""
    last = index == cuts[f"blockNum{axis}"] - 1
    factor = cuts[f"blockFactor{axis}"]
    return Steps.over(index * factor, cuts[f"blockTail{axis}"] if last else factor, cuts[f"ubFactor{axis}"])


def _in_runs(view: View, walk: tuple[Steps, ...]) -> Iterator[tuple[Steps, ...]]:
    """The same along the runs of the view: one piece, or one for each batch whose part is not a whole."""
    if any(steps.total == 0 for steps in walk):
        yield (Steps(0, 0, 0, 0),) * max(1, len(view.runs.kinds))
        return
    kept = [(steps, size, own) for steps, (size, own) in zip(walk, view.axes, strict=True) if size != 1]
    for index, ((outer, _, one), (inner, size, other)) in enumerate(pairwise(kept)):
        if one != other:
            continue
        rest = tuple(steps for steps, _, _ in kept[index + 2 :])
        front = tuple(steps for steps, _, _ in kept[:index])
        if inner.total == size:
            whole = Steps(outer.start * size, outer.per_step * size, outer.steps, outer.last * size)
            yield *front, whole, *rest
        else:
            for at in range(outer.start, outer.end):
                yield *front, Steps(at * size + inner.start, inner.per_step, inner.steps, inner.last), *rest
        return
    yield tuple(steps for steps, _, _ in kept) or (Steps(0, 1, 1, 1),)
