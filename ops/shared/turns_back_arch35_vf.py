"""Vector functions of the 950's gradients: lines in unified buffer are turned back, in each of the rotary modes.

Arguments are those of `turns_arch35_vf`, with `g` (the gradient of the result) for x and `dx` for y. Every round of a
line has its masks from UpdateMask, the last one included: there is no tail of its own.
"""

from typing import Any

from ascend_sim import asc
from ascend_sim.asc import reg

from .registers_arch35 import (
    LANES,
    TWO,
    LineMasks,
    Mask,
    Parts,
    Pointer,
    load_parts,
    load_two,
    part_registers,
    registers,
    rotate_back_parts,
    rotate_back_two,
    store_parts,
    store_two,
)
from .turns_arch35_vf import Pitches, Places, Sizes, Steps, batches_of, lines_of, rounds_of
from .walks_arch35 import VectorFunctions

Tensors = tuple[Pointer, Pointer, Pointer, Pointer]  # dx, g, cos, sin


class PartsBack:
    """Registers of a round: 64 elements of each of `parts` parts, `gap` elements apart.

    The line form (`lines`) loads sin in front of cos.
    """

    def __init__(self, parts: int, pitch: int, lines: bool) -> None:
        self.g, self.cos, self.sin, self.out = (part_registers(parts) for _ in range(4))
        self.gap = pitch // parts
        self.lines = lines

    def turn(self, g: Pointer, cos: Pointer, sin: Pointer, mask: Mask) -> Parts:
        """Load a round and turn it back: its result."""
        load_parts(self.g, g, self.gap, mask)
        tables = ((self.cos, cos), (self.sin, sin))
        for held, source in reversed(tables) if self.lines else tables:
            load_parts(held, source, self.gap, mask)
        rotate_back_parts(self.out, self.g, self.cos, self.sin, mask)
        return self.out


# --- halves and quarters ---------------------------------------------------------------------------------------------


def turn_parts_back(tensors: Tensors, places: Places, length: int, pitch: int, parts: int, lines: bool) -> None:
    dx, g, cos, sin = tensors
    held = PartsBack(parts, pitch, lines)
    for to, line, row in places:
        left = reg.Counter(length // parts)
        for i in asc.range(rounds_of(length, parts)):
            mask = reg.update_mask(asc.float32, left)
            at = i * LANES
            out = held.turn(g + line + at, cos + row + at, sin + row + at, mask)
            store_parts(dx + to + at, out, held.gap, mask)


@asc.vf
def half_back_lines_vf(
    dx: Any, g: Any, cos: Any, sin: Any, positions: int, heads: int, length: int, pitches: Pitches
) -> None:
    turn_parts_back((dx, g, cos, sin), lines_of(positions, heads, pitches), length, pitches[0], parts=2, lines=True)


@asc.vf
def half_back_batches_vf(
    dx: Any, g: Any, cos: Any, sin: Any, sizes: Sizes, g_steps: Steps, cos_steps: tuple[int, int], length: int
) -> None:
    places = batches_of(sizes, g_steps, cos_steps)
    turn_parts_back((dx, g, cos, sin), places, length, g_steps[2], parts=2, lines=False)


@asc.vf
def quarter_back_lines_vf(
    dx: Any, g: Any, cos: Any, sin: Any, positions: int, heads: int, length: int, pitches: Pitches
) -> None:
    turn_parts_back((dx, g, cos, sin), lines_of(positions, heads, pitches), length, pitches[0], parts=4, lines=True)


@asc.vf
def quarter_back_batches_vf(
    dx: Any, g: Any, cos: Any, sin: Any, sizes: Sizes, g_steps: Steps, cos_steps: tuple[int, int], length: int
) -> None:
    places = batches_of(sizes, g_steps, cos_steps)
    turn_parts_back((dx, g, cos, sin), places, length, g_steps[2], parts=4, lines=False)


# --- interleave: pairs of neighbours ---------------------------------------------------------------------------------


def turn_neighbours_back(tensors: Tensors, places: Places, length: int) -> None:
    """128 elements a round."""
    dx, g, cos, sin = tensors
    held = registers(), registers(), registers()
    for to, line, row in places:
        left = LineMasks(length)
        for i in asc.range(LineMasks.rounds(length)):
            masks, half = left.next()
            at = i * TWO
            for registers_of, source in zip(held, (g + line, cos + row, sin + row), strict=True):
                load_two(registers_of, source + at, masks)
            rotate_back_two(*held, masks, half)
            store_two(dx + to + at, held[1], masks)


@asc.vf
def interleave_back_lines_vf(
    dx: Any, g: Any, cos: Any, sin: Any, positions: int, heads: int, length: int, pitches: Pitches
) -> None:
    turn_neighbours_back((dx, g, cos, sin), lines_of(positions, heads, pitches), length)


@asc.vf
def interleave_back_batches_vf(
    dx: Any, g: Any, cos: Any, sin: Any, sizes: Sizes, g_steps: Steps, cos_steps: tuple[int, int], length: int
) -> None:
    turn_neighbours_back((dx, g, cos, sin), batches_of(sizes, g_steps, cos_steps), length)


# --- interleave-half: halves in g, in cos and in sin, pairs of neighbours in dx --------------------------------------


def weave_back(tensors: Tensors, places: Places, length: int, pitch: int, lines: bool) -> None:
    """64 elements of either half of g a round, woven together in dx; halves of g lie `pitch` / 2 apart."""
    dx, g, cos, sin = tensors
    held, woven = PartsBack(2, pitch, lines), registers()
    for to, line, row in places:
        left = LineMasks(length)
        for i in asc.range(LineMasks.rounds(length)):
            masks, half = left.next()
            at = i * LANES
            out = held.turn(g + line + at, cos + row + at, sin + row + at, half)
            reg.interleave(*woven, *out)
            store_two(dx + to + i * TWO, woven, masks)


@asc.vf
def interleave_half_back_lines_vf(
    dx: Any, g: Any, cos: Any, sin: Any, positions: int, heads: int, length: int, pitches: Pitches
) -> None:
    weave_back((dx, g, cos, sin), lines_of(positions, heads, pitches), length, pitches[1], lines=True)


@asc.vf
def interleave_half_back_batches_vf(
    dx: Any, g: Any, cos: Any, sin: Any, sizes: Sizes, g_steps: Steps, cos_steps: tuple[int, int], length: int
) -> None:
    weave_back((dx, g, cos, sin), batches_of(sizes, g_steps, cos_steps), length, g_steps[2], lines=False)


HALF_BACK = VectorFunctions(half_back_lines_vf, half_back_batches_vf, depth=1)
INTERLEAVE_BACK = VectorFunctions(interleave_back_lines_vf, interleave_back_batches_vf, depth=1)
QUARTER_BACK = VectorFunctions(quarter_back_lines_vf, quarter_back_batches_vf, depth=1)
INTERLEAVE_HALF_BACK = VectorFunctions(interleave_half_back_lines_vf, interleave_half_back_batches_vf, depth=1)
BY_MODE_BACK = {0: HALF_BACK, 1: INTERLEAVE_BACK, 2: QUARTER_BACK, 3: INTERLEAVE_HALF_BACK}
