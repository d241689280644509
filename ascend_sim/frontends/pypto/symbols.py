"""Integers that a kernel only knows when it runs: dynamic dims and loop indices, and what is computed from them.

A `SymbolicScalar` is kept as a sum `constant + coefficient * atom + ...`, an atom being a symbol or an operation on
other scalars that is not linear (min, max, //, %, a product, a comparison). So `(8 * i + 8) - 8 * i` is the plain 8
again, which is how slices get their sizes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, Union

from ascend_sim.frontends.pypto.errors import FeTypeError
from ascend_sim.frontends.pypto.places import is_own_frame

Scalar = Union[int, "SymbolicScalar"]
Env = Mapping["Symbol", Any]  # values of symbols: plain ints, or the core's run-time scalars
Bounds = tuple[int | None, int | None]  # inclusive; None: not known
Key = int | tuple[int, frozenset[Any]]


class Symbol:
    """A dynamic dim or a loop index; `low` and `high` are inclusive bounds where they are known.

    `last` is an upper bound that is itself only known when the kernel runs: a loop's last index.
    """

    __slots__ = ("high", "last", "low", "name")

    def __init__(
        self, name: str, low: int | None = None, high: int | None = None, last: SymbolicScalar | None = None
    ) -> None:
        self.name = name
        self.low = low
        self.high = high
        self.last = last

    def value(self, env: Env) -> Any:
        return env[self]

    def bounds(self) -> Bounds:
        return self.low, self.high

    def symbols(self) -> frozenset[Symbol]:
        return frozenset((self,))

    def __repr__(self) -> str:
        return self.name


class Operation:
    """A non-linear operation; equal by what it computes, so that equal atoms add up."""

    __slots__ = ("key", "left", "name", "right")

    def __init__(self, name: str, left: Scalar, right: Scalar) -> None:
        self.name = name
        self.left = left
        self.right = right
        self.key = (name, key_of(left), key_of(right))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Operation) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def value(self, env: Env) -> Any:
        return _COMPUTE[self.name](value_of(self.left, env), value_of(self.right, env))

    def bounds(self) -> Bounds:
        """Bounds of min, max and // by a positive constant; of anything else nothing is known."""
        (low0, high0), (low1, high1) = bounds_of(self.left), bounds_of(self.right)
        if self.name in ("min", "max"):
            pick = min if self.name == "min" else max
            lows, highs = (low0, low1), (high0, high1)
            if self.name == "min":
                return _both(pick, lows), _either(pick, highs)
            return _either(pick, lows), _both(pick, highs)
        if self.name == "//" and isinstance(self.right, int) and self.right > 0:
            return tuple(None if end is None else end // self.right for end in (low0, high0))  # type: ignore[return-value]
        return None, None

    def symbols(self) -> frozenset[Symbol]:
        return symbols_of(self.left) | symbols_of(self.right)

    def __repr__(self) -> str:
        if self.name in ("min", "max"):
            return f"{self.name}({self.left}, {self.right})"
        return f"({_bracketed(self.left)} {self.name} {_bracketed(self.right)})"


def _bracketed(scalar: Scalar) -> str:
    """A sum in brackets."""
    is_sum = isinstance(scalar, SymbolicScalar) and len(scalar.terms) + bool(scalar.constant) > 1
    return f"({scalar})" if is_sum else str(scalar)


def _both(pick: Callable[..., int], ends: tuple[int | None, int | None]) -> int | None:
    """An end that needs both operands' ends."""
    return None if ends[0] is None or ends[1] is None else pick(ends[0], ends[1])


def _either(pick: Callable[..., int], ends: tuple[int | None, int | None]) -> int | None:
    """An end for which one operand's is enough."""
    known = [end for end in ends if end is not None]
    return pick(known) if known else None


Atom = Symbol | Operation
_COMPUTE: dict[str, Callable[[Any, Any], Any]] = {
    "min": min,
    "max": max,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def _operation(name: str, left: Scalar, right: Scalar) -> SymbolicScalar:
    return SymbolicScalar.of(Operation(name, left, right))


class SymbolicScalar:
    """See the module's text. Comparisons build conditions, as in PyPTO; `key_of` tells equal sums."""

    __slots__ = ("constant", "terms")

    def __init__(self, constant: int, terms: tuple[tuple[Atom, int], ...]) -> None:
        self.constant = constant
        self.terms = terms  # in order of first appearance, no zero coefficients

    @classmethod
    def of(cls, atom: Atom) -> SymbolicScalar:
        return cls(0, ((atom, 1),))

    def min(self, other: Scalar) -> Scalar:
        """The smaller of the two."""
        return minimum(self, other)

    def max(self, other: Scalar) -> Scalar:
        """The larger of the two."""
        return -minimum(-self, -other) if isinstance(other, int) else _operation("max", self, _checked(other))

    def __add__(self, other: Scalar) -> Scalar:
        return _sum(self, _checked(other), 1)

    def __sub__(self, other: Scalar) -> Scalar:
        return _sum(self, _checked(other), -1)

    def __rsub__(self, other: Scalar) -> Scalar:
        return _sum(_checked(other), self, -1)

    def __neg__(self) -> Scalar:
        return _sum(0, self, -1)

    def __mul__(self, other: Scalar) -> Scalar:
        factor = _checked(other)
        if isinstance(factor, int):
            return _sum(0, self, factor)
        return _operation("*", self, factor)

    def __floordiv__(self, other: Scalar) -> Scalar:
        divisor = _checked(other)
        if isinstance(divisor, int) and divisor == 1:
            return self
        return _operation("//", self, divisor)

    def __rfloordiv__(self, other: Scalar) -> Scalar:
        return _operation("//", _checked(other), self)

    def __mod__(self, other: Scalar) -> Scalar:
        return _operation("%", self, _checked(other))

    def __rmod__(self, other: Scalar) -> Scalar:
        return _operation("%", _checked(other), self)

    __radd__ = __add__
    __rmul__ = __mul__

    def __lt__(self, other: Scalar) -> SymbolicScalar:
        return _operation("<", self, _checked(other))

    def __le__(self, other: Scalar) -> SymbolicScalar:
        return _operation("<=", self, _checked(other))

    def __gt__(self, other: Scalar) -> SymbolicScalar:
        return _operation(">", self, _checked(other))

    def __ge__(self, other: Scalar) -> SymbolicScalar:
        return _operation(">=", self, _checked(other))

    def __eq__(self, other: object) -> Any:
        return _operation("==", self, _checked(other))

    def __ne__(self, other: object) -> Any:
        return _operation("!=", self, _checked(other))

    __hash__ = None  # type: ignore[assignment]  # `==` builds a condition; `key_of` is for dictionaries

    def __bool__(self) -> bool:
        if is_own_frame(sys._getframe(1)):
            raise AssertionError(f"the front end compares {self} by ==; key_of tells equal scalars")
        if not DECIDE:
            raise self._refusal("an if or while outside a pypto.loop")
        return DECIDE[-1](self)

    def __index__(self) -> int:
        raise self._refusal("a list subscript, range() or a shape")

    def __int__(self) -> int:
        raise self._refusal("int()")

    def __truediv__(self, other: object) -> NoReturn:
        raise FeTypeError(f"{self} / {other!r}: symbolic integers have no /, write // for whole quotients")

    def _refusal(self, where: str) -> FeTypeError:
        return FeTypeError(
            f"{self} is only known when the kernel runs, so it cannot stand in {where}: it may bound a pypto.loop and "
            "be part of an offset or a valid_shape"
        )

    def __repr__(self) -> str:
        parts = [f"{atom}" if factor == 1 else f"{factor}*{atom}" for atom, factor in self.terms]
        if self.constant:
            parts.append(str(self.constant))
        return " + ".join(parts).replace("+ -", "- ")


DECIDE: list[Callable[[SymbolicScalar], bool]] = []
"""Innermost last: what answers when a kernel asks `if condition:`; the loops put themselves here."""


def _checked(value: Any) -> Scalar:
    if isinstance(value, SymbolicScalar):
        return value
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise FeTypeError(f"symbolic integers compute with integers, not {type(value).__name__} ({value!r})")
    return int(value)


def _sum(a: Scalar, b: Scalar, factor: int) -> Scalar:
    """a + factor * b."""
    terms: dict[Atom, int] = dict(a.terms) if isinstance(a, SymbolicScalar) else {}
    constant = a.constant if isinstance(a, SymbolicScalar) else a
    if isinstance(b, SymbolicScalar):
        constant += factor * b.constant
        for atom, count in b.terms:
            terms[atom] = terms.get(atom, 0) + factor * count
    else:
        constant += factor * b
    left = tuple((atom, count) for atom, count in terms.items() if count)
    return SymbolicScalar(constant, left) if left else constant


def symbolic_scalar(value: Scalar) -> Scalar:
    """`pypto.symbolic_scalar(8)`: a number where PyPTO takes numbers and symbolic integers alike."""
    return _checked(value)


def smaller(a: Scalar, b: Scalar) -> Scalar:
    """`pypto.min`: the smaller of two integers, plain or symbolic."""
    return minimum(_checked(a), _checked(b))


def larger(a: Scalar, b: Scalar) -> Scalar:
    """`pypto.max`: the larger of two integers, plain or symbolic."""
    return -minimum(-_checked(a), -_checked(b))


def ceildiv(a: Scalar, b: Scalar) -> Scalar:
    """`pypto.ceildiv`: a / b, rounded up."""
    return (_checked(a) + _checked(b) - 1) // _checked(b)


def minimum(a: Scalar, b: Scalar) -> Scalar:
    """The smaller of two scalars: one of them, where their bounds tell."""
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    low, high = bounds_of(_sum(a, b, -1))
    if high is not None and high <= 0:
        return a
    if low is not None and low >= 0:
        return b
    return _operation("min", a, b)


def bounds_of(scalar: Scalar) -> Bounds:
    """Inclusive bounds, as far as the symbols' bounds tell."""
    if isinstance(scalar, int):
        return scalar, scalar
    low, high = _ends(scalar)
    if low is None and (least := _with_last_indices(scalar, -1)) is not None:
        low, _ = bounds_of(least)
    if high is None and (most := _with_last_indices(scalar, 1)) is not None:
        _, high = bounds_of(most)
    return low, high


def _with_last_indices(scalar: SymbolicScalar, sign: int) -> Scalar | None:
    """The scalar where loop indices whose factor has this sign stand at their last value; None if there are none."""
    found: Scalar = scalar
    for atom, factor in scalar.terms:
        if isinstance(atom, Symbol) and atom.last is not None and factor * sign > 0:
            found = found + (atom.last - SymbolicScalar.of(atom)) * factor
    return None if found is scalar else found


def _ends(scalar: SymbolicScalar) -> Bounds:
    """Bounds by whole numbers alone."""
    low: int | None = scalar.constant
    high: int | None = scalar.constant
    for atom, factor in scalar.terms:
        ends = atom.bounds()
        below, above = ends if factor > 0 else ends[::-1]
        low = None if low is None or below is None else low + factor * below
        high = None if high is None or above is None else high + factor * above
    return low, high


def symbols_of(scalar: Scalar) -> frozenset[Symbol]:
    """Every symbol that the scalar depends on."""
    if isinstance(scalar, int):
        return frozenset()
    return frozenset().union(*(atom.symbols() for atom, _ in scalar.terms))


def value_of(scalar: Scalar, env: Env) -> Any:
    """The scalar's value; run-time scalars in `env` charge the operations to the core's scalar unit."""
    if isinstance(scalar, int):
        return scalar
    total: Any = None
    for atom, factor in scalar.terms:
        value = atom.value(env)
        if factor != 1:
            value = value * factor
        total = value if total is None else total + value
    return total + scalar.constant if scalar.constant else total


def key_of(scalar: Scalar) -> Key:
    """What stands for the scalar in dictionaries and comparisons: equal for equal sums."""
    return scalar if isinstance(scalar, int) else (scalar.constant, frozenset(scalar.terms))
