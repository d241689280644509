"""Plain Python values out of the arguments of a call; what is none is refused with what was given instead.

Run-time scalars become plain numbers here: what the simulator computes with them is no work of the kernel's.
"""

from __future__ import annotations

import operator
from typing import Any

from ascend_sim.errors import KernelError
from ascend_sim.isa.dtypes import DataType

MAX_SHOWN = 60  # characters of a value that an error text repeats


def integer(what: str, value: Any) -> int:
    """`value` as an int; `what` names it in the refusal: "init_buffer: buffer length in bytes"."""
    try:
        return int(operator.index(value))
    except TypeError:
        hint = " (write // to divide)" if isinstance(value, float) else ""
        raise KernelError(f"{what} must be an integer, not {type(value).__name__}{hint}") from None


def real(what: str, value: Any) -> int | float:
    """`value` as an int or a float; text is refused even where it spells a number."""
    try:
        if hasattr(value, "__index__"):
            return int(operator.index(value))
    except TypeError:  # numpy arrays and floats have the method and may refuse it
        pass
    try:
        if hasattr(value, "__float__"):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise KernelError(f"{what} must be a number, not {type(value).__name__}")


def data_type(what: str, value: Any) -> DataType:
    """`value` as the type of elements; `what` begins the refusal: "asc.array"."""
    if not isinstance(value, DataType) or not value.itemsize:
        raise KernelError(f"{what} takes a numeric data type such as asc.float32, not {shown(value)}")
    return value


def shown(value: Any) -> str:
    """`value` as an error text repeats it: in full when that is short, else by its type."""
    text = repr(value)
    return text if len(text) <= MAX_SHOWN and "\n" not in text else f"a {type(value).__name__}"
