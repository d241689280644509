"""Bodies of kernels that must be refused, and the text that they are refused with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ascend_sim.frontends import pypto

FP32, FP16, BF16, INT32 = pypto.DT_FP32, pypto.DT_FP16, pypto.DT_BF16, pypto.DT_INT32
INT8 = pypto.DataType.DT_INT8
A = ([8, 64], FP32)  # a parameter: shape ("S": dynamic, 40 in the call) and type
Given = tuple[list[Any], pypto.DataType]
Rules = dict[str, tuple[Callable[..., Any], list[Given], str]]
HERE = r"\w+\.py:\d+"


def refusal(body: Callable[..., Any], *tensors: Given, kind: type[Exception]) -> str:
    """The text that `body(a, b, ..., out)` is refused with; the tensors are the kernel's parameters."""
    marks = [pypto.Tensor([pypto.DYNAMIC if d == "S" else d for d in shape], dtype) for shape, dtype in tensors]
    shapes = [(tuple(40 if d == "S" else d for d in shape), dtype.asc.name) for shape, dtype in tensors]

    def one(a: marks[0]) -> None:
        body(a)

    def two(a: marks[0], b: marks[-1]) -> None:
        body(a, b)

    def three(a: marks[0], b: marks[1 if len(marks) > 1 else 0], c: marks[-1]) -> None:
        body(a, b, c)

    with pytest.raises(kind) as refused:
        pypto.frontend.jit((one, two, three)[len(marks) - 1]).lowered(*shapes)
    return str(refused.value)


def tiled(*sizes: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The body with a vector tile set first."""

    def decorate(body: Callable[..., Any]) -> Callable[..., Any]:
        def set_and_run(*tensors: Any) -> Any:
            pypto.set_vec_tile_shapes(*sizes)
            return body(*tensors)

        return set_and_run

    return decorate
