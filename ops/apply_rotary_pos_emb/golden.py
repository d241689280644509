"""What apply_rotary_pos_emb means on A2 and A3, from its formula alone: numpy, no look at tilings or kernels.

Of every head of query and key the first D elements rotate, D the last dim of cos; with x these elements,

    out = x * cos + rot(x) * sin      rot(x) = (-second half, first half)

float16 is computed in float16, each of the two products and the sum rounded once. bfloat16 is widened to float32 and
rounded once at the end, halves away from zero. Elements behind the first D keep every bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def rotate_half(x: Array) -> Array:
    half = x.shape[-1] // 2
    return np.concatenate((-x[..., half:], x[..., :half]), axis=-1)


def half_away(values: Array) -> Array:
    """float32 to bfloat16, to nearest, halves away from zero."""
    bits = values.view(np.uint32)
    rounded = ((bits.astype(np.uint64) + 0x8000) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), values.astype(ml_dtypes.bfloat16), rounded.view(ml_dtypes.bfloat16))


def rotary(x: Array, cos: Array, sin: Array) -> Array:
    """A new x, whose first elements are rotated by cos and sin, which have one head."""
    out, dim = x.copy(), cos.shape[-1]
    part = x[..., :dim]
    with np.errstate(all="ignore"):  # overflow and NaN are results here, not mistakes
        if x.dtype == ml_dtypes.bfloat16:
            wide, cos32, sin32 = (values.astype(np.float32) for values in (part, cos, sin))
            out[..., :dim] = half_away(wide * cos32 + rotate_half(wide) * sin32)
        else:
            out[..., :dim] = part * cos + rotate_half(part) * sin
    return out


def golden(inputs: Mapping[str, Array], attrs: Mapping[str, Any]) -> dict[str, Array]:
    """Expected query and key, for the inputs as they are before the call; rotary_mode is not looked at."""
    return {name: rotary(inputs[name], inputs["cos"], inputs["sin"]) for name in ("query", "key")}
