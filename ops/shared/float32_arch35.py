"""What goldens need to know of the 950's arithmetic: everything is float32, and subnormals count as zeros.

The vector unit takes subnormal operands as zeros of their sign and gives zeros where a result would be subnormal
(soc_specs 2.9), in every instruction: also where 16-bit values are widened on loading and rounded on storing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

SMALLEST_NORMAL = {"float16": 2.0**-14, "bfloat16": 2.0**-126, "float32": 2.0**-126}


def flushed(values: Array) -> Array:
    """`values`, with a zero of the same sign in place of every subnormal of their dtype."""
    wide = values.astype(np.float32)
    subnormal = np.abs(wide) < np.float32(SMALLEST_NORMAL[values.dtype.name])
    return np.where(subnormal, np.copysign(np.float32(0), wide), wide).astype(values.dtype)


def loaded(values: Array) -> Array:
    """As float32, the way the vector unit sees them."""
    return flushed(values).astype(np.float32)


def product(a: Array, b: Array) -> Array:
    """a * b, both float32, rounded once."""
    return flushed(a * b)


def total(a: Array, b: Array) -> Array:
    """a + b, both float32, rounded once."""
    return flushed(a + b)


def stored(values: Array, dtype: Any) -> Array:
    """float32 rounded half to even to `dtype`; what is too large becomes infinite."""
    return flushed(values.astype(dtype))
