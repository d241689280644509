"""What rotary_position_embedding_grad means on A2 and A3, from its formulas alone: numpy, no look at the kernels.

With g the gradient of y = x * cos + rot(x) * sin:

    dx   = g * cos + unrot(g * sin)     unrot, the transpose of rot: half (v2, -v1), interleave (v1, -v0, v3, -v2, ...)
    dcos = sum of g * x
    dsin = sum of g * rot(x)            over the axes along which cos and sin were broadcast

All arithmetic is fp32, each operation rounded once, sums in the order of x's axes; 16-bit results are rounded half to
even at the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..rotary_position_embedding.golden import INTERLEAVE, rotate

Array = npt.NDArray[Any]


def unrotate(v: Array, mode: int) -> Array:
    """The transpose of rot over the last axis."""
    turned = np.empty_like(v)
    if mode == INTERLEAVE:
        turned[..., 0::2] = v[..., 1::2]
        turned[..., 1::2] = -v[..., 0::2]
    else:
        half = v.shape[-1] // 2
        turned[..., :half] = v[..., half:]
        turned[..., half:] = -v[..., :half]
    return turned


def sum_to(v: Array, shape: tuple[int, ...]) -> Array:
    """`v` summed one after another over the axes along which `shape` is 1, in the order of the axes."""
    axes = [axis for axis, (have, want) in enumerate(zip(v.shape, shape, strict=True)) if have != want]
    rows = np.moveaxis(v, axes, range(len(axes))).reshape(
        -1, *(n for axis, n in enumerate(v.shape) if axis not in axes)
    )
    total = np.zeros(rows.shape[1:], v.dtype)
    for row in rows:
        total = total + row
    return total.reshape(shape)


def golden(inputs: Mapping[str, Array], attrs: Mapping[str, Any]) -> dict[str, Array]:
    """dx, and with x also dcos and dsin, by name."""
    dtype, mode = inputs["dy"].dtype, attrs["mode"]
    g, cos, sin = (inputs[name].astype(np.float32) for name in ("dy", "cos", "sin"))
    with np.errstate(all="ignore"):  # overflow and NaN are results here, not mistakes
        found = {"dx": (g * cos + unrotate(g * sin, mode)).astype(dtype)}
        if "x" in inputs:
            x = inputs["x"].astype(np.float32)
            found["dcos"] = sum_to(g * x, cos.shape).astype(dtype)
            found["dsin"] = sum_to(g * rotate(x, mode), sin.shape).astype(dtype)
    return found
