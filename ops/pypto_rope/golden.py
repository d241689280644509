"""What the kernels of pypto_rope mean, from their formulas alone: numpy, no look at kernels or tiles.

Rotation of halves: `out = x * cos + rotate_half(x) * sin`, rounded to x's type after every operation (skeleton, vision,
mrope). The other two compute in float32 and round once at the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
EPS = 1e-6


def rotate_half(x: Array) -> Array:
    """The second half of the last axis negated, then the first."""
    half = x.shape[-1] // 2
    return np.concatenate([-x[..., half:], x[..., :half]], axis=-1)


def rounded(x: Array, cos: Array, sin: Array) -> Array:
    """Halves, every operation in x's own type."""
    with np.errstate(all="ignore"):  # overflow and NaN are results here, not mistakes
        result: Array = x * cos + rotate_half(x) * sin
    return result


def sections_merged(table: Array, sections: tuple[int, ...]) -> Array:
    """[3, B, S, D] to [B, 1, S, D]: the parts of the last axis come from the tables in turn."""
    ends = np.cumsum((*sections, *sections))
    column = np.searchsorted(ends, np.arange(table.shape[-1]), side="right") % len(sections)
    picked = np.take_along_axis(table, column[None, None, None, :], axis=0)
    return np.asarray(picked[0][:, None])


def normalized_and_rotated(x: Array, cos: Array, sin: Array, weight: Array) -> Array:
    """RMSNorm along the last axis, then halves; float32 inside. Only the first half of cos and sin counts."""
    wide = x.astype(np.float32)
    normed = wide / np.sqrt((wide * wide).mean(-1, keepdims=True) + np.float32(EPS)) * weight.astype(np.float32)
    half = x.shape[-1] // 2
    c, s = (table[:, None, :half].astype(np.float32) for table in (cos, sin))
    left, right = normed[..., :half], normed[..., half:]
    return np.concatenate([left * c - right * s, right * c + left * s], axis=-1).astype(x.dtype)


def neighbours(x: Array, cos: Array, sin: Array) -> Array:
    """Pairs (2k, 2k + 1) rotated in float32; the even places' results first, then the odd ones'."""
    wide, c, s = (array.astype(np.float32) for array in (x, cos, sin))
    even, odd = wide[..., ::2], wide[..., 1::2]
    with np.errstate(all="ignore"):
        y_even = even * c[..., ::2] - odd * s[..., ::2]
        y_odd = even * s[..., 1::2] + odd * c[..., 1::2]
        return np.concatenate([y_even, y_odd], axis=-1).astype(x.dtype)


def golden(inputs: Mapping[str, Array], attrs: Mapping[str, Any]) -> dict[str, Array]:
    """Expected outputs by name."""
    x, cos, sin = inputs["x"], inputs["cos"], inputs["sin"]
    which = attrs["kernel"]
    if which == 1:  # vision
        tables = cos[:, None], sin[:, None]
        return {"y": rounded(x, *tables), "k_out": rounded(inputs["k"], *tables)}
    if which == 2:  # mrope
        cos, sin = (sections_merged(table, attrs["sections"]) for table in (cos, sin))
    elif which == 3:  # rms_norm
        return {"y": normalized_and_rotated(x, cos, sin, inputs["weight"])}
    elif which == 4:  # interleave
        return {"y": neighbours(x, cos, sin)}
    return {"y": rounded(x, cos, sin)}
