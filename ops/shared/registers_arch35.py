"""Register-level pieces of the 950's rotary vector functions: lines in and out, and pairs of elements turned.

Whatever the dtype, registers hold float32. 16-bit elements are widened on loading and rounded half to even on storing,
so a result is rounded once to its own dtype (facts: ops-transformer, load and store helpers of the regbase kernels).
Interleaved rotations take two registers at a time: 128 elements, 64 whole pairs in each. Where the two elements of a
pair lie in two parts of a line (halves, quarters), a register holds 64 elements of one part.
"""

from collections.abc import Sequence
from typing import Any

from ascend_sim import asc
from ascend_sim.asc import reg

LANES = 64  # float32 in a register of 256 B
TWO = 2 * LANES

Register = Any  # a RegTensor of float32
Registers = tuple[Register, Register]
Parts = Sequence[Register]  # a register for each part of a line: 2 or 4
Mask = Any
Masks = tuple[Mask, Mask]
Pointer = Any  # a tensor argument of a vector function, moved by loop indices


def registers() -> Registers:
    return reg.RegTensor(asc.float32), reg.RegTensor(asc.float32)


def part_registers(parts: int) -> Parts:
    return tuple(reg.RegTensor(asc.float32) for _ in range(parts))


def load_widened(dst: Register, source: Pointer, mask: Mask) -> None:
    """64 elements at `source` as float32; of 16-bit ones only the lanes of `mask`, the others become 0."""
    if source.dtype is asc.float32:
        reg.load_align(dst, source)
        return
    narrow = reg.RegTensor(source.dtype)
    reg.load_align(narrow, source, dist=reg.LoadDist.DIST_UNPACK_B16)
    reg.cast(dst, narrow, mask, reg.CastTrait(round_mode=asc.RoundMode.CAST_NONE))


def store_narrowed(dst: Pointer, source: Register, mask: Mask) -> None:
    """The lanes of `mask` to `dst` in its dtype, rounded half to even; too large ones become infinite."""
    if dst.dtype is asc.float32:
        reg.store_align(dst, source, mask)
        return
    narrow = reg.RegTensor(dst.dtype)
    reg.cast(narrow, source, mask, reg.CastTrait(round_mode=asc.RoundMode.CAST_RINT))
    reg.store_align(dst, narrow, mask, dist=reg.StoreDist.DIST_PACK_B32)


def load_two(dst: Registers, source: Pointer, masks: Masks) -> None:
    """128 elements into two registers."""
    load_widened(dst[0], source, masks[0])
    load_widened(dst[1], source + LANES, masks[1])


def store_two(dst: Pointer, source: Registers, masks: Masks) -> None:
    store_narrowed(dst, source[0], masks[0])
    store_narrowed(dst + LANES, source[1], masks[1])


def load_parts(dst: Parts, source: Pointer, gap: int, mask: Mask) -> None:
    """64 elements of every part; the parts lie `gap` elements apart."""
    for index, register in enumerate(dst):
        load_widened(register, source + index * gap, mask)


def store_parts(dst: Pointer, source: Parts, gap: int, mask: Mask) -> None:
    for index, register in enumerate(source):
        store_narrowed(dst + index * gap, register, mask)


def negate_odd_and_swap(dst: Registers, src: Registers, half: Mask) -> None:
    """dst = -src[1], src[0], -src[3], src[2], ...; `half` masks the pairs."""
    even, odd = registers()
    reg.de_interleave(even, odd, src[0], src[1])
    reg.muls(odd, odd, -1.0, half)
    reg.interleave(dst[0], dst[1], odd, even)


def negate_even_and_swap(dst: Registers, src: Registers, half: Mask) -> None:
    """dst = src[1], -src[0], src[3], -src[2], ...: the other way round; `half` masks the pairs."""
    even, odd = registers()
    reg.de_interleave(even, odd, src[0], src[1])
    reg.muls(even, even, -1.0, half)
    reg.interleave(dst[0], dst[1], odd, even)


def rotate_two(x: Registers, cos: Registers, sin: Registers, masks: Masks, half: Mask) -> None:
    """cos = x * cos + rot(x) * sin, each product and the sum rounded: no instruction fuses them."""
    reg.mul(cos[0], cos[0], x[0], masks[0])
    reg.mul(cos[1], cos[1], x[1], masks[1])
    negate_odd_and_swap(x, x, half)
    reg.mul(sin[0], sin[0], x[0], masks[0])
    reg.add(cos[0], cos[0], sin[0], masks[0])
    reg.mul(sin[1], sin[1], x[1], masks[1])
    reg.add(cos[1], cos[1], sin[1], masks[1])


def rotate_one(x: Registers, cos: Register, sin: Register, mask: Mask, written: bool) -> None:
    """`rotate_two` for x[0] alone, of at most 64 elements.

    DeInterleave and Interleave take two registers all the same. What the second holds goes nowhere; where nothing has
    been `written` to it yet, the first stands in.
    """
    reg.mul(cos, cos, x[0], mask)
    negate_odd_and_swap(x, x if written else (x[0], x[0]), mask)
    reg.mul(sin, sin, x[0], mask)
    reg.add(cos, cos, sin, mask)


def rotate_back_two(g: Registers, cos: Registers, sin: Registers, masks: Masks, half: Mask) -> None:
    """cos = g * cos plus g * sin of the pair's other element, negated in odd places: the gradient of `rotate_two`."""
    reg.mul(cos[0], cos[0], g[0], masks[0])
    reg.mul(cos[1], cos[1], g[1], masks[1])
    reg.mul(sin[0], sin[0], g[0], masks[0])
    reg.mul(sin[1], sin[1], g[1], masks[1])
    negate_even_and_swap(sin, sin, half)
    reg.add(cos[0], sin[0], cos[0], masks[0])
    reg.add(cos[1], sin[1], cos[1], masks[1])


def pairs_of(parts: Parts) -> tuple[tuple[int, int], ...]:
    """Which parts rotate with each other: 0 with 1, 2 with 3."""
    return tuple((first, first + 1) for first in range(0, len(parts), 2))


def rotate_parts(out: Parts, x: Parts, cos: Parts, sin: Parts, mask: Mask) -> None:
    """Of a pair of parts a and b: out[a] = x[a] * cos[a] - x[b] * sin[a], out[b] = x[a] * sin[b] + x[b] * cos[b].

    The products with sines of all pairs come first.
    """
    for a, b in pairs_of(x):
        reg.mul(sin[a], sin[a], x[b], mask)
        reg.mul(out[b], sin[b], x[a], mask)
    for a, b in pairs_of(x):
        reg.mul(cos[a], cos[a], x[a], mask)
        reg.sub(out[a], cos[a], sin[a], mask)
        reg.mul(cos[b], cos[b], x[b], mask)
        reg.add(out[b], out[b], cos[b], mask)


def rotate_parts_by_pairs(out: Parts, x: Parts, cos: Parts, sin: Parts, mask: Mask) -> None:
    """`rotate_parts`, one pair of parts after the other."""
    for a, b in pairs_of(x):
        reg.mul(cos[a], x[a], cos[a], mask)
        reg.mul(sin[a], x[b], sin[a], mask)
        reg.sub(out[a], cos[a], sin[a], mask)
        reg.mul(cos[b], x[b], cos[b], mask)
        reg.mul(sin[b], sin[b], x[a], mask)
        reg.add(out[b], cos[b], sin[b], mask)


def rotate_back_parts(out: Parts, g: Parts, cos: Parts, sin: Parts, mask: Mask) -> None:
    """The gradient of `rotate_parts`: out[a] = g[a] * cos[a] + g[b] * sin[b], out[b] = g[b] * cos[b] - g[a] * sin[a].

    `out` may be `cos`.
    """
    for a, b in pairs_of(g):
        reg.mul(out[a], cos[a], g[a], mask)
        reg.mul(sin[b], sin[b], g[b], mask)
        reg.add(out[a], out[a], sin[b], mask)
        reg.mul(sin[a], sin[a], g[a], mask)
        reg.mul(cos[b], cos[b], g[b], mask)
        reg.sub(out[b], cos[b], sin[a], mask)


def rotate_woven(
    out: Registers, x: Registers, cos: Registers, sin: Registers, mask: Mask, written: bool = True
) -> None:
    """Pairs of neighbours in x; of cos, sin and the result a register each for the halves of the line.

    `out` may be `cos`. Where nothing has been `written` to the second register of x, the first stands in: what it holds
    goes nowhere.
    """
    even, odd = x
    reg.de_interleave(even, odd, x[0], x[1] if written else x[0])
    reg.mul(out[0], cos[0], even, mask)
    reg.mul(out[1], cos[1], odd, mask)
    reg.muls(odd, odd, -1.0, mask)
    reg.mul(sin[0], sin[0], odd, mask)
    reg.add(out[0], out[0], sin[0], mask)
    reg.mul(sin[1], sin[1], even, mask)
    reg.add(out[1], out[1], sin[1], mask)


class LineMasks:
    """Masks of a line of `length` elements, 128 a round: UpdateMask counts down for either register and for the pairs.

    Made anew for every line, in front of the loop over its rounds.
    """

    def __init__(self, length: int) -> None:
        before = (self.rounds(length) - 1) * LANES  # what each register gets in the rounds before the last
        rest = length - 2 * before
        self.first = reg.Counter(before + min(rest, LANES))
        self.second = reg.Counter(before + max(rest - LANES, 0))
        self.half = reg.Counter(length // 2)

    @staticmethod
    def rounds(length: int) -> int:
        return -(-length // TWO)

    def next(self) -> tuple[Masks, Mask]:
        """(masks of the two registers, mask of the pairs) of the next round."""
        half = reg.update_mask(asc.float32, self.half)
        first, second = reg.update_mask(asc.float32, self.first), reg.update_mask(asc.float32, self.second)
        return (first, second), half
