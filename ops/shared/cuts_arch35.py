"""How a template of the 950's rotary operators takes x (`View`), and what follows from the steps it is cut in (`Plan`).

Host code and tiling space choose the numbers; fields, shares and buffers are the same formulas for both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from ascend_sim.host.tiling import CoreShare, Loop, UbBuffer

from .rope_layout import RopeDims, RopeLayout, Runs
from .splits_arch35 import Axis, GridBS, GridPositionsN, one_axis_shares, shares

ONE_AXIS, POSITIONS_AND_HEADS, HEADS_BEFORE_POSITIONS = ("A", "B"), ("AB",), ("ABA", "BA")
TEMPLATES = ("A", "B", "AB", "ABA", "BA", "BAB")
COS_TEXT = {
    "A": "cos the shape of {}",
    "B": "one cos row for all",
    "AB": "one cos row per position, for all its heads",
    "ABA": "one cos row per batch and position, for all heads",
    "BA": "one cos row per position, for all batches and heads",
    "BAB": "one cos row per position, for all batches and their heads",
}
GRID = ("blockNumB", "blockFactorB", "blockNumS", "blockFactorS")
CUTS = {
    "A": ("blockNumB", "blockFactorB", "ubFactorB"),
    "B": ("blockNumB", "blockFactorB", "ubFactorB"),
    "AB": (
        *("blockNumBS", "blockFactorBS", "blockTailBS", "blockNumN", "blockFactorN", "blockTailN"),
        *("ubFactorBS", "ubFactorN"),
    ),
    "ABA": (*GRID, "ubFactorS", "ubFactorB", "ubFactorN"),
    "BA": (*GRID, "ubFactorS", "ubFactorB", "ubFactorN"),
    "BAB": (*GRID, "ubFactorS", "ubFactorN"),
}
"""The fields that cut x, by template, all of them at least 1; what else a tiling has follows from the call and them."""


@dataclass(frozen=True, slots=True)
class View:
    """x as a template takes it: A and B one axis `b`, AB `positions` x `n`, BAB b x s x n, ABA and BA b x n x s.

    `cos_b` is what the struct's field of that name says, where it has one. With AB only `positions` and `n` count.
    """

    template: str
    b: int
    cos_b: int
    s: int
    n: int
    positions: int = 0

    @classmethod
    def of(cls, dims: RopeDims) -> View:
        """The template that the host code chooses, and the dims as it names them."""
        match dims.layout:
            case RopeLayout.NO_BROADCAST | RopeLayout.BROADCAST_BSN:
                lines = dims.b * dims.s * dims.n
                whole = dims.layout is RopeLayout.NO_BROADCAST
                return cls("A", lines, lines, 1, 1) if whole else cls("B", lines, 1, 1, 1)
            case RopeLayout.SBND:  # where cos is the same for all batches, their heads count together
                merged = dims.cos_b == 1
                positions, heads = (dims.s, dims.b * dims.n) if merged else (dims.b * dims.s, dims.n)
                return cls("AB", dims.b, dims.cos_b, dims.s, heads, positions)
            case RopeLayout.BNSD:
                return cls("BA" if dims.cos_b == 1 else "ABA", dims.b, dims.cos_b, dims.s, dims.n)
            case RopeLayout.BSND:
                return cls("BAB", dims.b, 0, dims.s, dims.n)  # which does not say how many batches cos has

    @property
    def axes(self) -> tuple[tuple[int, bool], ...]:
        """In memory order: size, and whether cos has a row for every index."""
        match self.template:
            case "A" | "B":
                return ((self.b, self.template == "A"),)
            case "AB":
                return (self.positions, True), (self.n, False)
            case "BAB":
                return (self.b, False), (self.s, True), (self.n, False)
        return (self.b, self.template == "ABA"), (self.n, False), (self.s, True)

    @property
    def lines(self) -> int:
        return prod(size for size, _ in self.axes)

    @property
    def runs(self) -> Runs:
        return Runs.of(self.axes)

    @property
    def text(self) -> str:
        return " x ".join(str(size) for size, _ in self.axes)


@dataclass(frozen=True, slots=True)
class Plan:
    """How a template cuts the lines of its view.

    `fields` are blocks and UB steps as the tiling structs name them; BAB's also say how often it steps over the heads.
    A step holds `lines` rows of x and `cos_rows` of cos, in `cos_count` buffers.
    """

    view: View
    cores: int
    fields: dict[str, int]
    shares: tuple[CoreShare, ...]
    lines: int
    cos_rows: int
    cos_count: int = 2

    @property
    def template(self) -> str:
        return self.view.template

    def buffers(self, x_row: int, cos_row: int, names: tuple[str, str, str, str]) -> tuple[UbBuffer, ...]:
        """Buffers called `names` (input, cos, sin, output), of rows of so many bytes."""
        x, cos, sin, out = names
        return (
            UbBuffer(x, self.lines * x_row, 2),
            UbBuffer(cos, self.cos_rows * cos_row, self.cos_count),
            UbBuffer(sin, self.cos_rows * cos_row, self.cos_count),
            UbBuffer(out, self.lines * x_row, 2),
        )


def one_axis(view: View, cores: int, factor: int, per_step: int) -> Plan:
    """A and B: `factor` lines for each core, `per_step` in a step. B keeps its one cos row in a single buffer."""
    whole = view.template == "A"
    return Plan(
        view,
        cores,
        fields={"blockNumB": cores, "blockFactorB": factor, "ubFactorB": per_step},
        shares=one_axis_shares(view.b, factor, per_step),
        lines=per_step,
        cos_rows=per_step if whole else 1,
        cos_count=2 if whole else 1,
    )


def positions_and_heads(view: View, grid: GridPositionsN, factor_bs: int, factor_n: int) -> Plan:
    """AB: positions and heads over cores."""

    def loops(positions: int, heads: int) -> tuple[Loop, ...]:
        return Loop.over("positions", positions, factor_bs), Loop.over("heads", heads, factor_n)

    return Plan(
        view,
        grid.cores,
        fields={"ubFactorBS": factor_bs, "ubFactorN": factor_n, **grid.fields()},
        shares=shares(Axis("S", view.positions, grid.factor_bs), Axis("N", view.n, grid.factor_n), 1, loops),
        lines=factor_bs * factor_n,
        cos_rows=factor_bs,
    )


def heads_before_positions(view: View, grid: GridBS, factor_s: int, factor_b: int, factor_n: int) -> Plan:
    """ABA and BA: batches and positions over cores."""

    def loops(batches: int, positions: int) -> tuple[Loop, ...]:
        return (
            Loop.over("positions", positions, factor_s),
            Loop.over("batches", batches, factor_b),
            Loop.over("heads", view.n, factor_n),
        )

    return Plan(
        view,
        grid.cores,
        fields={"ubFactorS": factor_s, "ubFactorB": factor_b, "ubFactorN": factor_n, **grid.fields()},
        shares=shares(Axis("B", view.b, grid.factor_b), Axis("S", view.s, grid.factor_s), view.n, loops),
        lines=factor_b * factor_s * factor_n,
        cos_rows=factor_s if view.template == "BA" else factor_s * factor_b,
    )


def batches_and_positions(view: View, grid: GridBS, factor_s: int, factor_n: int) -> Plan:
    """BAB: batches and positions over cores, one batch in a step."""
    heads = Loop.over("heads", view.n, factor_n)

    def loops(batches: int, positions: int) -> tuple[Loop, ...]:
        return Loop.over("batches", batches, 1), Loop.over("positions", positions, factor_s), heads

    return Plan(
        view,
        grid.cores,
        fields={"ubFactorS": factor_s, "ubFactorB": 1}
        | {"ubLoopNumN": heads.loops, "ubFactorN": factor_n, "ubTailFactorN": heads.last}
        | grid.fields(),
        shares=shares(Axis("B", view.b, grid.factor_b), Axis("S", view.s, grid.factor_s), view.n, loops),
        lines=factor_s * factor_n,
        cos_rows=factor_s,
    )


def from_fields(view: View, fields: Mapping[str, int]) -> Plan:
    """As the kernel reads the fields that cut x (`CUTS`), which are all positive."""
    if view.template in ONE_AXIS:
        return one_axis(view, fields["blockNumB"], fields["blockFactorB"], fields["ubFactorB"])
    if view.template in POSITIONS_AND_HEADS:
        positions_n = GridPositionsN(*(fields[name] for name in CUTS["AB"][:6]))
        return positions_and_heads(view, positions_n, fields["ubFactorBS"], fields["ubFactorN"])
    grid = GridBS(*(fields[name] for name in GRID))
    if view.template in HEADS_BEFORE_POSITIONS:
        return heads_before_positions(view, grid, fields["ubFactorS"], fields["ubFactorB"], fields["ubFactorN"])
    return batches_and_positions(view, grid, fields["ubFactorS"], fields["ubFactorN"])
