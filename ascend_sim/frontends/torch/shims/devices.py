"""`device="npu"` and `.npu()` for tensors that stay on the CPU."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

_NPU = re.compile(r"npu(:\d+)?")


def on_cpu(value: Any) -> Any:
    """ "cpu" for "npu" and "npu:0", anything else as it is."""
    return "cpu" if isinstance(value, str) and _NPU.fullmatch(value) else value


class NpuOnCpu(TorchFunctionMode):
    """While active, every torch function that is asked for device "npu" works on the CPU."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        named = dict(kwargs or {})
        if "device" in named:
            named["device"] = on_cpu(named["device"])
        return func(*(on_cpu(arg) for arg in args), **named)


_ORIGINALS: dict[str, Callable[..., Any]] = {}


def patch_methods() -> None:
    """`Tensor.npu`, `Module.npu`, and `Module.to`, which parses its arguments where no mode sees them."""
    _ORIGINALS["to"] = torch.nn.Module.to
    torch.nn.Module.to = _module_to
    torch.nn.Module.npu = _stay
    Tensor.npu = _stay
    Tensor.is_npu = False


def restore_methods() -> None:
    torch.nn.Module.to = _ORIGINALS.pop("to")
    del torch.nn.Module.npu
    del Tensor.npu
    del Tensor.is_npu


def _stay(self: Any, device: Any = None, non_blocking: bool = False) -> Any:
    """Already where it belongs."""
    return self


def _module_to(self: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
    named = {key: on_cpu(value) for key, value in kwargs.items()}
    return _ORIGINALS["to"](self, *(on_cpu(arg) for arg in args), **named)
