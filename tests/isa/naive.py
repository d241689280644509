"""What instructions mean, element by element and as slowly as it takes: plain loops, exact fractions, no numpy maths.

Written from the documents alone, for comparison with the simulator. Values are Python floats (every float16, bfloat16
and float32 is one exactly), integers are Python integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.isa.dtypes import DataType
from ascend_sim.isa.enums import RoundMode

Bytes = npt.NDArray[np.uint8]
Number = float | int

# significand bits, smallest and largest exponent of the leading bit
FORMATS = {"float16": (11, -14, 15), "bfloat16": (8, -126, 127), "float32": (24, -126, 127)}


def load(ub: Bytes, addr: int, dtype: DataType) -> Number:
    """The element at a byte address."""
    value = ub[addr : addr + dtype.itemsize].view(dtype.numpy)[0]
    return float(value) if dtype.is_float else int(value)


def store(ub: Bytes, addr: int, dtype: DataType, value: Number) -> None:
    """Write an element that `dtype` holds exactly; integers keep their low bits."""
    if dtype.is_float:
        ub[addr : addr + dtype.itemsize].view(dtype.numpy)[0] = value
        return
    bits = int(value) & ((1 << 8 * dtype.itemsize) - 1)
    ub[addr : addr + dtype.itemsize] = list(bits.to_bytes(dtype.itemsize, "little"))


@dataclass
class Operand:
    """Where an operand lies: strides in blocks of 32 B."""

    dtype: DataType
    addr: int
    block: int = 1
    repeat: int = 8

    def at(self, repeat: int, lane: int) -> int:
        per_block = 32 // self.dtype.itemsize
        block = repeat * self.repeat + lane // per_block * self.block
        return self.addr + 32 * block + lane % per_block * self.dtype.itemsize


def normal_lanes(lanes: int, repeats: int, mask: int | list[int]) -> Iterator[tuple[int, list[int]]]:
    """(repeat, active lanes) of the Normal mask mode."""
    for repeat in range(repeats):
        if isinstance(mask, int):
            yield repeat, list(range(mask))
        else:
            yield repeat, [lane for lane in range(lanes) if mask[lane // 64] >> lane % 64 & 1]


def counted_lanes(lanes: int, count: int) -> Iterator[tuple[int, list[int]]]:
    """(repeat, active lanes) of the Counter mask mode and of count forms."""
    repeat = 0
    while count > 0:
        yield repeat, list(range(min(lanes, count)))
        count -= lanes
        repeat += 1


class Touched:
    """Bytes that an instruction reads and writes."""

    def __init__(self) -> None:
        self.reads: set[int] = set()
        self.writes: set[int] = set()


def elementwise(
    ub: Bytes,
    lanes: Iterator[tuple[int, list[int]]],
    dst: Operand,
    sources: list[Operand],
    meaning: Callable[..., Number],
) -> Touched:
    """Run an element-wise instruction: repeats in order, each reads all its lanes before it writes."""
    touched = Touched()
    for repeat, active in lanes:
        results = []
        for lane in active:
            values = []
            for source in sources:
                addr = source.at(repeat, lane)
                touched.reads |= set(range(addr, addr + source.dtype.itemsize))
                values.append(load(ub, addr, source.dtype))
            results.append((dst.at(repeat, lane), meaning(*values)))
        for addr, value in results:
            touched.writes |= set(range(addr, addr + dst.dtype.itemsize))
            store(ub, addr, dst.dtype, value)
    return touched


def exact(value: Number) -> Fraction | None:
    """The value as a fraction; None for infinities and NaN."""
    return Fraction(value) if math.isfinite(value) else None


def round_whole(value: Fraction, mode: RoundMode) -> int:
    """A fraction as a whole number."""
    down = math.floor(value)
    rest = value - down
    if mode is RoundMode.CAST_FLOOR or rest == 0:
        return down
    if mode is RoundMode.CAST_CEIL:
        return down + 1
    if mode is RoundMode.CAST_TRUNC:
        return down + (value < 0)
    if rest != Fraction(1, 2):
        return down + (rest > Fraction(1, 2))
    if mode is RoundMode.CAST_ROUND:
        return down + (value > 0)
    return down + down % 2


def round_float(value: Fraction, dtype: DataType, mode: RoundMode = RoundMode.CAST_RINT, zero: float = 0.0) -> float:
    """A fraction as the float of `dtype` that the mode chooses; overflow as IEEE 754 has it. `zero` signs a zero."""
    if value == 0:
        return zero
    digits, low, high = FORMATS[dtype.name]
    size = abs(value)
    exponent = max(_exponent(size), low)
    step = Fraction(2) ** (exponent - digits + 1)
    if mode is RoundMode.CAST_ODD:
        whole = math.floor(size / step)
        whole += whole * step != size and whole % 2 == 0
    else:
        whole = abs(round_whole(value / step, mode))
    result = whole * step
    if result >= Fraction(2) ** (high + 1):
        towards_zero = mode in (RoundMode.CAST_TRUNC, RoundMode.CAST_ODD)
        towards_zero |= mode is (RoundMode.CAST_FLOOR if value > 0 else RoundMode.CAST_CEIL)
        largest = float((2 - Fraction(2) ** (1 - digits)) * Fraction(2) ** high)
        return math.copysign(largest if towards_zero else math.inf, value)
    return math.copysign(float(result), value)


def _exponent(size: Fraction) -> int:
    """floor(log2(size)), exactly."""
    guess = size.numerator.bit_length() - size.denominator.bit_length()
    while Fraction(2) ** guess > size:
        guess -= 1
    while Fraction(2) ** (guess + 1) <= size:
        guess += 1
    return guess


def ieee(operation: Callable[..., Fraction], special: Callable[..., float], dtype: DataType) -> Callable[..., float]:
    """An arithmetic operation rounded once: exact on fractions, `special` (float64) where that is no fraction."""

    def compute(*values: float) -> float:
        fractions = [exact(value) for value in values]
        with np.errstate(all="ignore"):
            rough = float(special(*(np.float64(value) for value in values)))
        if None in fractions or not math.isfinite(rough):
            return rough
        return round_float(operation(*fractions), dtype, zero=rough if rough == 0 else 0.0)

    return compute


def same(a: Bytes, b: Bytes, dtype: DataType | None = None) -> bool:
    """Equal bytes, except that every NaN equals every other when `dtype` is a float."""
    if dtype is None or not dtype.is_float:
        return bool((a == b).all())
    x, y = a.view(dtype.numpy), b.view(dtype.numpy)
    bits = f"u{dtype.itemsize}"
    both_nan = np.isnan(x) & np.isnan(y)
    return bool(((x.view(bits) == y.view(bits)) | both_nan).all())


def data(dtype: DataType, count: int, seed: int) -> Any:
    """Elements of every kind: random bits, moderate values, the special ones."""
    rng = np.random.default_rng(seed)
    raw = rng.integers(0, 256, count * dtype.itemsize, np.uint8).view(dtype.numpy)
    if not dtype.is_float:
        return raw
    moderate = (rng.standard_normal(count) * 10.0 ** rng.integers(-3, 4, count)).astype(dtype.numpy)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5], dtype.numpy)
    kind = rng.integers(0, 4, count)
    return np.where(kind == 0, raw, np.where(kind == 3, rng.choice(special, count), moderate))
