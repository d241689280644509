"""Rotation and its gradient with the 950's arithmetic, as goldens need them: from the formulas of `rotations`."""

from __future__ import annotations

import numpy as np

from .float32_arch35 import Array, product, total
from .rotations import pairs


def rotate(x: Array, cos: Array, sin: Array, mode: int) -> Array:
    """x * cos + rot(x) * sin, float32, from float32 x and from cos and sin that broadcast to it."""
    places = pairs(mode, x.shape[-1])
    with np.errstate(all="ignore"):  # overflow and NaN are results here, not mistakes
        return total(product(places.placed(x), cos), product(places.partner(x), sin))


def rotate_back(g: Array, cos: Array, sin: Array, mode: int) -> Array:
    """The gradient of x, float32, from that of the result: dx[i1] = g[o1] * cos[o1] + g[o2] * sin[o2], and

    dx[i2] = g[o2] * cos[o2] - g[o1] * sin[o1]; cos and sin broadcast to g.
    """
    places = pairs(mode, g.shape[-1])
    with np.errstate(all="ignore"):
        along, across = product(g, cos), product(g, sin)
        dx = np.empty_like(along)
        dx[..., places.in1] = total(along[..., places.out1], across[..., places.out2])
        dx[..., places.in2] = total(along[..., places.out2], -across[..., places.out1])
    return dx


def summed(values: Array, shape: tuple[int, ...]) -> Array:
    """`values` summed one after another in memory order to `shape`, whose dims are 1 where they are summed."""
    axes = [axis for axis, (have, want) in enumerate(zip(values.shape, shape, strict=True)) if have != want]
    rest = [length for axis, length in enumerate(values.shape) if axis not in axes]
    rows = np.moveaxis(values, axes, range(len(axes))).reshape(-1, *rest)
    result: Array = rows[0]
    for row in rows[1:]:
        result = total(result, row)
    return result.reshape(shape)
