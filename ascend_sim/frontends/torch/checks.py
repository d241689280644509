"""Checks that the operators make in Python, at compile time and again before they run.

Everything else is for the layers below: those refuse with a code, here it is a ValueError.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor

from ascend_sim.errors import InputError
from ascend_sim.plurals import counted

FLOATS = (torch.float16, torch.float32, torch.bfloat16)


def require(condition: bool, text: str) -> None:
    if not condition:
        raise InputError(text)


def one_of(op: str, name: str, value: object, allowed: Iterable[object]) -> None:
    allowed = tuple(allowed)
    require(value in allowed, f"{op}: {name} is {value!r}; allowed are {', '.join(map(repr, allowed))}")


def rank(op: str, name: str, tensor: Tensor, allowed: Sequence[int]) -> None:
    text = " or ".join(map(str, allowed))
    require(tensor.dim() in allowed, f"{op}: {name} has {counted(tensor.dim(), 'dim')}; it must have {text}")


def not_empty(op: str, tensors: Mapping[str, Tensor]) -> None:
    for name, tensor in tensors.items():
        require(tensor.numel() != 0, f"{op}: {name} has shape {tuple(tensor.shape)}; it must not be empty")


def same_dtype(op: str, name: str, tensor: Tensor, reference_name: str, reference: Tensor) -> None:
    require(
        tensor.dtype == reference.dtype,
        f"{op}: {name} is {tensor.dtype} and {reference_name} {reference.dtype}; they must have one dtype",
    )


def same_shape(op: str, name: str, tensor: Tensor, reference_name: str, reference: Tensor) -> None:
    require(
        tensor.shape == reference.shape,
        f"{op}: {name} is {tuple(tensor.shape)} and {reference_name} {tuple(reference.shape)}; "
        "they must have one shape",
    )


def partial_slice(op: str, given: Sequence[int]) -> None:
    require(len(given) == 2, f"{op}: partial_slice has {counted(len(given), 'entry')}; it must have two, [start, end)")
