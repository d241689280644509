"""Instructions on LocalTensors where the vector unit has no subnormals (3510): operands and results become zeros."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.asc.recorder import RECORDER
from ascend_sim.isa.numeric import flush_subnormals

Array = npt.NDArray[Any]
FLUSHING_ARCHES = ("3510",)


def flushing(into: Callable[..., Any]) -> Callable[..., Any]:
    """`into(out, *sources)` with subnormal sources and results as zeros, where the present chip does so."""
    if RECORDER.arch not in FLUSHING_ARCHES:
        return into

    def flushed(out: Array, *sources: Array) -> None:
        into(out, *(flush_subnormals(source) for source in sources))
        result = flush_subnormals(out)
        if result is not out:
            np.copyto(out, result)

    return flushed


def flushing_function(function: Callable[..., Array]) -> Callable[..., Array]:
    """`function(...)` whose result has zeros for subnormals, where the present chip does so."""
    if RECORDER.arch not in FLUSHING_ARCHES:
        return function
    return lambda *operands: flush_subnormals(function(*operands))
