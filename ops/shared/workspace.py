"""The scratch memory that a kernel's tiling asks for, as the kernel takes it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ascend_sim.asc.memory import DeviceArray
from ascend_sim.host.operator import Call
from ascend_sim.isa.dtypes import DataType


def user_workspace(call: Call, elements: int, dtype: DataType) -> Any:
    """`elements` of the workspace, behind what of it belongs to the system; without a workspace, memory of its own.

    Its bytes are those that were there, in memory of its own 0xFF (NaN).
    """
    if any(isinstance(tensor, DeviceArray) for tensor in call.tensors.values()):  # a run without values
        return DeviceArray((elements,), dtype)
    nbytes = elements * dtype.itemsize
    if call.workspace is None:
        return np.full(nbytes, 0xFF, np.uint8).view(dtype.numpy)
    system_bytes = call.tiling.workspace_bytes - nbytes
    return call.workspace[system_bytes : system_bytes + nbytes].view(dtype.numpy)
