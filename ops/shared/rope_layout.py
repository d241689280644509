"""The six shapes of cos and sin, relative to x, that the rotary operators' common host code knows.

The 950's tilings choose their template by them. On A2 and A3 the same code runs first and refuses what fits none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from ascend_sim.host.tensors import Shape


class RopeLayout(Enum):
    """How cos is broadcast: over nothing, over all of B, S and N, or as in the layout named."""

    NO_BROADCAST = "NO_BROADCAST"
    BROADCAST_BSN = "BROADCAST_BSN"
    BSND = "BSND"
    SBND = "SBND"
    BNSD = "BNSD"


@dataclass(frozen=True, slots=True)
class RopeDims:
    """Layout found and the dims named by it; `cos_b` is the size of cos where x has B."""

    layout: RopeLayout
    b: int
    cos_b: int
    s: int
    n: int


def rope_layout(x: Shape, cos: Shape) -> RopeDims | None:
    """Layout of `x` and `cos`, both without their last dim: three dims each. None when cos fits no rule."""
    x0, x1, x2 = x
    c0, c1, c2 = cos
    rules = (
        (x == cos, RopeDims(RopeLayout.NO_BROADCAST, x0, c0, x1, x2)),
        (cos == (1, 1, 1), RopeDims(RopeLayout.BROADCAST_BSN, x0, 1, x1, x2)),
        (c2 == 1 and c0 == 1 and c1 == x1, RopeDims(RopeLayout.BSND, x0, 1, x1, x2)),
        (c2 == 1 and c0 == x0 and c1 in (1, x1), RopeDims(RopeLayout.SBND, x1, c1, x0, x2)),
        (c1 == 1 and c2 == x2 and c0 in (1, x0), RopeDims(RopeLayout.BNSD, x0, c0, x2, x1)),
        (cos == (1, x1, x2), RopeDims(RopeLayout.BNSD, x0, 1, x1 * x2, 1)),
    )
    return next((dims for fits, dims in rules if fits), None)


def leading_dims(shape: Shape) -> Shape:
    """All dims but the last, as three: (T, N, D) counts as (1, T, N, D)."""
    return shape[:-1] if len(shape) == 4 else (1, *shape[:-1])


def tnd_layout(x: Shape, cos: Shape) -> RopeDims | None:
    """`rope_layout` for whole shapes of rank 4 or 3, with the one rule that only rank 3 has.

    (T, N, D) with cos (1, N, D), N > 1, reads as B = T rows that share N positions.
    """
    if len(x) == 3 and x[1] != 1 and cos[:2] == (1, x[1]):
        return RopeDims(RopeLayout.BSND, x[0], 1, x[1], 1)
    return rope_layout(leading_dims(x), leading_dims(cos))


@dataclass(frozen=True, slots=True)
class Runs:
    """Axes in memory order, those of one index left out and neighbours of one kind taken together.

    `kinds`: A where cos has a row for every index, R where one row is repeated, a letter for each of `sizes`.
    """

    kinds: str
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, axes: Iterable[tuple[int, bool]]) -> Runs:
        """From (size, whether cos has a row for every index)."""
        found: list[tuple[str, int]] = []
        for size, own_rows in axes:
            kind = "A" if own_rows else "R"
            if size == 1:
                continue
            if found and found[-1][0] == kind:
                found[-1] = kind, found[-1][1] * size
            else:
                found.append((kind, size))
        return cls("".join(kind for kind, _ in found), tuple(size for _, size in found))

    @classmethod
    def between(cls, many: Shape, one: Shape) -> Runs:
        """`one` is broadcast to `many`: each dim is that of `many` or 1."""
        return cls.of(zip(many, (size != 1 for size in one), strict=True))
