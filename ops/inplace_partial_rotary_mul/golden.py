"""What inplace_partial_rotary_mul means, from its formula alone: numpy, no look at tilings or kernels.

Interleaved rotation of the slice `[start, end)` of the last axis: with `v` the slice of one head,

    out[2k]     = v[2k]     * cos[2k]     - v[2k + 1] * sin[2k]
    out[2k + 1] = v[2k + 1] * cos[2k + 1] + v[2k]     * sin[2k + 1]

`golden` rounds where the operator rounds (two products and one sum in fp32, then one round-half-even to x's type), so
a correct kernel agrees with it bit for bit. `exact` is the same formula in float64, for error bounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def slice_bounds(partial_slice: Sequence[int], last_dim: int) -> tuple[int, int]:
    """`(start, end)` of the attribute partial_slice; an empty list means the whole last axis."""
    if len(partial_slice) == 0:
        return 0, last_dim
    start, end = partial_slice
    return int(start), int(end)


def rotate_pairs(v: Array) -> Array:
    """`(-v1, v0, -v3, v2, ...)`: each even element takes its odd neighbour negated, each odd one its even neighbour."""
    rotated = np.empty_like(v)
    rotated[..., 0::2] = -v[..., 1::2]
    rotated[..., 1::2] = v[..., 0::2]
    return rotated


def rotary(x: Array, cos: Array, sin: Array, start: int, end: int) -> Array:
    """A new x, shape (B, S, N, D), with `[..., start:end]` rotated; cos, sin (B, 1 or S, 1, end - start) broadcast.

    16-bit inputs are widened to fp32, each fp32 operation rounds once, and the sum is rounded half to even to x's
    dtype. Values beyond float16 become infinite, as the vector unit's INF/NAN mode has it.
    """
    out = x.copy()
    if start == end:
        return out
    v, cos32, sin32 = (a.astype(np.float32) for a in (x[..., start:end], cos, sin))
    with np.errstate(all="ignore"):  # overflow and NaN are results here, not mistakes
        rotated = v * cos32 + rotate_pairs(v) * sin32
        out[..., start:end] = rotated.astype(x.dtype)
    return out


def golden(inputs: Mapping[str, Array], attrs: Mapping[str, Any]) -> dict[str, Array]:
    """Expected outputs by name, for the inputs x, cos, sin as they are before the call."""
    x = inputs["x"]
    start, end = slice_bounds(attrs["partial_slice"], x.shape[-1])
    return {"x": rotary(x, inputs["cos"], inputs["sin"], start, end)}


def exact(x: Array, cos: Array, sin: Array, start: int, end: int) -> tuple[Array, Array]:
    """`(out, scale)` in float64: the formula without rounding, and `|v * cos| + |rot(v) * sin|` of every element.

    fp32 arithmetic stays within 2 * 2**-24 * scale of `out`: half a unit for each product and one for the sum. Outside
    the slice `out` is x and scale is 0.
    """
    out = x.astype(np.float64)
    scale = np.zeros_like(out)
    v, cos64, sin64 = (a.astype(np.float64) for a in (x[..., start:end], cos, sin))
    along, across = v * cos64, rotate_pairs(v) * sin64
    out[..., start:end] = along + across
    scale[..., start:end] = np.abs(along) + np.abs(across)
    return out, scale
