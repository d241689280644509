"""Registers of the 950's vector unit: RegTensor (256 B), MaskReg (a bit per byte of a register), element counters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum, IntEnum
from typing import Any

from ascend_sim.asc.reg.affine import Affine
from ascend_sim.asc.reg.trace import Loop, Node, Path, body_of
from ascend_sim.errors import KernelError
from ascend_sim.isa.dtypes import DataType

REGISTER_BYTES = 256
REGISTERS = 32  # soc_specs 2.6
MASK_REGISTERS = 8


class MaskMergeMode(IntEnum):
    """What inactive lanes of a destination get: zero, or what they held."""

    ZEROING = 0
    MERGING = 1


class MaskPattern(Enum):
    """Which lanes `create_mask` makes active: all, none, the first n, every third or fourth, a half, a quarter."""

    ALL = "all"
    ALLF = "none"
    VL1 = 1
    VL2 = 2
    VL3 = 3
    VL4 = 4
    VL8 = 8
    VL16 = 16
    VL32 = 32
    VL64 = 64
    VL128 = 128
    M3 = "third"
    M4 = "fourth"
    H = "half"
    Q = "quarter"


class RegTensor:
    """A vector register of `dtype` elements: 256 B, so 64 float32 or 128 float16 lanes.

    Made inside a vector function, where it is a variable: the compiler gives it one of the 32 registers while its value
    is needed.
    """

    __slots__ = ("body", "dtype", "slot")

    def __init__(self, dtype: DataType) -> None:
        if not isinstance(dtype, DataType) or not dtype.itemsize:
            raise KernelError(f"RegTensor takes a numeric data type such as asc.float32, not {dtype!r}")
        self.body = body_of("RegTensor")
        self.dtype = dtype
        self.slot = self.body.slot("v")

    @property
    def lanes(self) -> int:
        """Elements in the register."""
        return REGISTER_BYTES // self.dtype.itemsize

    def reinterpret_cast(self, dtype: DataType) -> RegTensor:
        """The same register with its bytes as elements of `dtype`."""
        if not isinstance(dtype, DataType) or not dtype.itemsize:
            raise KernelError(f"reinterpret_cast takes a numeric data type, not {dtype!r}")
        other = RegTensor.__new__(RegTensor)
        other.body, other.dtype, other.slot = self.body, dtype, self.slot
        return other

    def __repr__(self) -> str:
        return f"RegTensor({self.dtype!r})"


class MaskReg:
    """A mask register: which lanes an instruction computes. `create_mask`, `update_mask` and compares make them."""

    __slots__ = ("body", "slot")

    def __init__(self) -> None:
        self.body = body_of("MaskReg")
        self.slot = self.body.slot("p")


class Counter:
    """`asc.reg.Counter(n)`: how many elements are left, for `update_mask`, which takes a register's worth off it.

    Ascend C passes a plain uint32 by reference. Made inside a loop, it starts anew in every round of that loop.
    """

    __slots__ = ("body", "path", "start", "uses")

    def __init__(self, elements: Any) -> None:
        self.body = body_of("Counter")
        self.start = Affine.of(elements, "Counter(elements)")
        if not self.start.steps and self.start.const < 0:
            raise KernelError(f"Counter(elements) is {self.start.const}, must be at least 0")
        self.path: Path = self.body.path
        self.uses: list[tuple[Node, int]] = []  # the instructions that count down, and by how much
        self.body.counters.append(self)

    def settle(self) -> None:
        """The loops are known: give every use what is left when it runs, as a number per round."""
        amounts = {id(node): amount for node, amount in self.uses}
        items = self.path[-1].items if self.path else self.body.items
        self._walk(items, self.start, amounts)

    def _walk(self, items: Sequence[Loop | Node], left: Affine, amounts: Mapping[int, int]) -> Affine:
        """Settle the uses among `items`, when `left` elements are left before them; what is left behind them."""
        for item in items:
            if isinstance(item, Loop):
                taken = _taken(item.items, amounts)
                if taken:
                    self._walk(item.items, left - Affine(0, {item: taken}), amounts)
                    left = left - taken * item.trips
            elif id(item) in amounts:
                item.counter = left
                left = left - amounts[id(item)]
        return left


def _taken(items: Sequence[Loop | Node], amounts: Mapping[int, int]) -> int:
    """How much one pass over `items` takes off."""
    return sum(
        _taken(item.items, amounts) * item.trips if isinstance(item, Loop) else amounts.get(id(item), 0)
        for item in items
    )
