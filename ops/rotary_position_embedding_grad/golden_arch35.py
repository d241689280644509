"""What rotary_position_embedding_grad means on the 950, from its formulas alone.

With dy the gradient of y = placed(x) * cos + rot(x) * sin, in any of the four modes (see ops/shared/rotations.py;
placed(x) is x itself in all but interleave-half):

    dx   = what dy * cos and dy * sin give back to the elements of x
    dcos = sum of dy * placed(x)       over the axes along which cos and sin were broadcast
    dsin = sum of dy * rot(x)

Everything is float32, each operation rounded once, and once more half to even on storing. Sums go in memory order.
Where dy is empty, dcos and dsin are zeros.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..shared.float32_arch35 import Array, loaded, product, stored
from ..shared.rope_arch35 import rotate_back, summed
from ..shared.rotations import pairs


def golden(inputs: Mapping[str, Array], attrs: Mapping[str, Any]) -> dict[str, Array]:
    """dx, and with x also dcos and dsin, by name."""
    dtype, mode = inputs["dy"].dtype, attrs["mode"]
    dy, cos, sin = (loaded(inputs[name]) for name in ("dy", "cos", "sin"))
    with np.errstate(all="ignore"):  # overflow and NaN are results here, not mistakes
        found = {"dx": stored(rotate_back(dy, cos, sin, mode), dtype)}
        if "x" in inputs:
            x, places = loaded(inputs["x"]), pairs(mode, dy.shape[-1])
            for name, factor in (("dcos", places.placed(x)), ("dsin", places.partner(x))):
                terms = product(dy, factor)
                total = summed(terms, cos.shape) if dy.size else np.zeros(cos.shape, np.float32)
                found[name] = stored(total, dtype)
    return found
