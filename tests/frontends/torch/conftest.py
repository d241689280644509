"""Everything here needs PyTorch, which is an extra: without it these tests are collected and skipped."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def fresh_compiler() -> Iterator[None]:
    """Every test compiles its own graphs, with random numbers of its own."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    yield
    torch.compiler.reset()
