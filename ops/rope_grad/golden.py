"""What rope_grad computes, from its formula alone, and what a RoPE gradient would be: numpy, no look at the kernel.

Every sample starts at position 0 of the tables. With halves 1 (columns 0 to 63) and 2 (64 to 127) of one head, and cos,
sin the tables' row of the position:

    out1 = g1 * (cos1 + sin2)            true1 = g1 * cos1 + g2 * sin2
    out2 = g2 * (cos2 - sin1)            true2 = g2 * cos2 - g1 * sin1

`golden` rounds to fp16 after the sum and after the product, as the operator's instructions do. `true_gradient` is the
transpose of the forward rotation, in float64. They differ by (g1 - g2) * [sin2, sin1].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

HALF = 64
HEAD = 2 * HALF
PAIRS = (("q_grad", "q_embedded_grad"), ("k_grad", "k_embedded_grad"))


def by_position(table: Array, q_seq_len: Sequence[int]) -> Array:
    """The table's row of every token: positions count from 0 in every sample."""
    return np.concatenate([table[:length] for length in q_seq_len])


def _angles(inputs: Mapping[str, Array], attrs: Mapping[str, Any]) -> tuple[Array, Array]:
    """cos and sin of every token that a sample covers."""
    tokens = len(inputs["q_embedded_grad"])
    cos, sin = (by_position(inputs[name], attrs["qSeqLen"])[:tokens] for name in ("cos", "sin"))
    return cos, sin


def swapped(halves: Array) -> Array:
    """[x2, x1] of [x1, x2], along the last axis."""
    return np.concatenate([halves[..., HALF:], halves[..., :HALF]], axis=-1)


def golden(inputs: Mapping[str, Array], attrs: Mapping[str, Any]) -> dict[str, Array]:
    """q_grad and k_grad in fp16, bit for bit; rows that belong to no sample are NaN."""
    cos, sin = _angles(inputs, attrs)
    signed = swapped(sin)
    signed[:, HALF:] = -signed[:, HALF:]
    with np.errstate(all="ignore"):  # overflow and NaN are results here, not mistakes
        weight = cos + signed
        return {out: _filled(_heads(inputs[name], len(cos)) * weight[:, None], inputs[name]) for out, name in PAIRS}


def true_gradient(inputs: Mapping[str, Array], attrs: Mapping[str, Any]) -> dict[str, Array]:
    """The gradients of q and k for y = x * cos + [-x2, x1] * sin, in float64, unrounded."""
    cos, sin = (angles.astype(np.float64)[:, None] for angles in _angles(inputs, attrs))
    found = {}
    with np.errstate(all="ignore"):
        for out, name in PAIRS:
            g = _heads(inputs[name], len(cos)).astype(np.float64)
            turned = swapped(g * sin)
            turned[..., HALF:] = -turned[..., HALF:]
            found[out] = _filled(g * cos + turned, inputs[name])
    return found


def _heads(gradient: Array, covered: int) -> Array:
    """(tokens, heads, 128) of the rows that belong to a sample."""
    tokens, hidden = gradient.shape
    return gradient.reshape(tokens, hidden // HEAD, HEAD)[:covered]


def _filled(heads: Array, like: Array) -> Array:
    """(tokens, hidden) again, NaN where no sample reaches."""
    whole = np.full(like.shape, np.nan, heads.dtype)
    whole[: len(heads)] = heads.reshape(len(heads), -1)
    return whole
