"""OpsRunner: the runner of operations that are a graph of MKI kernels."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ascend_sim.frontends.atb.kernel_cache import GLOBAL_COUNT, LOCAL_COUNT, KernelCache, entries
from ascend_sim.frontends.atb.kernel_graph import KernelGraph, KernelGraphNode
from ascend_sim.frontends.atb.log import LOGGER, fail
from ascend_sim.frontends.atb.runner import Runner, RunnerVariantPack
from ascend_sim.frontends.atb.types import Tensor, TensorDesc
from ascend_sim.host.atb import Status
from ascend_sim.host.tiling import align_up

if TYPE_CHECKING:
    from ascend_sim.frontends.atb.context import Context

KERNEL_ALIGNMENT_BYTES = 32
_THREAD = threading.local()  # tilings known to all runners of a type, in this thread


@dataclass(slots=True)
class SetupStatistic:
    """How often planning could be spared."""

    setups: int = 0
    setups_reused: int = 0
    tilings_computed: int = 0
    tilings_cached: int = 0


class OpsRunner(Runner):
    """Subclasses fill `kernel_graph` in SetupKernelGraph."""

    def __init__(self, param: Any) -> None:
        super().__init__()
        self.param = param.copy()
        self.kernel_graph = KernelGraph()
        self.statistic = SetupStatistic()
        self._last_in_descs: list[TensorDesc] | None = None
        self._tiling_sizes: list[int] = []
        self._local_cache = KernelCache(entries(LOCAL_COUNT))

    def SetParam(self, param: Any) -> None:
        if param != self.param:
            LOGGER.debug("%s: parameter changed to %r", self.name, param)
            self.param = param.copy()
            self.is_param_updated = True

    def SetupKernelGraph(self) -> None:
        raise NotImplementedError

    # -- Setup ------------------------------------------------------------------------------------------------------

    def SetupImpl(self, pack: RunnerVariantPack) -> None:
        """Plan anew, unless neither the parameter nor the inputs have changed since the last time."""
        self.statistic.setups += 1
        if not self.is_param_updated and self.setup_count and self._last_in_descs == pack.in_descs():
            self.statistic.setups_reused += 1
            self._take_tensors(pack)
            for index, node in enumerate(self.kernel_graph.nodes):
                self._get_cached_tiling(index, node)
            return
        self._last_in_descs = [desc.copy() for desc in pack.in_descs()]
        self._tiling_sizes = []
        self.SetupKernelGraph()
        self._take_tensors(pack)
        for index, node in enumerate(self.kernel_graph.nodes):
            self._plan_kernel(index, node)
        self.is_param_updated = False

    def new_graph(self, inputs: int, outputs: int) -> tuple[list[Tensor], list[Tensor]]:
        """Start the graph with so many tensors, which are filled in later."""
        self.kernel_graph = KernelGraph([Tensor() for _ in range(inputs)], [Tensor() for _ in range(outputs)])
        return self.kernel_graph.inTensors, self.kernel_graph.outTensors

    def _take_tensors(self, pack: RunnerVariantPack) -> None:
        graph = self.kernel_graph
        given = (*pack.inTensors, *pack.outTensors)
        for mine, item in zip((*graph.inTensors, *graph.outTensors), given, strict=True):
            mine.desc, mine.dataSize = item.desc.copy(), item.dataSize
            mine.deviceData, mine.hostData = item.deviceData, item.hostData

    def _plan_kernel(self, index: int, node: KernelGraphNode) -> None:
        impl = node.impl
        if impl is None or self.is_param_updated:
            impl = node.CreateImplement()
        impl.BuildLaunchParam(node)
        impl.PlanKernelInferShape()
        self._get_cached_tiling(index, node)
        impl.UpdateBestKernel()
        self._tiling_sizes.append(align_up(impl.GetTilingSize(), KERNEL_ALIGNMENT_BYTES))

    def _caches(self) -> tuple[KernelCache, KernelCache]:
        shared: dict[str, KernelCache] = _THREAD.__dict__.setdefault("caches", {})
        if self.name not in shared:
            shared[self.name] = KernelCache(entries(GLOBAL_COUNT))
        return self._local_cache, shared[self.name]

    def _get_cached_tiling(self, index: int, node: KernelGraphNode) -> None:
        assert node.impl is not None
        if any(node.impl.GetCachedTiling(cache, index) for cache in self._caches()):
            self.statistic.tilings_cached += 1

    # -- sizes and tiling -------------------------------------------------------------------------------------------

    def GetTilingBufferSize(self) -> int:
        return sum(self._tiling_sizes)

    def FillHostTilingBuffer(self, buffer: npt.NDArray[np.uint8], nbytes: int, context: Context) -> None:
        """Tiling data of all nodes, one behind the other, each on 32 B."""
        if nbytes < self.GetTilingBufferSize():
            fail(Status.ERROR_OUT_OF_HOST_MEMORY, f"{nbytes} B of tiling buffer for {self.GetTilingBufferSize()} B")
        offset = 0
        for index, (node, size) in enumerate(zip(self.kernel_graph.nodes, self._tiling_sizes, strict=True)):
            impl = node.impl
            if size == 0 or impl is None:
                continue
            if not impl.tiling_filled:
                self.statistic.tilings_computed += 1
                status = impl.InitKernelInfo(context.device)
                if not status.ok:
                    fail(status.to_atb(), f"{node.opDesc.name}: no tiling: {status.message}")
                for cache in self._caches():
                    impl.AddTiling(cache, index)
            assert impl.kernel is not None
            data = impl.kernel.kernel_info.tiling
            buffer[offset : offset + data.size] = data
            offset += size

    def GetWorkspaceBufferSize(self) -> int:
        """The nodes run one after another and share it."""
        sizes = (node.impl.GetWorkspaceSize() for node in self.kernel_graph.nodes if node.impl is not None)
        return max((align_up(size, KERNEL_ALIGNMENT_BYTES) for size in sizes), default=0)

    # -- Execute ----------------------------------------------------------------------------------------------------

    def PreExecute(self, pack: RunnerVariantPack) -> None:
        self._take_tensors(pack)
        for node in self.kernel_graph.nodes:
            impl = node.impl
            assert impl is not None
            planned = (*impl.launch_param.inTensors, *impl.launch_param.outTensors)
            for mine, item in zip(planned, (*node.inTensors, *node.outTensors), strict=True):
                mine.deviceData, mine.hostData, mine.dataSize = item.deviceData, item.hostData, item.dataSize
            impl.run_info.workspace = pack.workspaceBuffer
            impl.run_info.context = pack.context

    def Execute(self, pack: RunnerVariantPack) -> None:
        assert pack.context is not None
        for node in self.kernel_graph.nodes:
            assert node.impl is not None
            node.impl.Run(pack.context.GetExecuteStream())

    def Forget(self) -> None:
        for item in (*self.kernel_graph.inTensors, *self.kernel_graph.outTensors):
            item.deviceData = item.hostData = None
        for node in self.kernel_graph.nodes:
            if node.impl is not None:
                node.impl.Forget()
