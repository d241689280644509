"""How the host code of the 950's rotary operators cuts work over cores.

Positions are batches x positions in a sequence (B x S), every position has N heads; one head at one position is a line.
Source: ops-transformer, posembedding, the regbase tilings (facts on its templates A, B, AB, ABA, BA and BAB).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ascend_sim.host.tiling import CoreShare, Loop, align_up, ceil_div

UB_BLOCK_BYTES = 32


def row_bytes(elements: int, itemsize: int, parts: int = 1) -> int:
    """Bytes that a row takes in UB when each of its `parts` is padded to whole UB blocks."""
    return align_up(elements * itemsize // parts, UB_BLOCK_BYTES) * parts


def ceil_div_or_all(a: int, b: int) -> int:
    """CeilDiv of the operator library: a / b rounded up, and a where b is 0."""
    return ceil_div(a, b) if b else a


@dataclass(frozen=True, slots=True)
class GridBS:
    """B x S over `num_b` x `num_s` cores: `factor_b` batches and `factor_s` positions each, the last ones less."""

    num_b: int
    factor_b: int
    num_s: int
    factor_s: int

    @property
    def cores(self) -> int:
        return self.num_b * self.num_s

    def fields(self) -> dict[str, int]:
        """As the tiling structs name them."""
        return {
            "blockNumB": self.num_b,
            "blockFactorB": self.factor_b,
            "blockNumS": self.num_s,
            "blockFactorS": self.factor_s,
        }


def _b_first(b: int, s: int, cores: int) -> GridBS:
    """As many cores along B as there can be, the spare ones along S."""
    factor_b = ceil_div(b, cores)
    num_b = ceil_div(b, factor_b)
    factor_s = ceil_div(s, min(cores // num_b, s))
    return GridBS(num_b, factor_b, ceil_div(s, factor_s), factor_s)


def _s_first(b: int, s: int, cores: int) -> GridBS:
    turned = _b_first(s, b, cores)
    return GridBS(turned.num_s, turned.factor_s, turned.num_b, turned.factor_b)


def split_by_steps(b: int, s: int, cores: int, ub_factor_s: int) -> tuple[GridBS, int]:
    """BAB: of the two plans the one with more cores x positions per UB step, B first on a tie; and those positions."""
    plans = [(grid, min(ub_factor_s, grid.factor_s)) for grid in (_b_first(b, s, cores), _s_first(b, s, cores))]
    return max(plans, key=lambda plan: plan[0].cores * plan[1])  # max keeps the first of equals


def split_by_cores(b: int, s: int, cores: int) -> GridBS:
    """ABA and BA: one axis alone where the cores divide it (B before S), else the plan that uses more cores."""
    if b % cores == 0:
        return GridBS(cores, b // cores, 1, s)
    if s % cores == 0:
        return GridBS(1, b, cores, s // cores)
    return max(_b_first(b, s, cores), _s_first(b, s, cores), key=lambda grid: grid.cores)


@dataclass(frozen=True, slots=True)
class GridPositionsN:
    """Positions x N over `num_bs` x `num_n` cores."""

    num_bs: int
    factor_bs: int
    tail_bs: int
    num_n: int
    factor_n: int
    tail_n: int

    @property
    def cores(self) -> int:
        return self.num_bs * self.num_n

    def fields(self) -> dict[str, int]:
        return {
            "blockNumBS": self.num_bs,
            "blockFactorBS": self.factor_bs,
            "blockTailBS": self.tail_bs,
            "blockNumN": self.num_n,
            "blockFactorN": self.factor_n,
            "blockTailN": self.tail_n,
        }


def split_positions_n(positions: int, n: int, cores: int) -> GridPositionsN:
    """AB: positions over the cores; where they fill at most half of them, the heads too."""
    factor_bs = ceil_div(positions, cores)
    num_bs = ceil_div(positions, factor_bs)
    factor_n = n if positions > cores // 2 else ceil_div(n, cores // num_bs)
    num_n = ceil_div(n, factor_n)
    return GridPositionsN(
        num_bs, factor_bs, positions - (num_bs - 1) * factor_bs, num_n, factor_n, n - (num_n - 1) * factor_n
    )


def fill_heads_first(rows: int, heads: int, block_b: int, shared: bool) -> tuple[int, int]:
    """ABA and BA: (heads, batches) of a UB step with `rows` rows per position for heads and cos together.

    `shared`: one row of cos serves all batches and heads, else each batch has its own.
    """
    if rows <= 2:
        return 1, 1
    factor_n = min(heads, rows - 1)
    left = (rows - 1) // factor_n if shared else rows // (factor_n + 1)
    return factor_n, max(1, min(block_b, left))


# --- the same for people ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of `total` that cores share in pieces of `factor`."""

    name: str
    total: int
    factor: int

    def pieces(self) -> Iterator[tuple[str, int, int]]:
        """(what the cores are called, how many, size of their piece); the last core may have less."""
        full, rest = divmod(self.total, self.factor)
        if full:
            yield "", full, self.factor
        if rest:
            yield self.name, 1, rest


def shares(
    first: Axis, second: Axis, lines: int, loops: Callable[[int, int], tuple[Loop, ...]], unit: str = "lines"
) -> tuple[CoreShare, ...]:
    """What the cores of a grid do: `lines` (called `unit`) per pair of indexes; `loops` for a piece of each axis."""
    found = []
    for tail_1, cores_1, size_1 in first.pieces():
        for tail_2, cores_2, size_2 in second.pieces():
            tails = " and ".join(name for name in (tail_1, tail_2) if name)
            role = f"{tails} tail" if tails else "front"
            steps = loops(size_1, size_2)
            found.append(CoreShare(role, cores_1 * cores_2, size_1 * size_2 * lines, unit, steps))
    return tuple(found)


def one_axis_shares(total: int, factor: int, per_step: int, unit: str = "lines") -> tuple[CoreShare, ...]:
    """A and B: all lines are one axis."""
    full, rest = divmod(total, factor)
    pieces = (("front", full, factor), ("tail", 1 if rest else 0, rest))
    return tuple(
        CoreShare(role, cores, size, unit, (Loop.over(unit, size, per_step),)) for role, cores, size in pieces if cores
    )
