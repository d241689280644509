"""The plain formulas in PyTorch, which autograd differentiates by itself."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'ascend-sim[torch]'")


def rotate_pairs(x: Any) -> Any:
    """(-x1, x0, -x3, x2, ...)."""
    return torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)


def rotate_halves(x: Any) -> Any:
    """(-second half, first half)."""
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


def partial_rope(x: Any, cos: Any, sin: Any, start: int, end: int) -> Any:
    """x with the pairs of [..., start:end] turned, as a new tensor."""
    part = x[..., start:end]
    return torch.cat((x[..., :start], part * cos + rotate_pairs(part) * sin, x[..., end:]), dim=-1)


def rope(x: Any, cos: Any, sin: Any, rotate: Any = rotate_halves) -> Any:
    return x * cos + rotate(x) * sin
