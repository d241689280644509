"""Vector functions of the kernels: lines in unified buffer are turned back, 128 elements a round.

One item of PIPE_V each. `dx`, `dy`, `cos`, `sin` are tensors in unified buffer, pitches and steps count elements. Every
round of a line has its masks from UpdateMask, the last one included: there is no tail of its own.
"""

from typing import Any

from ascend_sim import asc

from ..shared.registers_arch35 import (
    TWO,
    LineMasks,
    Pointer,
    Registers,
    load_two,
    registers,
    rotate_back_two,
    store_two,
)
from ..shared.walks_arch35 import VectorFunctions

Held = tuple[Registers, Registers, Registers]  # of dy, cos, sin


def rotate_back_line(dx: Pointer, dy: Pointer, cos: Pointer, sin: Pointer, held: Held, length: int) -> None:
    left = LineMasks(length)
    for i in asc.range(LineMasks.rounds(length)):
        masks, half = left.next()
        at = i * TWO
        for registers_of, source in zip(held, (dy, cos, sin), strict=True):
            load_two(registers_of, source + at, masks)
        rotate_back_two(*held, masks, half)
        store_two(dx + at, held[1], masks)


@asc.vf
def rotate_back_lines_vf(
    dx: Any, dy: Any, cos: Any, sin: Any, positions: int, heads: int, length: int, pitch: int, cos_pitch: int
) -> None:
    """Lines [positions][heads], a cos row per position."""
    held = registers(), registers(), registers()
    for position in asc.range(positions):
        row = position * cos_pitch
        for head in asc.range(heads):
            line = (position * heads + head) * pitch
            rotate_back_line(dx + line, dy + line, cos + row, sin + row, held, length)


@asc.vf
def rotate_back_batches_vf(
    dx: Any,
    dy: Any,
    cos: Any,
    sin: Any,
    sizes: tuple[int, int, int],
    dy_steps: tuple[int, int, int],
    cos_steps: tuple[int, int],
    length: int,
) -> None:
    """Lines [batches][heads][positions] = `sizes`; a cos row per batch (a step of 0: for all) and position."""
    batches, heads, positions = sizes
    held = registers(), registers(), registers()
    for b in asc.range(batches):
        for n in asc.range(heads):
            for s in asc.range(positions):
                line = b * dy_steps[0] + n * dy_steps[1] + s * dy_steps[2]
                row = b * cos_steps[0] + s * cos_steps[1]
                rotate_back_line(dx + line, dy + line, cos + row, sin + row, held, length)


ROTATE_BACK = VectorFunctions(rotate_back_lines_vf, rotate_back_batches_vf, depth=1)
