"""A torch operator's way down: both phases of an aclnn interface, at once, on the current device."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

from ascend_sim.asc.launch import DEVICES
from ascend_sim.errors import AscendSimError
from ascend_sim.frontends.torch.arrays import array_of
from ascend_sim.host.aclnn import OpExecutor, Status, get_recent_err_msg
from ascend_sim.host.aclnn.functions import function_named
from ascend_sim.host.device import Device
from ascend_sim.host.stream import Stream

_WORKSPACES: weakref.WeakKeyDictionary[Device, npt.NDArray[np.uint8]] = weakref.WeakKeyDictionary()


class AclnnError(AscendSimError, RuntimeError):
    """An aclnn call answered with something else than 0; `status` is its code."""

    def __init__(self, text: str, status: Status) -> None:
        super().__init__(text)
        self.status = status


def call(interface: str, *args: Any) -> None:
    """Run `interface` ("aclnnRotaryPositionEmbedding") with `args` in its header's order, tensors as torch has them.

    Raises `AclnnError` with the text that aclnn leaves for a code that is not 0.
    """
    values = [array_of(interface, arg) if isinstance(arg, Tensor) else arg for arg in args]
    status, size, executor = function_named(f"{interface}GetWorkspaceSize")(*values)
    _expect(status)
    device = executor.device
    stream = Stream(device)
    _expect(function_named(interface)(_workspace(device, size), size, executor, stream))
    stream.run()
    _forget_launches(device, executor)


def _expect(status: Status) -> None:
    if status is not Status.ACLNN_SUCCESS:
        raise AclnnError(get_recent_err_msg(), status)


def _workspace(device: Device, size: int) -> npt.NDArray[np.uint8]:
    """Scratch memory that the device's calls share, as PyTorch's caching allocator would hand it out."""
    found = _WORKSPACES.get(device)
    if found is None or found.nbytes < size:
        found = _WORKSPACES[device] = np.empty(max(size, 1), np.uint8)
    return found


def _forget_launches(device: Device, executor: OpExecutor) -> None:
    """The default device, which nobody looks at, does not keep what a long training launches."""
    if executor.run is not None and device not in DEVICES:
        done = {id(launch) for launch in executor.run.launches}
        device.launches[:] = [launch for launch in device.launches if id(launch) not in done]
