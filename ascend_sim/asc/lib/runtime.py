"""pyasc's `asc.lib.runtime`: streams and devices. Launches run one after another, so there is nothing to wait for."""

from __future__ import annotations

import importlib
from typing import Any

from ascend_sim.asc.launch import HOST_DEVICE
from ascend_sim.asc.launch import current_device as _device
from ascend_sim.asc.runtime.config import Backend, set_platform
from ascend_sim.errors import InputError, OptionError, UnsupportedError


class Stream:
    """A queue of launches on a device."""

    def __init__(self, device_id: int = 0) -> None:
        self.device_id = device_id

    def __repr__(self) -> str:
        return f"<Stream of device {self.device_id}>"


_CURRENT = Stream()


def _check_device(device_id: int | None) -> None:
    if device_id not in (None, 0):
        raise InputError(f"device {device_id}: there is one simulated device, 0")


def current_stream(device_id: int | None = None) -> Stream:
    _check_device(device_id)
    return _CURRENT


def create_stream(priority: int = 0) -> Stream:
    """A stream of its own; `priority` changes nothing."""
    return Stream()


def destroy_stream(stream: Stream) -> None:
    if not isinstance(stream, Stream):
        raise InputError(f"destroy_stream takes a Stream, not {type(stream).__name__}")


def set_device(device_id: int) -> None:
    _check_device(device_id)


def reset_device(device_id: int | None = None) -> None:
    """Forget what the default device holds (global memory, L2 state, launches)."""
    _check_device(device_id)
    importlib.import_module(HOST_DEVICE).set_default_device(None)


def current_device() -> int:
    return 0


def device_count() -> int:
    return 1


def synchronize(stream: Stream | None = None, timeout: int = 0) -> None:
    """Launches are done when they return."""


def synchronize_device(timeout: int = 0) -> None:
    """Launches are done when they return."""


def use_model() -> None:
    """Kernels run on the model already."""


def use_npu() -> None:
    raise OptionError("use_npu: there is no NPU here; kernels run on the model")


def is_model() -> bool:
    return True


def is_available() -> bool:
    return True


def current_platform() -> Backend:
    return Backend.Model


def set_soc_version(soc_version: str) -> None:
    set_platform(Backend.Model, soc_version)


def get_soc_version() -> str:
    """The chip that a launch would go to now."""
    return _device().soc_name


def current_tick() -> int:
    """Cycles that the launches of the current device have taken in all."""
    return _device().elapsed_cycles


_POINTERS = ("malloc", "memcpy", "free", "copy_data_to_device", "copy_data_from_device", "device_info")


def __getattr__(name: str) -> Any:
    if name in _POINTERS:
        raise UnsupportedError(f"asc.lib.runtime.{name}: device pointers are not simulated; pass arrays to the kernel")
    raise AttributeError(f"asc.lib.runtime has no {name!r}")
