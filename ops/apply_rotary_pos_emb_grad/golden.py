"""What apply_rotary_pos_emb_grad means, from its formulas alone: numpy, no look at tilings or kernels.

Of a head with gradient g = (g1, g2) of the rotated values, halves of the last axis, and forward input x = (x1, x2):

    dx = (g1 * cos1 + g2 * sin2, g2 * cos2 - g1 * sin1)
    grad_cos = sum of (g1 * x1, g2 * x2)         over all heads of query and key that share the row of cos
    grad_sin = sum of (-(g1 * x2), g2 * x1)

Everything is float32, each operation rounded once, and once more half to even on storing. The order of the sums is
part of the definition. Heads that share a row of cos and lie side by side in memory are numbered: those of one
position, in layout SBND with one batch of cos those of all its batches. First query's and key's head of the same number
are added, then these sums, one after the other in memory order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..shared.float32_arch35 import Array, loaded, product, stored, total
from ..shared.rope_arch35 import rotate_back, summed
from ..shared.rotations import HALF, pairs

SBND = 2


def gradient(g: Array, cos: Array, sin: Array) -> Array:
    """dx, in g's dtype; cos and sin broadcast to g."""
    with np.errstate(all="ignore"):
        return stored(rotate_back(loaded(g), loaded(cos), loaded(sin), HALF), g.dtype)


def terms(g: Array, x: Array) -> tuple[Array, Array]:
    """What each head adds to grad_cos and grad_sin, float32."""
    wide_g, wide_x = loaded(g), loaded(x)
    return product(wide_g, wide_x), product(wide_g, pairs(HALF, x.shape[-1]).partner(wide_x))


def numbered(values: Array, merged: bool) -> Array:
    """(..., heads, D); `merged` makes (S, B, N, D) to (S, B * N, D)."""
    return values.reshape(values.shape[0], -1, values.shape[-1]) if merged else values


def added(one: Array, other: Array) -> Array:
    """Heads of the same number added; what the one has more of stays."""
    more, fewer = (one, other) if one.shape[-2] >= other.shape[-2] else (other, one)
    result = more.copy()
    result[..., : fewer.shape[-2], :] = total(more[..., : fewer.shape[-2], :], fewer)
    return result


def golden(inputs: Mapping[str, Array], attrs: Mapping[str, Any]) -> dict[str, Array]:
    """grad_query and grad_key, and with query and key also grad_cos and grad_sin, by name."""
    g_query, g_key, cos, sin = (inputs[name] for name in ("grad_query_embed", "grad_key_embed", "cos", "sin"))
    found = {"grad_query": gradient(g_query, cos, sin), "grad_key": gradient(g_key, cos, sin)}
    if "query" not in inputs:
        return found
    merged = attrs["layout"] == SBND and cos.shape[1:3] == (1, 1)
    shape = (cos.shape[0], 1, cos.shape[-1]) if merged else cos.shape
    with np.errstate(all="ignore"):
        of_query, of_key = terms(g_query, inputs["query"]), terms(g_key, inputs["key"])
        for name, one, other in zip(("grad_cos", "grad_sin"), of_query, of_key, strict=True):
            sums = summed(added(numbered(one, merged), numbered(other, merged)), shape)
            found[name] = stored(sums, cos.dtype).reshape(cos.shape)
    return found
