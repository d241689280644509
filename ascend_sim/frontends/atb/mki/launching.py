"""From a kernel's Run to the device: at once, or when somebody waits for the stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ascend_sim.asc.memory import DeviceArray
from ascend_sim.errors import DeadlockError, KernelError, UnsupportedError
from ascend_sim.frontends.atb.log import LOGGER
from ascend_sim.frontends.atb.types import Tensor
from ascend_sim.host.device import Device
from ascend_sim.host.execute import OperatorRun, launch
from ascend_sim.host.memory import DeviceBuffer
from ascend_sim.host.operator import Operator
from ascend_sim.host.stream import Stream
from ascend_sim.host.tensors import TensorInfo
from ascend_sim.host.tiling import Tiling
from ascend_sim.isa.dtypes import DataType

if TYPE_CHECKING:
    from ascend_sim.frontends.atb.context import Context


@dataclass(slots=True)
class KernelTask:
    """One launch of a kernel of MKI, with all that it needs: the runner may serve another call before it runs."""

    name: str
    operator: Operator
    attrs: Mapping[str, Any]
    tiling: Tiling
    tensors: dict[str, Tensor]
    workspace: Any

    def __post_init__(self) -> None:
        """Hold the memory, not the runner's tensors, which change with the next call."""
        self.tensors = {name: Tensor(item.desc, item.data) for name, item in self.tensors.items()}

    def run(self, device: Device) -> OperatorRun:
        """Launch on `device`; raises what goes wrong there."""
        if self.tiling.not_runnable:
            raise UnsupportedError(self.tiling.not_runnable)
        inputs = [(declared.name, self.tensors[declared.name].desc) for declared in self.operator.inputs]
        infos = {name: TensorInfo(desc.shape.shape, desc.dtype.text) for name, desc in inputs}
        run = OperatorRun(self.operator, infos, dict(self.attrs), self.tiling, [], caller=self.name)
        arguments = {name: kernel_argument(item) for name, item in self.tensors.items()}
        launch(run, arguments, device, memory_of(self.workspace))
        for text in self.tiling.warnings:
            LOGGER.warning("%s: %s", self.name, text)
        for done in run.launches:
            done.warnings.extend(self.tiling.warnings)
        return run


def submit(task: KernelTask, context: Context, stream: Any) -> None:
    """Onto a stream of the device's; with any other object for a stream the kernel runs at once.

    Either way a fault of the device is told by the synchronisation of the stream, as on a board.
    """
    if isinstance(stream, Stream):
        stream.submit(task)
        return
    try:
        task.run(context.device)
    except (KernelError, DeadlockError, UnsupportedError) as error:
        LOGGER.error("device fault, told by the next synchronisation of the stream: %s", error)
        context.faults.append((stream, error))


def kernel_argument(item: Tensor) -> Any:
    """The tensor's memory as an array of its dtype."""
    data, dtype = memory_of(item.data), DataType(item.desc.dtype.text)
    if data is None:  # device memory in a run without values
        return DeviceArray(item.desc.shape.shape, dtype)
    if isinstance(data, DeviceArray):
        return data if data.dtype is dtype else DeviceArray(item.desc.shape.shape, dtype)
    if data.dtype == dtype.numpy:
        return data
    return np.ascontiguousarray(data).reshape(-1)[: item.desc.nbytes].view(dtype.numpy)


def memory_of(data: Any) -> Any:
    """The bytes of device memory, or the array that it is."""
    return data.data if isinstance(data, DeviceBuffer) else data
