"""What apply_rotary_pos_emb means on the 950, from its formula alone.

Of every head of query and key the first D elements rotate, D the last dim of cos, in one of three modes (see
ops/shared/rotations.py). Everything is float32, each operation rounded once, and once more half to even on storing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..shared.float32_arch35 import Array, loaded, stored
from ..shared.rope_arch35 import rotate
from ..shared.rotations import HALF, INTERLEAVE, QUARTER

MODES = {"half": HALF, "interleave": INTERLEAVE, "quarter": QUARTER}


def rotary(x: Array, cos: Array, sin: Array, mode: int) -> Array:
    """A new x, whose first elements are rotated by cos and sin, which broadcast to it."""
    out, dim = x.copy(), cos.shape[-1]
    turned = rotate(loaded(x[..., :dim]), loaded(cos), loaded(sin), mode)
    with np.errstate(all="ignore"):  # overflow is a result here, not a mistake
        out[..., :dim] = stored(turned, x.dtype)
    return out


def golden(inputs: Mapping[str, Array], attrs: Mapping[str, Any]) -> dict[str, Array]:
    """Expected query and key, for the inputs as they are before the call."""
    mode = MODES[attrs["rotary_mode"]]
    return {name: rotary(inputs[name], inputs["cos"], inputs["sin"], mode) for name in ("query", "key")}
