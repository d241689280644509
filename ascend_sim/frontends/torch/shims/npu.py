"""What scripts ask of `torch_npu.npu`: one device, the simulator's current one."""

from __future__ import annotations

from typing import Any

import torch

from ascend_sim.asc.launch import current_device
from ascend_sim.errors import InputError


def set_device(device: Any) -> None:
    """Only device 0 exists; which chip it is says the session. `torch.device("npu:0")` is the CPU here."""
    if device not in (0, "npu", "npu:0", torch.device("cpu")):
        raise InputError(f"npu device {device!r}: there is one, 0")


def current_device_index() -> int:
    return 0


def device_count() -> int:
    return 1


def is_available() -> bool:
    return True


def synchronize(device: Any = None) -> None:
    """Operators called from PyTorch have run when they return."""


def get_device_name(device: Any = None) -> str:
    """`Ascend910B3`: the variant that is simulated."""
    return current_device().soc_name


FUNCTIONS: dict[str, object] = {
    "set_device": set_device,
    "current_device": current_device_index,
    "device_count": device_count,
    "is_available": is_available,
    "synchronize": synchronize,
    "get_device_name": get_device_name,
}
