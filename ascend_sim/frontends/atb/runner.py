"""Runner: what an operation is executed by; and the handle by which an operation holds one."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ascend_sim.frontends.atb.types import Tensor, TensorDesc, VariantPack

if TYPE_CHECKING:
    from ascend_sim.frontends.atb.context import Context


@dataclass(eq=False)
class RunnerVariantPack:
    """What an operation tells its runner: tensors, and the memory that Setup and Execute gave it (sizes in bytes)."""

    inTensors: list[Tensor] = field(default_factory=list)
    outTensors: list[Tensor] = field(default_factory=list)
    context: Context | None = None
    hostTilingBuffer: npt.NDArray[np.uint8] | None = None
    tilingBufferSize: int = 0
    workspaceBuffer: Any = None
    workspaceBufferSize: int = 0
    intermediateBufferSize: int = 0

    def take(self, pack: VariantPack) -> None:
        """Copy the tensors of `pack` (descriptions and places, not data)."""
        self.inTensors = [copied(item) for item in pack.inTensors]
        self.outTensors = [copied(item) for item in pack.outTensors]

    def update_data(self, pack: VariantPack) -> None:
        """Take the places of the data from `pack`, where it has tensors at all."""
        for mine, given in zip((*self.inTensors, *self.outTensors), (*pack.inTensors, *pack.outTensors), strict=False):
            mine.deviceData, mine.hostData = given.deviceData, given.hostData

    def forget(self) -> None:
        """Let go of all data."""
        for item in (*self.inTensors, *self.outTensors):
            item.deviceData = item.hostData = None
        self.hostTilingBuffer = self.workspaceBuffer = None
        self.context = None

    def in_descs(self) -> list[TensorDesc]:
        return [item.desc for item in self.inTensors]


def copied(item: Tensor) -> Tensor:
    return Tensor(item.desc.copy(), item.deviceData, item.hostData, item.dataSize)


class Runner:
    """Base: what every runner can do. Failures leave as `TilingError` with the status that the operation answers."""

    def __init__(self) -> None:
        self.name = type(self).__name__
        self.setup_count = 0
        self.is_param_updated = False

    def GetName(self) -> str:
        return self.name

    def SetParam(self, param: Any) -> None:
        """Take a new parameter; nothing changes unless it differs from the present one."""

    def Setup(self, pack: RunnerVariantPack) -> None:
        """Plan a call: kernels and sizes of buffers."""
        self.SetupImpl(pack)
        self.setup_count += 1

    def SetupImpl(self, pack: RunnerVariantPack) -> None:
        raise NotImplementedError

    def GetTilingBufferSize(self) -> int:
        return 0

    def FillHostTilingBuffer(self, buffer: npt.NDArray[np.uint8], nbytes: int, context: Context) -> None:
        """Work out the tiling data of all kernels."""

    def GetWorkspaceBufferSize(self) -> int:
        return 0

    def GetIntermediateBufferSize(self) -> int:
        return 0

    def PreExecute(self, pack: RunnerVariantPack) -> None:
        """Take the addresses of this call."""

    def Execute(self, pack: RunnerVariantPack) -> None:
        """Launch all kernels."""

    def Forget(self) -> None:
        """Let go of the tensors of the last call."""


class RunnerHandle:
    """A shared pointer with a deleter of its own: gives the runner back when the last holder lets go of it."""

    __slots__ = ("__weakref__", "runner")

    def __init__(self, runner: Runner, release: Callable[[Runner], None]) -> None:
        self.runner = runner
        weakref.finalize(self, release, runner).atexit = False
