"""The pass between dx and the sums: rot(x) into the workspace, in the dtype of x.

All lines are one axis; cores take `blockFactorN` lines each, tiles hold `ubFactorN`. Nothing is rounded, so registers
hold elements as they are: 128 of 16 bits or 64 of 32. In mode interleave-half x itself, placed as y has it, goes to the
first half of the workspace, and rot(x) to the second.
"""

from types import SimpleNamespace
from typing import Any

from ascend_sim import asc
from ascend_sim.asc import reg

from ..shared.registers_arch35 import Mask, Pointer, pairs_of
from ..shared.rotations import HALF, INTERLEAVE, INTERLEAVE_HALF
from ..shared.templates_arch35 import MODE_PARTS
from ..shared.tiles_arch35 import VECIN, VECOUT, Line, copy_in, copy_out
from ..shared.walks_arch35 import core_index, smaller

REGISTER_BYTES = 256
BUFFERS = 2

Pair = tuple[Any, Any]


class Registers:
    """Registers of one dtype, and what negates them: a register full of -1."""

    def __init__(self, dtype: asc.DataType) -> None:
        self.dtype = dtype
        self.lanes = REGISTER_BYTES // dtype.sizeof()
        self.every = reg.create_mask(dtype)
        self.minus_one = reg.RegTensor(dtype)
        reg.duplicate(self.minus_one, -1.0, self.every)

    def some(self, count: int) -> tuple[Any, ...]:
        return tuple(reg.RegTensor(self.dtype) for _ in range(count))

    def rounds(self, elements: int) -> int:
        return -(-elements // self.lanes)

    def negate(self, register: Any, mask: Mask) -> None:
        reg.mul(register, register, self.minus_one, mask)


# --- halves and quarters ---------------------------------------------------------------------------------------------


def rotate_parts_of(out: Pointer, x: Pointer, lines: int, length: int, pitch: int, parts: int) -> None:
    """Of a pair of parts a and b: out[a] = -x[b], out[b] = x[a]."""
    registers = Registers(x.dtype)
    held = registers.some(parts)
    gap = pitch // parts
    for n in asc.range(lines):
        left = reg.Counter(length // parts)
        for i in asc.range(registers.rounds(length // parts)):
            mask = reg.update_mask(x.dtype, left)
            at = n * pitch + i * registers.lanes
            for index, register in enumerate(held):
                reg.load_align(register, x + at + index * gap)
            for _, b in pairs_of(held):
                registers.negate(held[b], mask)
            for a, b in pairs_of(held):
                reg.store_align(out + at + a * gap, held[b], mask)
                reg.store_align(out + at + b * gap, held[a], mask)


@asc.vf
def half_x_vf(out: Any, x: Any, lines: int, length: int, pitch: int) -> None:
    rotate_parts_of(out, x, lines, length, pitch, parts=2)


@asc.vf
def quarter_x_vf(out: Any, x: Any, lines: int, length: int, pitch: int) -> None:
    rotate_parts_of(out, x, lines, length, pitch, parts=4)


# --- pairs of neighbours ---------------------------------------------------------------------------------------------


def take_apart(registers: Registers, source: Pointer, held: Pair, even: Any, odd: Any) -> None:
    """Two registers of neighbours into one of even and one of odd elements."""
    reg.load_align(held[0], source)
    reg.load_align(held[1], source + registers.lanes)
    reg.de_interleave(even, odd, *held)


@asc.vf
def interleave_x_vf(out: Any, x: Any, lines: int, length: int, pitch: int) -> None:
    registers = Registers(x.dtype)
    lanes = registers.lanes
    first, second, even, odd = registers.some(4)
    rounds = -(-length // (2 * lanes))
    rest = length - (rounds - 1) * 2 * lanes  # of the last round
    for n in asc.range(lines):
        left = reg.Counter((rounds - 1) * lanes + smaller(rest, lanes))
        right = reg.Counter((rounds - 1) * lanes + max(rest - lanes, 0))
        for i in asc.range(rounds):
            masks = reg.update_mask(x.dtype, left), reg.update_mask(x.dtype, right)
            at = n * pitch + i * 2 * lanes
            take_apart(registers, x + at, (first, second), even, odd)
            registers.negate(odd, registers.every)
            reg.interleave(first, second, odd, even)
            reg.store_align(out + at, first, masks[0])
            reg.store_align(out + at + lanes, second, masks[1])


def place_halves(out: Pointer, x: Pointer, lines: int, length: int, pitches: tuple[int, int], rotated: bool) -> None:
    """Even elements, then odd ones; or (`rotated`) odd ones negated, then even ones. `pitches`: of out and of x."""
    registers = Registers(x.dtype)
    first, second, even, odd = registers.some(4)
    gap = pitches[0] // 2
    for n in asc.range(lines):
        left, right = reg.Counter(length // 2), reg.Counter(length // 2)
        for i in asc.range(registers.rounds(length // 2)):
            masks = reg.update_mask(x.dtype, left), reg.update_mask(x.dtype, right)
            take_apart(registers, x + n * pitches[1] + i * 2 * registers.lanes, (first, second), even, odd)
            if rotated:
                registers.negate(odd, registers.every)
            to = out + n * pitches[0] + i * registers.lanes
            reg.store_align(to, odd if rotated else even, masks[0])
            reg.store_align(to + gap, even if rotated else odd, masks[1])


@asc.vf
def placed_x_vf(out: Any, x: Any, lines: int, length: int, pitches: tuple[int, int]) -> None:
    place_halves(out, x, lines, length, pitches, rotated=False)


@asc.vf
def rotated_x_vf(out: Any, x: Any, lines: int, length: int, pitches: tuple[int, int]) -> None:
    place_halves(out, x, lines, length, pitches, rotated=True)


# --- the pass --------------------------------------------------------------------------------------------------------


class RotatedX:
    """Tensors in GM and queues of one core; `tiling` is the struct of this pass."""

    def __init__(
        self, pipe: asc.TPipe, x: asc.GlobalAddress, workspace: asc.GlobalAddress, tiling: SimpleNamespace
    ) -> None:
        dim, self.mode = tiling.d, tiling.rotaryMode
        self.out = Line(x.dtype, dim, dim, MODE_PARTS[self.mode])
        self.line = Line(x.dtype, dim, dim) if self.mode == INTERLEAVE_HALF else self.out
        self.step = tiling.ubFactorN
        elements = tiling.b * tiling.s * tiling.n * dim
        self.x, self.first, self.second = asc.GlobalTensor(), asc.GlobalTensor(), asc.GlobalTensor()
        self.x.set_global_buffer(x)
        self.first.set_global_buffer(workspace, elements)
        self.x_que, self.first_que, self.second_que = asc.TQue(VECIN, 1), asc.TQue(VECOUT, 1), asc.TQue(VECOUT, 1)
        pipe.init_buffer(self.x_que, BUFFERS, self.step * self.out.pitch_bytes)
        pipe.init_buffer(self.first_que, BUFFERS, self.step * self.out.pitch_bytes)
        if self.mode == INTERLEAVE_HALF:
            self.second.set_global_buffer(workspace + elements, elements)
            pipe.init_buffer(self.second_que, BUFFERS, self.step * self.out.pitch_bytes)


@asc.jit
def rotate_x(
    pipe: asc.TPipe, x: asc.GlobalAddress, workspace: asc.GlobalAddress, tiling: asc.ConstExpr[SimpleNamespace]
) -> None:
    """This core's lines of x into the workspace."""
    core = core_index()
    if core >= tiling.usedCoreNum:
        return
    gm = RotatedX(pipe, x, workspace, tiling)
    lines = tiling.blockTailFactorN if core == tiling.usedCoreNum - 1 else tiling.blockFactorN
    for at in asc.tiles(range(0, lines, gm.step)):
        count = smaller(gm.step, lines - at)
        place = (core * tiling.blockFactorN + at) * tiling.d
        copy_in(gm.x_que, gm.x[place], count, gm.line)
        tile = gm.x_que.deque(x.dtype)
        first = gm.first_que.alloc_tensor(x.dtype)
        rotate_tile(gm, first, tile, count)
        gm.first_que.enque(first)
        copy_out(gm.first_que, gm.first[place], count, gm.out)
        if gm.mode == INTERLEAVE_HALF:
            second = gm.second_que.alloc_tensor(x.dtype)
            rotated_x_vf(second, tile, count, gm.out.length, (gm.out.pitch, gm.line.pitch))
            gm.second_que.enque(second)
            copy_out(gm.second_que, gm.second[place], count, gm.out)
        gm.x_que.free_tensor(tile)


@asc.jit
def rotate_tile(gm: RotatedX, out: asc.LocalTensor, tile: asc.LocalTensor, lines: int) -> None:
    """rot(x), or in mode interleave-half x as y has it."""
    length, pitch = gm.out.length, gm.out.pitch
    if gm.mode == HALF:
        half_x_vf(out, tile, lines, length, pitch)
    elif gm.mode == INTERLEAVE:
        interleave_x_vf(out, tile, lines, length, pitch)
    elif gm.mode == INTERLEAVE_HALF:
        placed_x_vf(out, tile, lines, length, (pitch, gm.line.pitch))
    else:
        quarter_x_vf(out, tile, lines, length, pitch)
