"""MKI's shapes: operations that choose kernels, kernels that check, tile and run; and its own error codes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ascend_sim.errors import TilingError
from ascend_sim.frontends.atb.mki.launching import KernelTask, submit
from ascend_sim.frontends.atb.types import Tensor, TensorDesc
from ascend_sim.host.atb import Status
from ascend_sim.host.operator import Operator as HostOperator
from ascend_sim.host.planning import tiling_context
from ascend_sim.host.registry import operator_named
from ascend_sim.host.tiling import Tiling, TilingContext, align_up

POINTER_BYTES = 8
ARGS_ALIGNMENT_BYTES = 64


class ErrorType(IntEnum):
    """Mki::ErrorType."""

    NO_ERROR = 0
    ERROR_INVALID_VALUE = 1
    ERROR_OPERATION_NOT_EXIST = 2
    ERROR_TACTIC_NOT_EXIST = 3
    ERROR_KERNEL_NOT_EXIST = 4
    ERROR_ATTR_NOT_EXIST = 5
    ERROR_ATTR_INVALID_TYPE = 6
    ERROR_LAUNCH_KERNEL_ERROR = 7
    ERROR_SYNC_STREAM_ERROR = 8
    ERROR_INFERSHAPE_ERROR = 9
    ERROR_NOT_CONSISTANT = 10
    ERROR_ALLOC_HOST = 11
    ERROR_MEMERY_COPY_ERROR = 12
    ERROR_RUN_TIME_ERROR = 13
    ERROR_FUNC_NOT_INITIALIZED = 14
    ERROR_FUNC_NOT_FOUND = 15


_TO_ATB: Mapping[int, Status] = {
    **dict.fromkeys((1, 2, 3, 4, 5, 6, 10), Status.ERROR_INVALID_PARAM),
    **dict.fromkeys((7, 8, 9, 13), Status.ERROR_RT_FAIL),
    11: Status.ERROR_OUT_OF_HOST_MEMORY,
    12: Status.ERROR_COPY_HOST_MEMORY_FAIL,
}


@dataclass(frozen=True)
class MkiStatus:
    code: ErrorType = ErrorType.NO_ERROR
    message: str = ""

    @property
    def ok(self) -> bool:
        return self.code is ErrorType.NO_ERROR

    def to_atb(self) -> Status:
        """What ATB makes of it."""
        return Status.NO_ERROR if self.ok else _TO_ATB.get(self.code, Status.ERROR_INTERNAL_ERROR)


OK = MkiStatus()


@dataclass(eq=False)
class LaunchParam:
    """One call as MKI sees it: the parameter and the tensors."""

    param: Any = None
    inTensors: list[Tensor] = field(default_factory=list)
    outTensors: list[Tensor] = field(default_factory=list)

    def in_descs(self) -> list[TensorDesc]:
        return [item.desc for item in self.inTensors]


@dataclass(eq=False)
class RunInfo:
    """Where a kernel runs: stream, context, and the scratch memory that the user brought."""

    stream: Any = None
    context: Any = None
    workspace: Any = None


@dataclass
class KernelInfo:
    """What a kernel's tiling decided: blocks, tiling id, scratch memory, bytes of tiling data and arguments."""

    block_dim: int = 0
    tiling_id: int = 0
    tiling: npt.NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    scratch_sizes: tuple[int, ...] = ()
    memset: tuple[int, int] | None = None  # argument, bytes: cleared before the launch
    args_bytes: int = 0

    @property
    def total_scratch_bytes(self) -> int:
        return sum(self.scratch_sizes)


class Operation(ABC):
    """An operation of MKI: checks a call, infers shapes, chooses a kernel."""

    name: ClassVar[str]
    param_type: ClassVar[type]
    input_num: ClassVar[int]
    output_num: ClassVar[int]

    def GetInputNum(self, param: Any) -> int:
        """0 for a parameter of another operation."""
        return self.input_num if isinstance(param, self.param_type) else 0

    def GetOutputNum(self, param: Any) -> int:
        return self.output_num if isinstance(param, self.param_type) else 0

    def InferShape(self, launch_param: LaunchParam) -> MkiStatus:
        """Check, then describe the outputs."""
        try:
            if len(launch_param.inTensors) != self.GetInputNum(launch_param.param):
                return MkiStatus(ErrorType.ERROR_INFERSHAPE_ERROR, "wrong number of inputs, or a foreign parameter")
            self.InferShapeImpl(launch_param)
        except TilingError as error:
            return MkiStatus(ErrorType.ERROR_INFERSHAPE_ERROR, str(error))
        return OK

    @abstractmethod
    def InferShapeImpl(self, launch_param: LaunchParam) -> None:
        """Raise `TilingError` or fill the descriptions of the outputs."""

    @abstractmethod
    def GetBestKernel(self, launch_param: LaunchParam) -> Kernel | None: ...


class Kernel(ABC):
    """A kernel of MKI, bound to the operator's folder, where its tiling function and its device code are."""

    name: ClassVar[str]
    operator_name: ClassVar[str]
    param_type: ClassVar[type]
    workspace_args: ClassVar[int] = 0  # pointers to scratch memory among the arguments

    def __init__(self) -> None:
        self.kernel_info = KernelInfo()
        self.tiling: Tiling | None = None

    @property
    def operator(self) -> HostOperator:
        return operator_named(self.operator_name)

    def Clone(self) -> Kernel:
        """A kernel of the same state that changes on its own."""
        found = copy(self)
        found.kernel_info = replace(self.kernel_info)
        return found

    @abstractmethod
    def CanSupport(self, launch_param: LaunchParam) -> bool:
        """Whether the kernel takes the call; asked when it is initialised."""

    @abstractmethod
    def GetTilingSize(self, launch_param: LaunchParam) -> int:
        """Bytes of tiling data, 0 if the parameter is wrong."""

    @abstractmethod
    def InitImpl(self, context: TilingContext) -> KernelInfo:
        """The tiling function."""

    def Init(self, launch_param: LaunchParam, device: Any) -> MkiStatus:
        """CanSupport, then the tiling for the vector cores of `device`."""
        self.tiling = None
        if not self.CanSupport(launch_param):
            return MkiStatus(ErrorType.ERROR_INVALID_VALUE, f"{self.name} does not support this call")
        try:
            info = self.InitImpl(self._tiling_context(launch_param, device))
        except TilingError as error:
            return MkiStatus(ErrorType.ERROR_INVALID_VALUE, str(error))
        pointers = len(launch_param.inTensors) + len(launch_param.outTensors) + self.workspace_args
        args = POINTER_BYTES * (pointers + 2)  # tiling and overflow
        info.args_bytes = args + align_up(info.tiling.size, ARGS_ALIGNMENT_BYTES)
        self.kernel_info = info
        return OK

    def _tiling_context(self, launch_param: LaunchParam, device: Any) -> TilingContext:
        names = [declared.name for declared in self.operator.inputs]
        inputs = {
            name: (item.desc.shape.shape, item.desc.dtype.text)
            for name, item in zip(names, launch_param.inTensors, strict=True)
        }
        return tiling_context(self.operator, inputs, vars(launch_param.param), device.soc)

    def Run(self, launch_param: LaunchParam, run_info: RunInfo) -> MkiStatus:
        """Launch; the device does the rest, and what goes wrong there no status tells."""
        if self.tiling is None:
            return MkiStatus(ErrorType.ERROR_INVALID_VALUE, "there are no arguments: the tiling failed")
        operator, items = self.operator, (*launch_param.inTensors, *launch_param.outTensors)
        names = [*(declared.name for declared in operator.inputs), *(out.name for out in operator.outputs)]
        task = KernelTask(
            name=self.name,
            operator=operator,
            attrs=dict(vars(launch_param.param)),
            tiling=self.tiling,
            tensors=dict(zip(names, items, strict=True)),
            workspace=run_info.workspace,
        )
        submit(task, run_info.context, run_info.stream)
        return OK
