"""Vector functions of the 950's kernels: lines in unified buffer are turned, 128 elements a round.

One item of PIPE_V each. `y`, `x`, `cos`, `sin` are tensors in unified buffer, pitches and steps count elements.
"""

from typing import Any

from ascend_sim import asc
from ascend_sim.asc import reg

from ..shared.registers_arch35 import (
    LANES,
    TWO,
    LineMasks,
    Mask,
    Masks,
    Pointer,
    Registers,
    load_two,
    load_widened,
    registers,
    rotate_one,
    rotate_two,
    store_narrowed,
    store_two,
)
from ..shared.walks_arch35 import VectorFunctions

Held = tuple[Registers, Registers, Registers]  # of x, cos, sin


def rotate_round(y: Pointer, x: Pointer, cos: Pointer, sin: Pointer, held: Held, masks: Masks, half: Mask) -> None:
    """128 elements; the masks leave out what lies behind the line."""
    for registers_of, source in zip(held, (x, cos, sin), strict=True):
        load_two(registers_of, source, masks)
    rotate_two(*held, masks, half)
    store_two(y, held[1], masks)


@asc.vf
def rotate_lines_vf(
    y: Any, x: Any, cos: Any, sin: Any, positions: int, heads: int, length: int, pitch: int, cos_pitch: int
) -> None:
    """Lines [positions][heads], a cos row per position: whole rounds, then a tail of two registers or of one.

    A length that is a multiple of 128 leaves nothing for the tail, yet a pass over one register runs: with an empty
    mask it loads from behind the line and stores nothing.
    """
    rounds = length // TWO
    tail = length % TWO
    held = registers(), registers(), registers()
    (one, _), (cos_one, _), (sin_one, _) = held
    for position in asc.range(positions):
        row = position * cos_pitch
        for head in asc.range(heads):
            line = (position * heads + head) * pitch
            every = reg.create_mask(asc.float32)
            for i in asc.range(rounds):
                at, angle = line + i * TWO, row + i * TWO
                rotate_round(y + at, x + at, cos + angle, sin + angle, held, (every, every), every)
            at, angle = line + rounds * TWO, row + rounds * TWO
            mask = reg.update_mask(asc.float32, reg.Counter(tail % LANES))
            if tail >= LANES:
                rotate_round(y + at, x + at, cos + angle, sin + angle, held, (every, mask), every)
            else:
                load_widened(one, x + at, mask)
                load_widened(cos_one, cos + angle, mask)
                load_widened(sin_one, sin + angle, mask)
                rotate_one(held[0], cos_one, sin_one, mask, written=rounds > 0)
                store_narrowed(y + at, cos_one, mask)


@asc.vf
def rotate_batches_vf(
    y: Any,
    x: Any,
    cos: Any,
    sin: Any,
    sizes: tuple[int, int, int],
    x_steps: tuple[int, int, int],
    cos_steps: tuple[int, int],
    length: int,
) -> None:
    """Lines [batches][heads][positions] = `sizes`, a cos row per batch and position (`cos_steps`; 0: for all batches).

    Every round of a line has its masks from UpdateMask, the last one included.
    """
    batches, heads, positions = sizes
    held = registers(), registers(), registers()
    for b in asc.range(batches):
        for n in asc.range(heads):
            for s in asc.range(positions):
                line = b * x_steps[0] + n * x_steps[1] + s * x_steps[2]
                row = b * cos_steps[0] + s * cos_steps[1]
                left = LineMasks(length)
                for i in asc.range(LineMasks.rounds(length)):
                    masks, half = left.next()
                    at, angle = line + i * TWO, row + i * TWO
                    rotate_round(y + at, x + at, cos + angle, sin + angle, held, masks, half)


ROTATE = VectorFunctions(rotate_lines_vf, rotate_batches_vf, depth=2)
