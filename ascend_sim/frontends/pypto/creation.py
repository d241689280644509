"""Tensors out of nothing, and copies: full, clone; `Element` for numbers with a type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ascend_sim.frontends.pypto import checks
from ascend_sim.frontends.pypto.dtypes import DataType
from ascend_sim.frontends.pypto.elementwise import cast_node
from ascend_sim.frontends.pypto.errors import PyptoTypeError, PyptoValueError
from ascend_sim.frontends.pypto.symbols import Scalar
from ascend_sim.frontends.pypto.tensor import Tensor, operation
from ascend_sim.frontends.pypto.trace import current
from ascend_sim.isa.enums import RoundMode


@dataclass(frozen=True, slots=True)
class Element:
    """A number of an element type."""

    dtype: DataType
    value: int | float


@operation
def full(
    size: Sequence[int],
    fill_value: int | float | Element,
    dtype: DataType,
    valid_shape: Sequence[Scalar] | None = None,
) -> Tensor:
    """A tensor of `size` whose elements are all `fill_value`; 1 to 4 dims."""
    sizes = checks.sizes_of("full", "size", size)
    if not 1 <= len(sizes) <= checks.MAX_RANK or min(sizes) <= 0:
        raise PyptoValueError(f"full: size is {list(sizes)}; allowed are 1 to {checks.MAX_RANK} dims, each above 0")
    if not isinstance(dtype, DataType) or dtype not in checks.WIDTHS_8_TO_32:
        names = ", ".join(known.name for known in checks.WIDTHS_8_TO_32)
        raise PyptoTypeError(f"full: dtype is {dtype!r}; allowed are {names}")
    number = fill_value.value if isinstance(fill_value, Element) else fill_value
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise PyptoTypeError(f"full: fill_value is {fill_value!r}; it must be an int, a float or a pypto.Element")
    if isinstance(number, float) and not dtype.is_float:
        raise PyptoTypeError(f"full: fill_value is {number!r} and dtype {dtype.name}; an integer tensor takes integers")
    trace = current("full")
    trace.need_tile("full", len(sizes))
    valid = None if valid_shape is None else checks.scalars_of("full", "valid_shape", valid_shape, len(sizes))
    kind = DataType.DT_FP16 if dtype.itemsize == 1 else dtype  # Duplicate has 16 and 32 bit elements
    value = float(number) if kind.is_float else int(number)
    made = trace.node("full", (), sizes, kind, valid=valid, attrs={"scalar": value})
    return Tensor.of(made if kind is dtype else cast_node(made, dtype, RoundMode.CAST_RINT))


@operation
def clone(input: Tensor) -> Tensor:  # noqa: A002 - PyPTO's own name
    """A copy: what happens to `input` in place afterwards does not change it."""
    node = checks.operand("clone", "input", input)
    trace = current("clone")
    trace.need_tile("clone", node.rank)
    return Tensor.of(trace.node("copy", (node,), node.shape, node.dtype, valid=node.valid, label="clone"))


def element(dtype: DataType, value: Any) -> Element:
    """`pypto.element`: the other name of `Element`."""
    return Element(dtype, value)
