"""Run-time scalars: Python numbers that compute as the scalar unit does.

Integers wrap to their width, `/` and `//` truncate towards zero, `%` has the sign of the dividend, and the result has
the type of the left operand (facts: pyasc's PlainValue). Floats round to their type after every operation.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NoReturn

from ascend_sim.asc.plain import data_type, integer, real, shown
from ascend_sim.asc.recorder import CALL_UNIT, RECORDER
from ascend_sim.errors import ArgumentError, KernelError
from ascend_sim.isa import dtypes
from ascend_sim.isa.dtypes import DataType
from ascend_sim.program import ScalarCall

__all__ = ["ceildiv", "number"]

_ALU = CALL_UNIT[ScalarCall.ALU]
_ALU_FULL = _ALU << 15  # a loop of scalar work alone saturates the counter here, short of the next kind's bits
_DIVISION = CALL_UNIT[ScalarCall.DIVISION]
_DIVISION_FULL = _DIVISION << 15

_SEQUENCES = (list, tuple, str, bytes)  # `[0] * n` repeats
_int_new = int.__new__
_int_add = int.__add__
_int_sub = int.__sub__
_int_mul = int.__mul__


class IntScalar(int):
    """An integer of a fixed width; make one with `asc.number(value, dtype)`."""

    __slots__ = ()
    dtype: ClassVar[DataType]
    low: ClassVar[int]
    high: ClassVar[int]

    @classmethod
    def wrap(cls, value: Any) -> IntScalar:
        """`value` as this type: floats are truncated, then the low bits are kept."""
        whole = value if value.__class__ is int else _truncated(cls.dtype, value)
        if not cls.low <= whole <= cls.high:
            whole = (whole - cls.low) % (cls.high - cls.low + 1) + cls.low
        return _int_new(cls, whole)

    def _alu(self, value: int) -> IntScalar:
        """The result of one ALU operation, charged to the next instruction."""
        if not RECORDER.pending & _ALU_FULL:
            RECORDER.pending += _ALU
        if self.low <= value <= self.high:
            return _int_new(type(self), value)
        return self.wrap(value)

    def _divide(self, dividend: IntScalar, divisor: IntScalar) -> tuple[IntScalar, IntScalar]:
        if not RECORDER.pending & _DIVISION_FULL:
            RECORDER.pending += _DIVISION
        if not int(divisor):
            raise KernelError(f"division of {int(dividend)} by zero ({self.dtype!r})")
        quotient = abs(int(dividend)) // abs(int(divisor))
        if (dividend < 0) != (divisor < 0):
            quotient = -quotient
        return self.wrap(quotient), self.wrap(int(dividend) - quotient * int(divisor))

    def __add__(self, other: Any) -> IntScalar:
        return self._alu(_int_add(self, other if isinstance(other, int) else self.wrap(other)))

    def __radd__(self, other: Any) -> IntScalar:
        return self._alu(_int_add(self.wrap(other), self))

    def __sub__(self, other: Any) -> IntScalar:
        return self._alu(_int_sub(self, other if isinstance(other, int) else self.wrap(other)))

    def __rsub__(self, other: Any) -> IntScalar:
        return self._alu(_int_sub(self.wrap(other), self))

    def __mul__(self, other: Any) -> IntScalar:
        if isinstance(other, _SEQUENCES):
            return NotImplemented
        return self._alu(_int_mul(self, other if isinstance(other, int) else self.wrap(other)))

    def __rmul__(self, other: Any) -> IntScalar:
        if isinstance(other, _SEQUENCES):
            return NotImplemented
        return self._alu(_int_mul(self.wrap(other), self))

    def __truediv__(self, other: Any) -> IntScalar:
        return self._divide(self, self.wrap(other))[0]

    def __rtruediv__(self, other: Any) -> IntScalar:
        return self._divide(self.wrap(other), self)[0]

    def __floordiv__(self, other: Any) -> IntScalar:
        return self._divide(self, self.wrap(other))[0]

    def __rfloordiv__(self, other: Any) -> IntScalar:
        return self._divide(self.wrap(other), self)[0]

    def __mod__(self, other: Any) -> IntScalar:
        return self._divide(self, self.wrap(other))[1]

    def __rmod__(self, other: Any) -> IntScalar:
        return self._divide(self.wrap(other), self)[1]

    def _bits(self, count: Any) -> int:
        """`count` as a number of bits to shift by."""
        bits, width = integer("a shift count", count), 8 * self.dtype.itemsize
        if not 0 <= bits < width:
            raise KernelError(f"shift of {self.dtype!r} by {bits} bits, allowed are 0..{width - 1}")
        return bits

    def __lshift__(self, other: Any) -> IntScalar:
        return self._alu(int(self) << self._bits(other))

    def __rlshift__(self, other: Any) -> IntScalar:
        return self._alu(int(self.wrap(other)) << self._bits(self))

    def __rshift__(self, other: Any) -> IntScalar:
        return self._alu(int(self) >> self._bits(other))

    def __rrshift__(self, other: Any) -> IntScalar:
        return self._alu(int(self.wrap(other)) >> self._bits(self))

    def __and__(self, other: Any) -> IntScalar:
        return self._alu(int(self) & int(self.wrap(other)))

    def __or__(self, other: Any) -> IntScalar:
        return self._alu(int(self) | int(self.wrap(other)))

    def __xor__(self, other: Any) -> IntScalar:
        return self._alu(int(self) ^ int(self.wrap(other)))

    __rand__ = __and__
    __ror__ = __or__
    __rxor__ = __xor__

    def __neg__(self) -> IntScalar:
        return self._alu(-int(self))

    def __pos__(self) -> IntScalar:
        return self

    def __pow__(self, *_: Any) -> NoReturn:
        raise KernelError("run-time scalars have no **: multiply instead (pyasc rejects it too)")

    def __invert__(self) -> NoReturn:
        raise KernelError("run-time scalars have no ~: write value ^ -1 instead (pyasc rejects it too)")

    def ceildiv(self, divisor: Any) -> IntScalar:
        """`(self + divisor - 1) // divisor` in this type's arithmetic."""
        return self.wrap((self + divisor - 1) // divisor)

    def cast(self, dtype: DataType) -> Any:
        """This value as another type: any integer, or a float of the same width."""
        _check_cast(self.dtype, dtype)
        return number(int(self), dtype)

    def __repr__(self) -> str:
        return int.__repr__(self)

    __hash__ = int.__hash__


class FloatScalar(float):
    """A float of a fixed width, rounded to nearest even after every operation."""

    __slots__ = ()
    dtype: ClassVar[DataType]

    @classmethod
    def wrap(cls, value: Any) -> FloatScalar:
        exact = value if value.__class__ is float else real(f"a value of {cls.dtype!r}", value)
        try:
            return float.__new__(cls, float(cls.dtype.numpy.type(exact)))
        except OverflowError:  # an int beyond the range of every float
            raise _no_room(cls.dtype, exact) from None

    def _alu(self, value: float) -> FloatScalar:
        if not RECORDER.pending & _ALU_FULL:
            RECORDER.pending += _ALU
        return self.wrap(value)

    def _divide(self, dividend: float, divisor: float) -> FloatScalar:
        if not RECORDER.pending & _DIVISION_FULL:
            RECORDER.pending += _DIVISION
        if divisor == 0:
            signs = math.copysign(1.0, dividend) * math.copysign(1.0, divisor)
            return self.wrap(math.nan if dividend == 0 or math.isnan(dividend) else signs * math.inf)
        return self.wrap(dividend / divisor)

    def __add__(self, other: Any) -> FloatScalar:
        return self._alu(float(self) + float(self.wrap(other)))

    def __sub__(self, other: Any) -> FloatScalar:
        return self._alu(float(self) - float(self.wrap(other)))

    def __rsub__(self, other: Any) -> FloatScalar:
        return self._alu(float(self.wrap(other)) - float(self))

    def __mul__(self, other: Any) -> FloatScalar:
        return self._alu(float(self) * float(self.wrap(other)))

    def __truediv__(self, other: Any) -> FloatScalar:
        return self._divide(float(self), float(self.wrap(other)))

    def __rtruediv__(self, other: Any) -> FloatScalar:
        return self._divide(float(self.wrap(other)), float(self))

    __radd__ = __add__
    __rmul__ = __mul__
    __floordiv__ = __truediv__  # plain division, as in pyasc
    __rfloordiv__ = __rtruediv__

    def __mod__(self, _: Any) -> NoReturn:
        raise KernelError(f"run-time scalars of {self.dtype!r} have no %")

    __rmod__ = __mod__

    def __neg__(self) -> FloatScalar:
        return self._alu(-float(self))

    def __pos__(self) -> FloatScalar:
        return self

    def cast(self, dtype: DataType) -> Any:
        """This value as another type: any float, or an integer of the same width (truncated)."""
        _check_cast(self.dtype, dtype)
        return number(float(self), dtype)

    def __repr__(self) -> str:
        return float.__repr__(self)

    __hash__ = float.__hash__


def _truncated(dtype: DataType, value: Any) -> int:
    number = real(f"a value of {dtype!r}", value)
    try:
        return int(number)
    except (OverflowError, ValueError):  # inf, NaN
        raise _no_room(dtype, number) from None


def _no_room(dtype: DataType, value: Any) -> KernelError:
    return KernelError(f"{shown(value)} cannot be a value of {dtype!r}")


def _check_cast(source: DataType, target: DataType) -> None:
    data_type("cast of a run-time scalar", target)
    if source.is_float != target.is_float and source.itemsize != target.itemsize:
        raise KernelError(
            f"cast of a run-time scalar from {source!r} to {target!r}: between integers and floats only equal widths "
            "can be cast (pyasc has no other)"
        )


def _scalar_class(dtype: DataType) -> type[Any]:
    name = dtype.name.capitalize()
    if dtype.is_float:
        return type(name, (FloatScalar,), {"__slots__": (), "dtype": dtype})
    bits = 8 * dtype.itemsize
    low, high = (0, (1 << bits) - 1) if dtype.name.startswith("u") else (-(1 << bits - 1), (1 << bits - 1) - 1)
    return type(name, (IntScalar,), {"__slots__": (), "dtype": dtype, "low": low, "high": high})


SCALARS: dict[DataType, type[Any]] = {
    dtype: _scalar_class(dtype) for dtype in vars(dtypes).values() if isinstance(dtype, DataType) and dtype.itemsize
}
Int32: type[IntScalar] = SCALARS[dtypes.int32]


def number(value: Any, dtype: DataType) -> Any:
    """A run-time scalar of type `dtype`: an `int` or `float` that computes as the scalar unit does."""
    if isinstance(value, UnknownScalar):
        return value.cast(dtype)
    scalar = SCALARS[data_type("asc.number", dtype)]
    return scalar.wrap(real("asc.number: value", value))


def ceildiv(x: Any, y: Any) -> Any:
    """`(x + y - 1) // y`, on the host and in kernels."""
    try:
        return (x + y - 1) // y
    except ZeroDivisionError:
        raise ArgumentError(f"asc.ceildiv: division of {shown(x)} by zero") from None
    except (TypeError, ValueError):  # arrays of two shapes
        kinds = f"{type(x).__name__} and {type(y).__name__}"
        raise ArgumentError(f"asc.ceildiv takes two integers, not {kinds}") from None


class UnknownScalar:
    """What `get_value` gives in a run without values: it may be passed on, but nothing can be decided by it."""

    __slots__ = ("dtype",)
    _known: ClassVar[dict[DataType, UnknownScalar]] = {}
    dtype: DataType

    def __new__(cls, dtype: DataType) -> UnknownScalar:
        found = cls._known.get(dtype)
        if found is None:
            found = cls._known[dtype] = super().__new__(cls)
            found.dtype = dtype
        return found

    def cast(self, dtype: DataType) -> UnknownScalar:
        return UnknownScalar(dtype)

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __repr__(self) -> str:
        return f"<unknown {self.dtype.name}>"


def _refuse(operation: str) -> Any:
    def method(self: UnknownScalar, *_: Any) -> NoReturn:
        raise KernelError(
            f"the kernel needs the value of an element of type {self.dtype!r} ({operation}), but this run computes no "
            "values: run it with values"
        )

    return method


_REFUSED = """
    add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod lshift rlshift rshift rrshift and rand or
    ror xor rxor neg pos abs invert pow rpow eq ne lt le gt ge bool int float index round
"""
for _name in _REFUSED.split():
    setattr(UnknownScalar, f"__{_name}__", _refuse(f"__{_name}__"))
UnknownScalar.ceildiv = _refuse("ceildiv")  # type: ignore[attr-defined]
