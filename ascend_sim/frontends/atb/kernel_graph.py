"""The graph of kernels that a runner makes of one operation, and its nodes' link to MKI."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ascend_sim.frontends.atb.kernel_cache import KernelCache
from ascend_sim.frontends.atb.log import LOGGER, fail
from ascend_sim.frontends.atb.mki.base import Kernel, LaunchParam, MkiStatus, Operation, RunInfo
from ascend_sim.frontends.atb.mki.registry import find_operation
from ascend_sim.frontends.atb.types import Tensor
from ascend_sim.host.atb import Status
from ascend_sim.host.tensors import Shape

ViewFunc = Callable[[Shape], Shape]


@dataclass
class OpDesc:
    """Which MKI operation a node runs, and with which parameter."""

    op_id: int
    name: str
    param: Any


@dataclass(eq=False)
class KernelGraphNode:
    """One operation of the graph. Its tensors are tensors of the graph; `inTensorViewFuncs` reshape the first ones,
    `mkiInferShapePreFunc` may change the launch parameter before MKI looks at it.
    """

    opDesc: OpDesc
    inTensors: list[Tensor]
    outTensors: list[Tensor]
    inTensorViewFuncs: tuple[ViewFunc, ...] = ()
    mkiInferShapePreFunc: Callable[[LaunchParam], None] | None = None
    impl: MkiNodeImplement | None = None

    def CreateImplement(self) -> MkiNodeImplement:
        """Find the node's operation, in AsdOps first, then in AtbOps."""
        found = find_operation(self.opDesc.name)
        if found is None:
            fail(Status.ERROR_INVALID_PARAM, f"no MKI operation is called {self.opDesc.name!r}")
        self.impl = MkiNodeImplement(found, self.mkiInferShapePreFunc)
        return self.impl


@dataclass(eq=False)
class KernelGraph:
    inTensors: list[Tensor] = field(default_factory=list)
    outTensors: list[Tensor] = field(default_factory=list)
    internalTensors: list[Tensor] = field(default_factory=list)
    nodes: list[KernelGraphNode] = field(default_factory=list)


class MkiNodeImplement:
    """One node at work: builds the launch parameter, lets MKI infer shapes and choose a kernel, runs it."""

    def __init__(self, operation: Operation, pre_func: Callable[[LaunchParam], None] | None) -> None:
        self.operation = operation
        self.kernel: Kernel | None = None
        self.launch_param = LaunchParam()
        self.run_info = RunInfo()
        self.tiling_filled = False
        self._pre_func = pre_func
        self._kernel_is_cached = False

    def BuildLaunchParam(self, node: KernelGraphNode) -> None:
        """Inputs as the view functions have them; outputs are still unknown."""
        inputs = []
        for i, item in enumerate(node.inTensors):
            seen = Tensor(item.desc.copy(), item.deviceData, item.hostData, item.dataSize)
            if i < len(node.inTensorViewFuncs):
                seen.desc.shape = type(seen.desc.shape)(node.inTensorViewFuncs[i](item.desc.shape.shape))
                if seen.desc.nbytes != item.desc.nbytes:
                    fail(Status.ERROR_INVALID_PARAM, f"the view of input {i} has another number of elements")
            inputs.append(seen)
        outputs = [Tensor() for _ in node.outTensors]
        self.launch_param = LaunchParam(node.opDesc.param, inputs, outputs)
        self._kernel_is_cached = False

    def PlanKernelInferShape(self) -> None:
        """MKI's own checks; they answer one status whatever is wrong."""
        if self._pre_func is not None:
            self._pre_func(self.launch_param)
        status = self.operation.InferShape(self.launch_param)
        if not status.ok:
            fail(Status.ERROR_RT_FAIL, f"{self.operation.name}: MKI infers no shapes: {status.message}")

    def UpdateBestKernel(self) -> None:
        if self._kernel_is_cached and self.kernel is not None:
            return
        self.kernel = self.operation.GetBestKernel(self.launch_param)
        if self.kernel is None:
            fail(Status.ERROR_INVALID_PARAM, f"{self.operation.name} has no kernel for this call")

    def GetTilingSize(self) -> int:
        """Bytes of tiling data."""
        return self.kernel.GetTilingSize(self.launch_param) if self.kernel is not None else 0

    def GetWorkspaceSize(self) -> int:
        return self.kernel.kernel_info.total_scratch_bytes if self.kernel is not None else 0

    def InitKernelInfo(self, device: Any) -> MkiStatus:
        """Let the kernel check the call and work out its tiling."""
        assert self.kernel is not None
        return self.kernel.Init(self.launch_param, device)

    def GetCachedTiling(self, cache: KernelCache, index: int) -> bool:
        """Take a kernel whose tiling is known for this very call."""
        self.tiling_filled = False
        found = cache.GetTiling(index, self.launch_param)
        if found is None:
            return False
        self.kernel, self._kernel_is_cached, self.tiling_filled = found, True, True
        return True

    def AddTiling(self, cache: KernelCache, index: int) -> None:
        if self.kernel is not None:
            cache.AddTiling(index, self.launch_param, self.kernel)

    def Run(self, stream: Any) -> None:
        """Launch; a kernel without arguments (its tiling failed) is refused here."""
        self.run_info.stream = stream
        assert self.kernel is not None
        status = self.kernel.Run(self.launch_param, self.run_info)
        if not status.ok:
            fail(status.to_atb(), f"{self.kernel.name}: {status.message}")
        LOGGER.debug("%s ran", self.kernel.name)

    def Forget(self) -> None:
        """Let go of all data."""
        for item in (*self.launch_param.inTensors, *self.launch_param.outTensors):
            item.deviceData = item.hostData = None
        self.run_info = RunInfo()
