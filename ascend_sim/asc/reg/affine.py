"""Addresses and counts inside a vector function: numbers that grow by a fixed step per round of each loop around them.

The body of a vector function is traced once, so a loop index stands for all its values. The hardware's address
registers can do no more than this: sums of loop indices times constants.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from ascend_sim.errors import KernelError

if TYPE_CHECKING:
    from ascend_sim.asc.reg.trace import Loop


def _refuse(what: str) -> Any:
    def method(self: Affine, *_: Any) -> NoReturn:
        raise KernelError(
            f"a loop index of a vector function has no {what}: the body is one hardware loop for all rounds; allowed "
            "are +, - and * with whole numbers (addresses); use masks, or asc.static_range to unroll"
        )

    return method


class Affine:
    """`const + sum(step * index of loop)`."""

    __slots__ = ("const", "steps")

    def __init__(self, const: int, steps: Mapping[Loop, int]) -> None:
        self.const = const
        self.steps = {loop: step for loop, step in steps.items() if step}

    @classmethod
    def of(cls, value: Any, what: str) -> Affine:
        """`value` (a whole number or an Affine) as an Affine; `what` names it in a refusal."""
        if isinstance(value, Affine):
            return value
        try:
            return cls(int(operator.index(value)), {})
        except TypeError:
            raise KernelError(f"{what} must be a whole number or a loop index, not {type(value).__name__}") from None

    def _combine(self, other: Any, sign: int) -> Any:
        if not isinstance(other, Affine):
            if not hasattr(other, "__index__"):
                return NotImplemented
            return Affine(self.const + sign * int(other), self.steps)
        steps = dict(self.steps)
        for loop, step in other.steps.items():
            steps[loop] = steps.get(loop, 0) + sign * step
        return Affine(self.const + sign * other.const, steps)

    def __add__(self, other: Any) -> Any:
        return self._combine(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._combine(other, -1)

    def __rsub__(self, other: Any) -> Any:
        return (-self)._combine(other, 1)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Affine):
            if other.steps and self.steps:
                _refuse("product with another index")(self)
            return other * self.const if not self.steps else self * other.const
        if not hasattr(other, "__index__"):
            return NotImplemented
        factor = int(other)
        return Affine(self.const * factor, {loop: step * factor for loop, step in self.steps.items()})

    __rmul__ = __mul__

    def __neg__(self) -> Affine:
        return self * -1  # type: ignore[no-any-return]

    def __pos__(self) -> Affine:
        return self

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __repr__(self) -> str:
        return " + ".join([str(self.const), *(f"{step}*{loop!r}" for loop, step in self.steps.items())])


for _name, _what in {
    "floordiv": "//", "rfloordiv": "//", "truediv": "/", "rtruediv": "/", "mod": "%", "rmod": "%",
    "lshift": "<<", "rshift": ">>", "and": "&", "or": "|", "xor": "^", "index": "value of its own",
    "int": "value of its own", "float": "value of its own", "bool": "truth value (no branches)",
    "eq": "comparisons (no branches)", "ne": "comparisons (no branches)", "lt": "comparisons (no branches)",
    "le": "comparisons (no branches)", "gt": "comparisons (no branches)", "ge": "comparisons (no branches)",
}.items():  # fmt: skip
    setattr(Affine, f"__{_name}__", _refuse(_what))
