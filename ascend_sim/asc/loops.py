"""Loops, arrays and compile-time checks of kernels."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import Any

from ascend_sim.asc.plain import data_type, integer, shown
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.scalars import SCALARS, Int32, UnknownScalar
from ascend_sim.errors import KernelError
from ascend_sim.isa.dtypes import DataType

__all__ = [
    "DEFAULT_C0_SIZE",
    "ONE_BLK_SIZE",
    "TOTAL_L0C_SIZE",
    "TOTAL_L1_SIZE",
    "array",
    "property",
    "range",
    "static_assert",
    "static_range",
]


class range:  # noqa: A001, N801 - pyasc's name
    """`asc.range(stop)`, `(start, stop)`, `(start, stop, step)`: a loop whose index is a run-time int32.

    Inside a vector function it is a hardware loop: its body runs once in Python, for all rounds.
    """

    def __init__(self, *bounds: Any) -> None:
        if not 1 <= len(bounds) <= 3:
            raise KernelError(f"asc.range takes (stop), (start, stop) or (start, stop, step), not {len(bounds)} values")
        start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
        self.start, self.stop, self.step = (integer("asc.range: a bound", bound) for bound in (start, stop, step))
        if self.step <= 0:
            raise KernelError(f"asc.range: step is {self.step}, must be at least 1")

    def __iter__(self) -> Iterator[Any]:
        if RECORDER.vf is not None:
            found: Iterator[Any] = RECORDER.vf.loop(self.start, self.stop, self.step)
            return found
        return map(Int32, _python_range(self.start, self.stop, self.step))

    def __len__(self) -> int:
        return len(_python_range(self.start, self.stop, self.step))


_python_range = builtins.range


class static_range(range):  # noqa: N801 - pyasc's name
    """`asc.range`, unrolled by the compiler: the index is a Python int."""

    def __iter__(self) -> Iterator[int]:
        return iter(_python_range(self.start, self.stop, self.step))


def static_assert(test: Any, message: str | None = None) -> None:
    """Stop the kernel unless `test` holds; `test` must be known at compile time."""
    try:
        holds = bool(test)
    except ValueError:  # an array
        raise KernelError(f"static_assert takes a condition, not {type(test).__name__}") from None
    if not holds:
        raise KernelError(f"static_assert failed{'' if message is None else f': {message}'}")


class array:  # noqa: N801 - pyasc's name
    """`asc.array(dtype, length, fill_value=None)` or `asc.array(dtype, values)`: a small stack array."""

    __slots__ = ("_items", "dtype")

    def __init__(self, dtype: DataType, values: int | Sequence[Any], fill_value: Any = None) -> None:
        scalar = SCALARS[data_type("asc.array", dtype)]
        self.dtype = dtype
        if isinstance(values, int):
            if values <= 0:
                raise KernelError(f"asc.array: length is {values}, must be at least 1")
            self._items = [scalar.wrap(0 if fill_value is None else fill_value)] * int(values)
        else:
            try:
                items = iter(values)
            except TypeError:
                raise KernelError(f"asc.array takes a length or a list of values, not {shown(values)}") from None
            self._items = [v if isinstance(v, UnknownScalar) else scalar.wrap(v) for v in items]

    def _index(self, index: Any) -> int:
        position = integer("asc.array: index", index)
        if not 0 <= position < len(self._items):
            raise KernelError(
                f"asc.array: index {position} is outside the array, allowed are 0..{len(self._items) - 1}"
            )
        return position

    def __getitem__(self, index: Any) -> Any:
        return self._items[self._index(index)]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._items[self._index(index)] = value if isinstance(value, UnknownScalar) else SCALARS[self.dtype].wrap(value)

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __repr__(self) -> str:
        return f"asc.array({self.dtype!r}, {self._items!r})"


class Property(IntEnum):
    """Device constants that `asc.property` gives."""

    DEFAULT_C0_SIZE = 0
    ONE_BLK_SIZE = 1
    TOTAL_L0C_SIZE = 2
    TOTAL_L1_SIZE = 3


_PROPERTY_VALUES = {
    Property.DEFAULT_C0_SIZE: 32,
    Property.ONE_BLK_SIZE: 32,
    Property.TOTAL_L0C_SIZE: 128 * 1024,
    Property.TOTAL_L1_SIZE: 512 * 1024,
}
DEFAULT_C0_SIZE = Property.DEFAULT_C0_SIZE
ONE_BLK_SIZE = Property.ONE_BLK_SIZE
TOTAL_L0C_SIZE = Property.TOTAL_L0C_SIZE
TOTAL_L1_SIZE = Property.TOTAL_L1_SIZE


def property(prop: Property) -> int:  # noqa: A001 - pyasc's name
    """A device constant in bytes, as a run-time value."""
    if not isinstance(prop, Property):
        raise KernelError(
            f"asc.property takes one of {', '.join(f'asc.{p.name}' for p in Property)}, not {shown(prop)}"
        )
    return Int32(_PROPERTY_VALUES[prop])
