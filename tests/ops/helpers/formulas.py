"""The rotary formulas as the operators' pages write them, for numpy and for PyTorch."""

from __future__ import annotations

from typing import Any


def forward(x: Any, cos: Any, sin: Any, mode: int, cat: Any, stack: Any) -> Any:
    """x * cos + rot(x) * sin in one of the four modes; `cat` and `stack` join lists along the last axis."""
    if mode == 0:
        half = x.shape[-1] // 2
        return x * cos + cat([-x[..., half:], x[..., :half]]) * sin
    if mode == 1:
        woven = stack([-x[..., 1::2], x[..., 0::2]])
        return x * cos + woven.reshape(x.shape) * sin
    if mode == 2:
        q = x.shape[-1] // 4
        parts = [x[..., k * q : (k + 1) * q] for k in range(4)]
        return x * cos + cat([-parts[1], parts[0], -parts[3], parts[2]]) * sin
    evens, odds = x[..., 0::2], x[..., 1::2]
    return cat([evens, odds]) * cos + cat([-odds, evens]) * sin
