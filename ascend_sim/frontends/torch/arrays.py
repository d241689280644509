"""CPU tensors as numpy arrays on the same memory, strides included."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ascend_sim.errors import InputError


def array_of(caller: str, tensor: Tensor) -> npt.NDArray[Any]:
    """The memory of `tensor` as an array: what is written to one shows in the other."""
    if tensor.device.type != "cpu":
        raise InputError(f"{caller}: a tensor is on device {tensor.device}; the simulator's tensors live on the CPU")
    if tensor.layout is not torch.strided:
        raise InputError(f"{caller}: a tensor has layout {tensor.layout}; allowed is torch.strided")
    plain = tensor.detach()
    if plain.dtype is not torch.bfloat16:
        return np.asarray(plain.numpy())
    return np.asarray(plain.view(torch.int16).numpy()).view(ml_dtypes.bfloat16)  # numpy has no bfloat16 of its own
