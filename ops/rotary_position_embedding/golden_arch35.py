"""What rotary_position_embedding means on the 950, from its formula alone.

All four modes are what their names say (see ops/shared/rotations.py). Everything is float32, each operation rounded
once, and once more half to even on storing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..shared.float32_arch35 import Array, loaded, stored
from ..shared.rope_arch35 import rotate


def golden(inputs: Mapping[str, Array], attrs: Mapping[str, Any]) -> dict[str, Array]:
    """Expected outputs by name; cos and sin broadcast over x."""
    x, cos, sin = (loaded(inputs[name]) for name in ("x", "cos", "sin"))
    with np.errstate(all="ignore"):  # overflow is a result here, not a mistake
        return {"y": stored(rotate(x, cos, sin, attrs["mode"]), inputs["x"].dtype)}
