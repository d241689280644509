"""pyasc's `asc.runtime.config`: which chip kernels are launched on when no device is open."""

from __future__ import annotations

import importlib
from enum import Enum

from ascend_sim.asc.launch import HOST_DEVICE
from ascend_sim.asc.options import KernelType
from ascend_sim.errors import InputError, OptionError

__all__ = ["Backend", "KernelType", "Platform", "set_platform"]


class Backend(Enum):
    """Where kernels run; here it is always a model."""

    Model = "Model"
    NPU = "NPU"


class Platform(Enum):
    """Chips, under pyasc's names; the simulator takes any name that `ascend-sim socs` lists as well."""

    Ascend910B1 = "Ascend910B1"
    Ascend910B2 = "Ascend910B2"
    Ascend910B2C = "Ascend910B2C"
    Ascend910B3 = "Ascend910B3"
    Ascend910B4 = "Ascend910B4"
    Ascend910B4_1 = "Ascend910B4-1"
    Ascend910_9362 = "Ascend910_9362"
    Ascend910_9372 = "Ascend910_9372"
    Ascend910_9381 = "Ascend910_9381"
    Ascend910_9382 = "Ascend910_9382"
    Ascend910_9391 = "Ascend910_9391"
    Ascend910_9392 = "Ascend910_9392"


def set_platform(
    backend: Backend | str,
    soc_version: Platform | str | None = None,
    device_id: int | None = None,
    check: bool = True,
) -> None:
    """Launch on `soc_version` (default Ascend910B1) from now on; a device opened with `with` goes before it."""
    try:
        chosen = Backend(backend)
    except ValueError:
        raise InputError(f"set_platform: backend {backend!r}, allowed are Backend.Model and Backend.NPU") from None
    if chosen is Backend.NPU:
        raise OptionError("set_platform: there is no NPU here; use Backend.Model")
    if device_id not in (None, 0):
        raise InputError(f"set_platform: device_id {device_id}, there is one simulated device: 0")
    name = Platform.Ascend910B1 if soc_version is None else soc_version
    importlib.import_module(HOST_DEVICE).use_platform(name.value if isinstance(name, Platform) else str(name))
