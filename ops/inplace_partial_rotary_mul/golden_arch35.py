"""The same meaning with the 950's arithmetic, where subnormals are zeros; see golden.py for the formula."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..shared.float32_arch35 import Array, loaded, product, stored, total
from .golden import rotate_pairs, slice_bounds


def golden(inputs: Mapping[str, Array], attrs: Mapping[str, Any]) -> dict[str, Array]:
    """Expected outputs by name; cos and sin broadcast to x in any of B, S and N."""
    x, cos, sin = (inputs[name] for name in ("x", "cos", "sin"))
    start, end = slice_bounds(attrs["partial_slice"], x.shape[-1])
    out = x.copy()
    if start != end and cos.shape[-1] != 0:
        v = loaded(x[..., start:end])
        with np.errstate(all="ignore"):  # overflow and NaN are results here, not mistakes
            rotated = total(product(v, loaded(cos)), product(rotate_pairs(v), loaded(sin)))
            out[..., start:end] = stored(rotated, x.dtype)
    return {"x": out}
