"""Vector functions of the gradient that no other operator has: dx with the products for grad_cos and grad_sin, rot(x).

A line lies in unified buffer in two halves, each padded to whole blocks of 32 B; a round takes 64 elements of either.
One item of PIPE_V each. `dx`, `g`, `x`, `cos`, `sin` and the sums are tensors in unified buffer; pitches in elements.
Source: ops-transformer, apply_rotary_pos_emb_grad, arch35 (facts 5).
"""

from typing import Any

from ascend_sim import asc
from ascend_sim.asc import reg

from ..shared.registers_arch35 import (
    LANES,
    Mask,
    Parts,
    Pointer,
    load_parts,
    part_registers,
    store_parts,
)
from ..shared.turns_arch35_vf import rounds_of

HALVES = 2
Terms = tuple[Parts, Parts]  # what a line adds to grad_cos and to grad_sin


def turned_back(g: Parts, cos: Parts, sin: Parts, mask: Mask) -> Parts:
    """dx = (cos1 * g1 + sin2 * g2, cos2 * g2 - sin1 * g1); g, cos and sin keep their values."""
    dx, other = part_registers(HALVES), part_registers(HALVES)
    reg.mul(dx[0], cos[0], g[0], mask)
    reg.mul(other[0], sin[1], g[1], mask)
    reg.add(dx[0], dx[0], other[0], mask)
    reg.mul(dx[1], cos[1], g[1], mask)
    reg.mul(other[1], sin[0], g[0], mask)
    reg.sub(dx[1], dx[1], other[1], mask)
    return dx


def terms_of(g: Parts, x: Parts, mask: Mask) -> Terms:
    """(g1 * x1, g2 * x2) and (-(g1 * x2), g2 * x1)."""
    of_cos, of_sin = part_registers(HALVES), part_registers(HALVES)
    reg.mul(of_cos[0], g[0], x[0], mask)
    reg.mul(of_cos[1], g[1], x[1], mask)
    reg.mul(of_sin[0], g[0], x[1], mask)
    reg.muls(of_sin[0], of_sin[0], -1.0, mask)
    reg.mul(of_sin[1], g[1], x[0], mask)
    return of_cos, of_sin


def add_to(sums: Pointer, terms: Parts, gap: int, mask: Mask) -> None:
    before = part_registers(HALVES)
    load_parts(before, sums, gap, mask)
    for one, term in zip(before, terms, strict=True):
        reg.add(one, one, term, mask)
    store_parts(sums, before, gap, mask)


@asc.vf
def half_back_with_sums_vf(
    dx: Any,
    g: Any,
    cos: Any,
    sin: Any,
    x: Any,
    cos_sums: Any,
    sin_sums: Any,
    sizes: tuple[int, int, int],
    length: int,
    pitches: tuple[int, int],
    first: bool,
) -> None:
    """Lines [positions][heads], a cos row per position, and their float32 products with x.

    `sizes`: positions, heads, and the heads that the sums have room for at each position. `pitches`: of a line, of a
    line of the sums. The products are stored (`first`) or added to what is there.
    """
    positions, heads, room = sizes
    gap, sums_gap = (pitch // HALVES for pitch in pitches)
    held_g, held_cos, held_sin, held_x = (part_registers(HALVES) for _ in range(4))
    for position in asc.range(positions):
        row = position * pitches[0]
        for head in asc.range(heads):
            line, sums = (position * heads + head) * pitches[0], (position * room + head) * pitches[1]
            left = reg.Counter(length // HALVES)
            for i in asc.range(rounds_of(length, HALVES)):
                mask = reg.update_mask(asc.float32, left)
                at = i * LANES
                load_parts(held_g, g + line + at, gap, mask)
                load_parts(held_cos, cos + row + at, gap, mask)
                load_parts(held_sin, sin + row + at, gap, mask)
                load_parts(held_x, x + line + at, gap, mask)
                result = turned_back(held_g, held_cos, held_sin, mask)
                terms = terms_of(held_g, held_x, mask)
                store_parts(dx + line + at, result, gap, mask)
                for to, values in zip((cos_sums, sin_sums), terms, strict=True):
                    if first:
                        store_parts(to + sums + at, values, sums_gap, mask)
                    else:
                        add_to(to + sums + at, values, sums_gap, mask)


@asc.vf
def half_rotated_vf(y: Any, x: Any, lines: int, length: int, pitch: int) -> None:
    """y = rot(x) = (-x2, x1), line by line."""
    gap = pitch // HALVES
    held = part_registers(HALVES)
    for line in asc.range(lines):
        left = reg.Counter(length // HALVES)
        for i in asc.range(rounds_of(length, HALVES)):
            mask = reg.update_mask(asc.float32, left)
            at = line * pitch + i * LANES
            load_parts(held, x + at, gap, mask)
            reg.muls(held[1], held[1], -1.0, mask)
            store_parts(y + at, (held[1], held[0]), gap, mask)
