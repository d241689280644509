"""What inplace_partial_rotary_mul_grad means, from its formula alone: numpy, no look at tilings or kernels.

The forward operator turns each pair (i1, i2) of a slice into (o1, o2), see ops/shared/rotations.py. With g the gradient
of its result, the gradient of its input is

    dx[i1] = g[o1] * cos[o1] + g[o2] * sin[o2]
    dx[i2] = g[o2] * cos[o2] - g[o1] * sin[o1]

inside the slice, and g outside. Each product and the sum is rounded once to float32, the result once more to dy's type.
All four modes are here; the operator itself accepts interleave alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..shared.float32_arch35 import Array, loaded, stored
from ..shared.rope_arch35 import rotate_back


def gradient(dy: Array, cos: Array, sin: Array, part: Sequence[int], mode: int) -> Array:
    """A new dy with its slice turned back; one of the three being empty, or the slice, changes nothing."""
    out = dy.copy()
    start, end = part
    if start != end and dy.size and cos.size and sin.size:
        turned = rotate_back(loaded(dy[..., start:end]), loaded(cos), loaded(sin), mode)
        with np.errstate(all="ignore"):
            out[..., start:end] = stored(turned, dy.dtype)
    return out


def golden(inputs: Mapping[str, Array], attrs: Mapping[str, Any]) -> dict[str, Array]:
    """Expected outputs by name, for the inputs as they are before the call."""
    dy, cos, sin = (inputs[name] for name in ("dy", "cos", "sin"))
    return {"dy": gradient(dy, cos, sin, attrs["partial_slice"], attrs["rotary_mode"])}
