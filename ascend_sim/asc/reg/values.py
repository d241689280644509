"""What registers hold while a vector function is evaluated.

An instruction inside loops is evaluated once for all rounds: arrays have one axis per loop around it (of length 1 where
the value does not depend on the loop) and the lanes last.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.asc.reg.registers import REGISTER_BYTES
from ascend_sim.asc.reg.trace import Path
from ascend_sim.isa.dtypes import DataType, bfloat16, float16
from ascend_sim.isa.numeric import flush_subnormals

Array = npt.NDArray[Any]
Flags = npt.NDArray[np.bool_]


def wide_of(dtype: DataType) -> np.dtype[Any]:
    """The numpy type that arithmetic on `dtype` is done in before it is rounded once."""
    return np.dtype(np.float32) if dtype in (float16, bfloat16) else dtype.numpy


class Value:
    """A vector register. Lane `phase + k * gap` holds `data[..., k]`, the lanes between hold 0 (`gap` 1: all lanes).

    Widened and narrowed data lie so (half values in every second lane), and most code casts or packs them at once, so
    the zeros are rarely built.
    """

    __slots__ = ("_flushed", "data", "gap", "phase")

    def __init__(self, data: Array, gap: int = 1, phase: int = 0, clean: bool = False) -> None:
        self.data = data
        self.gap = gap
        self.phase = phase
        self._flushed = clean  # no subnormals inside

    def full(self) -> Array:
        """All lanes."""
        if self.gap > 1:
            data = self.data
            whole = np.zeros((*data.shape[:-1], REGISTER_BYTES // data.dtype.itemsize), data.dtype)
            whole[..., self.phase :: self.gap] = data
            self.data, self.gap, self.phase = whole, 1, 0
        return self.data

    def raw(self, dtype: np.dtype[Any]) -> Array:
        """All lanes, as elements of `dtype`, bit for bit."""
        data = self.full()
        return data if data.dtype == dtype else np.ascontiguousarray(data).view(dtype)

    def numbers(self, dtype: np.dtype[Any]) -> Array:
        """All lanes as operands of arithmetic: subnormal floats are zeros."""
        data = self.raw(dtype)
        if self._flushed:
            return data
        flushed = flush_subnormals(data)
        if flushed is data and data.dtype == self.data.dtype:
            self._flushed = True
        return flushed

    def lanes(self, dtype: np.dtype[Any], gap: int, phase: int) -> Array:
        """Lanes `phase`, `phase + gap`, ... as operands of arithmetic."""
        if gap == self.gap and phase == self.phase and self.data.dtype == dtype:
            return self.data if self._flushed else flush_subnormals(self.data)
        return self.numbers(dtype)[..., phase::gap]

    def moved(self, source: Path, target: Path) -> Value:
        """The value as instructions under the loops `target` see it, when it was computed under `source`."""
        if source is target or source == target:
            return self
        return Value(move_axes(self.data, source, target), self.gap, self.phase, self._flushed)


class Mask:
    """A mask register: one flag per `size` bytes (`flags[..., k]`), or None when all are set."""

    __slots__ = ("flags", "size")

    def __init__(self, flags: Flags | None, size: int) -> None:
        self.flags = None if flags is None or flags.all() else flags
        self.size = size

    def lanes(self, size: int) -> Flags | None:
        """Active lanes of `size` bytes; None: all. A lane is active when the bit of its first byte is set."""
        flags = self.flags
        if size == self.size:
            return flags
        if size > self.size:
            return None if flags is None else flags[..., :: size // self.size]
        shape = () if flags is None else flags.shape[:-1]
        spread = np.zeros((*shape, REGISTER_BYTES // size), np.bool_)
        spread[..., :: self.size // size] = True if flags is None else flags
        return spread

    def moved(self, source: Path, target: Path) -> Mask:
        if self.flags is None or source is target or source == target:
            return self
        return Mask(move_axes(self.flags, source, target), self.size)


def move_axes(array: Array, source: Path, target: Path) -> Array:
    """From the axes of loops `source` to those of `target`: loops that have ended left their last round's value."""
    common = 0
    for ours, theirs in zip(source, target, strict=False):
        if ours is not theirs:
            break
        common += 1
    if len(source) > common:
        array = array[(slice(None),) * common + (-1,) * (len(source) - common)]
    missing = len(target) - common
    return array.reshape(*array.shape[:common], *(1,) * missing, *array.shape[common:]) if missing else array


def blend(active: Flags | None, new: Array, old: Array | None) -> Array:
    """`new` in active lanes, else `old` (None: zero)."""
    if active is None:
        return new
    return np.where(active, new, new.dtype.type(0) if old is None else old)
