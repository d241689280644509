"""Vector functions of the 950's kernels: lines in unified buffer are turned, in each of the rotary modes.

One item of PIPE_V each. `y`, `x`, `cos`, `sin` are tensors in unified buffer; pitches and steps count elements. The
line forms take a tile [positions][heads] with a cos row per position; `pitches` are those of y, x and cos. The batch
forms take a tile [batches][heads][positions] = `sizes` with a cos row per batch and position: from one batch to the
next, one head and one position, x and y move on by `x_steps`; from one batch and position, cos and sin by `cos_steps`
(0: all batches share them). Source: ops-transformer, posembedding, arch35 (facts on the regbase vector functions).
"""

from collections.abc import Iterator
from typing import Any

from ascend_sim import asc
from ascend_sim.asc import reg

from .registers_arch35 import (
    LANES,
    TWO,
    LineMasks,
    Mask,
    Masks,
    Pointer,
    Registers,
    load_parts,
    load_two,
    load_widened,
    part_registers,
    registers,
    rotate_one,
    rotate_parts,
    rotate_parts_by_pairs,
    rotate_two,
    rotate_woven,
    store_narrowed,
    store_parts,
    store_two,
)
from .walks_arch35 import VectorFunctions

Held = tuple[Registers, Registers, Registers]  # of x, cos, sin
Pitches = tuple[int, int, int]
Sizes = tuple[int, int, int]
Steps = tuple[int, int, int]
Places = Iterator[tuple[Any, Any, Any]]


def lines_of(positions: int, heads: int, pitches: Pitches) -> Places:
    """Where every line of y and of x begins, and its cos row."""
    y_pitch, x_pitch, cos_pitch = pitches
    for position in asc.range(positions):
        row = position * cos_pitch
        for head in asc.range(heads):
            line = position * heads + head
            yield line * y_pitch, line * x_pitch, row


def batches_of(sizes: Sizes, x_steps: Steps, cos_steps: tuple[int, int]) -> Places:
    """The same for a tile of batches, in which y lies as x does."""
    batches, heads, positions = sizes
    for b in asc.range(batches):
        for n in asc.range(heads):
            for s in asc.range(positions):
                line = b * x_steps[0] + n * x_steps[1] + s * x_steps[2]
                yield line, line, b * cos_steps[0] + s * cos_steps[1]


def rounds_of(length: int, parts: int) -> int:
    """Registers that a part of a line needs."""
    return -(-(length // parts) // LANES)


# --- halves and quarters: the elements of a pair lie in two parts of the line ----------------------------------------


def turn_parts(
    tensors: tuple[Pointer, Pointer, Pointer, Pointer], places: Places, length: int, pitch: int, parts: int, lines: bool
) -> None:
    """64 elements of every part a round. The line form (`lines`) orders its instructions in another way."""
    y, x, cos, sin = tensors
    x_held, cos_held, sin_held, out = (part_registers(parts) for _ in range(4))
    gap = pitch // parts
    for y_line, x_line, row in places:
        left = reg.Counter(length // parts)
        for i in asc.range(rounds_of(length, parts)):
            mask = reg.update_mask(asc.float32, left)
            at = i * LANES
            load_parts(x_held, x + x_line + at, gap, mask)
            if lines:
                load_parts(sin_held, sin + row + at, gap, mask)
                load_parts(cos_held, cos + row + at, gap, mask)
                rotate_parts(out, x_held, cos_held, sin_held, mask)
            else:
                load_parts(cos_held, cos + row + at, gap, mask)
                load_parts(sin_held, sin + row + at, gap, mask)
                rotate_parts_by_pairs(out, x_held, cos_held, sin_held, mask)
            store_parts(y + y_line + at, out, gap, mask)


@asc.vf
def half_lines_vf(
    y: Any, x: Any, cos: Any, sin: Any, positions: int, heads: int, length: int, pitches: Pitches
) -> None:
    turn_parts((y, x, cos, sin), lines_of(positions, heads, pitches), length, pitches[0], parts=2, lines=True)


@asc.vf
def half_batches_vf(
    y: Any, x: Any, cos: Any, sin: Any, sizes: Sizes, x_steps: Steps, cos_steps: tuple[int, int], length: int
) -> None:
    turn_parts((y, x, cos, sin), batches_of(sizes, x_steps, cos_steps), length, x_steps[2], parts=2, lines=False)


@asc.vf
def quarter_lines_vf(
    y: Any, x: Any, cos: Any, sin: Any, positions: int, heads: int, length: int, pitches: Pitches
) -> None:
    turn_parts((y, x, cos, sin), lines_of(positions, heads, pitches), length, pitches[0], parts=4, lines=True)


@asc.vf
def quarter_batches_vf(
    y: Any, x: Any, cos: Any, sin: Any, sizes: Sizes, x_steps: Steps, cos_steps: tuple[int, int], length: int
) -> None:
    turn_parts((y, x, cos, sin), batches_of(sizes, x_steps, cos_steps), length, x_steps[2], parts=4, lines=False)


# --- interleave: pairs of neighbours ---------------------------------------------------------------------------------


def rotate_round(y: Pointer, x: Pointer, cos: Pointer, sin: Pointer, held: Held, masks: Masks, half: Mask) -> None:
    """128 elements; the masks leave out what lies behind the line."""
    for registers_of, source in zip(held, (x, cos, sin), strict=True):
        load_two(registers_of, source, masks)
    rotate_two(*held, masks, half)
    store_two(y, held[1], masks)


@asc.vf
def interleave_lines_vf(
    y: Any, x: Any, cos: Any, sin: Any, positions: int, heads: int, length: int, pitches: Pitches
) -> None:
    """Whole rounds, then a tail of two registers or of one.

    A length that is a multiple of 128 leaves nothing for the tail, yet a pass over one register runs: with an empty
    mask it loads from behind the line and stores nothing.
    """
    rounds = length // TWO
    tail = length % TWO
    held = registers(), registers(), registers()
    (one, _), (cos_one, _), (sin_one, _) = held
    for y_line, x_line, row in lines_of(positions, heads, pitches):
        every = reg.create_mask(asc.float32)
        for i in asc.range(rounds):
            at = i * TWO
            rotate_round(y + y_line + at, x + x_line + at, cos + row + at, sin + row + at, held, (every, every), every)
        to, at, angle = y_line + rounds * TWO, x_line + rounds * TWO, row + rounds * TWO
        mask = reg.update_mask(asc.float32, reg.Counter(tail % LANES))
        if tail >= LANES:
            rotate_round(y + to, x + at, cos + angle, sin + angle, held, (every, mask), every)
        else:
            load_widened(one, x + at, mask)
            load_widened(cos_one, cos + angle, mask)
            load_widened(sin_one, sin + angle, mask)
            rotate_one(held[0], cos_one, sin_one, mask, written=rounds > 0)
            store_narrowed(y + to, cos_one, mask)


@asc.vf
def interleave_batches_vf(
    y: Any, x: Any, cos: Any, sin: Any, sizes: Sizes, x_steps: Steps, cos_steps: tuple[int, int], length: int
) -> None:
    """Every round of a line has its masks from UpdateMask, the last one included."""
    held = registers(), registers(), registers()
    for line, _, row in batches_of(sizes, x_steps, cos_steps):
        left = LineMasks(length)
        for i in asc.range(LineMasks.rounds(length)):
            masks, half = left.next()
            at, angle = line + i * TWO, row + i * TWO
            rotate_round(y + at, x + at, cos + angle, sin + angle, held, masks, half)


# --- interleave-half: pairs of neighbours in x, halves in the result, in cos and in sin ------------------------------


class Woven:
    """Registers of a round: 128 elements of x, and as many of y, cos and sin in two parts `gap` elements apart.

    `cos_first`: whether cos is loaded in front of sin.
    """

    def __init__(self, gap: int, cos_first: bool) -> None:
        self.x, self.cos, self.sin = registers(), registers(), registers()
        self.gap = gap
        self.cos_first = cos_first

    def turn(self, out: Registers, cos: Pointer, sin: Pointer, y: Pointer, half: Mask, written: bool = True) -> None:
        """Of what has been loaded to `x`; `half` masks the pairs, `written` as in `rotate_woven`."""
        tables = ((self.cos, cos), (self.sin, sin))
        for held, source in tables if self.cos_first else reversed(tables):
            load_parts(held, source, self.gap, half)
        rotate_woven(out, self.x, self.cos, self.sin, half, written)
        store_parts(y, out, self.gap, half)


@asc.vf
def interleave_half_lines_vf(
    y: Any, x: Any, cos: Any, sin: Any, positions: int, heads: int, length: int, pitches: Pitches
) -> None:
    """Whole rounds, then a tail of two registers of x, of one, or none; the tail's masks are made once per position."""
    rounds, rest = length // TWO, length % TWO
    round_, out = Woven(pitches[0] // 2, cos_first=False), registers()
    every = reg.create_mask(asc.float32)
    for position in asc.range(positions):
        row = position * pitches[2]
        last = reg.update_mask(asc.float32, reg.Counter(rest - LANES if rest > LANES else rest))
        half = reg.update_mask(asc.float32, reg.Counter(rest // 2))
        for head in asc.range(heads):
            line = position * heads + head
            to, at = line * pitches[0], line * pitches[1]
            for i in asc.range(rounds):
                load_two(round_.x, x + at + i * TWO, (every, every))
                angle = row + i * LANES
                round_.turn(out, cos + angle, sin + angle, y + to + i * LANES, every)
            if rest == 0:
                continue
            if rest > LANES:
                load_two(round_.x, x + at + rounds * TWO, (every, last))
            else:
                load_widened(round_.x[0], x + at + rounds * TWO, last)
            angle = row + rounds * LANES
            written = rest > LANES or rounds > 0
            round_.turn(out, cos + angle, sin + angle, y + to + rounds * LANES, half, written)


@asc.vf
def interleave_half_batches_vf(
    y: Any, x: Any, cos: Any, sin: Any, sizes: Sizes, x_steps: Steps, cos_steps: tuple[int, int], length: int
) -> None:
    """Every round of a line has its masks from UpdateMask, the last one included."""
    round_ = Woven(x_steps[2] // 2, cos_first=True)
    for line, _, row in batches_of(sizes, x_steps, cos_steps):
        left = LineMasks(length)
        for i in asc.range(LineMasks.rounds(length)):
            masks, half = left.next()
            angle = row + i * LANES
            load_two(round_.x, x + line + i * TWO, masks)
            round_.turn(round_.cos, cos + angle, sin + angle, y + line + i * LANES, half)


HALF = VectorFunctions(half_lines_vf, half_batches_vf, depth=2)
INTERLEAVE = VectorFunctions(interleave_lines_vf, interleave_batches_vf, depth=2)
QUARTER = VectorFunctions(quarter_lines_vf, quarter_batches_vf, depth=2)
INTERLEAVE_HALF = VectorFunctions(interleave_half_lines_vf, interleave_half_batches_vf, depth=2)
BY_MODE = {0: HALF, 1: INTERLEAVE, 2: QUARTER, 3: INTERLEAVE_HALF}
