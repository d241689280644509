"""Inputs of rope_grad calls, and running them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import ascend_sim
from ascend_sim.report.result import OperatorResult

Array = npt.NDArray[Any]


def inputs(
    lengths: Sequence[int], heads: int, rows: int | None = None, seed: int = 0, scale: float = 100
) -> dict[str, Array]:
    """Random gradients and tables; `rows` where the samples do not add up to it."""
    rng = np.random.default_rng(seed)
    tokens = sum(lengths) if rows is None else rows
    shapes = {
        "q_embedded_grad": (tokens, 128 * heads),
        "k_embedded_grad": (tokens, 128 * heads),
        "cos": (max(lengths), 128),
        "sin": (max(lengths), 128),
    }
    return {name: rng.uniform(-scale, scale, shape).astype(np.float16) for name, shape in shapes.items()}


def run(given: Mapping[str, Any], lengths: Sequence[int], **options: Any) -> OperatorResult:
    return ascend_sim.run("rope_grad", **given, qSeqLen=list(lengths), **({"soc": "Ascend910B1"} | options))


def timed(lengths: Sequence[int], heads: int, **options: Any) -> OperatorResult:
    """A run without values."""
    shapes = {name: (array.shape, "float16") for name, array in inputs(lengths, heads).items()}
    return run(shapes, lengths, values=False, **options)
