"""What rotary_position_embedding means on A2 and A3, from its formula alone: numpy, no look at tilings or kernels.

    y = x * cos + rot(x) * sin

with rot(x) = (-second half, first half) in mode half (0) and (-x1, x0, -x3, x2, ...) in mode interleave (1). These
chips run the half kernel for the modes 2 and 3 as well. All arithmetic is fp32, each operation rounded once; 16-bit
results are rounded half to even at the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

INTERLEAVE = 1


def rotate(v: Array, mode: int) -> Array:
    """rot(v) over the last axis."""
    rotated = np.empty_like(v)
    if mode == INTERLEAVE:
        rotated[..., 0::2] = -v[..., 1::2]
        rotated[..., 1::2] = v[..., 0::2]
    else:
        half = v.shape[-1] // 2
        rotated[..., :half] = -v[..., half:]
        rotated[..., half:] = v[..., :half]
    return rotated


def golden(inputs: Mapping[str, Array], attrs: Mapping[str, Any]) -> dict[str, Array]:
    """Expected outputs by name; cos and sin broadcast over x."""
    x, cos, sin = (inputs[name].astype(np.float32) for name in ("x", "cos", "sin"))
    with np.errstate(all="ignore"):  # overflow and NaN are results here, not mistakes
        y = x * cos + rotate(x, attrs["mode"]) * sin
        return {"y": y.astype(inputs["x"].dtype)}


def exact(inputs: Mapping[str, Array], attrs: Mapping[str, Any]) -> tuple[Array, Array]:
    """`(y, scale)` in float64: no rounding, and |x * cos| + |rot(x) * sin|; fp32 errs by 2 * 2**-24 of it at most."""
    x, cos, sin = (inputs[name].astype(np.float64) for name in ("x", "cos", "sin"))
    along, across = x * cos, rotate(x, attrs["mode"]) * sin
    return along + across, np.abs(along) + np.abs(across)
