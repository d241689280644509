"""RopeOpsRunner (ops_infer/rope/rope_ops_runner.cpp): one node, RopeOperation of MKI, which sees q and k in 2-D."""

from __future__ import annotations

from ascend_sim.frontends.atb.folder import folder_module
from ascend_sim.frontends.atb.kernel_graph import KernelGraphNode, OpDesc
from ascend_sim.frontends.atb.mki.base import LaunchParam
from ascend_sim.frontends.atb.mki.rope import Rope
from ascend_sim.frontends.atb.ops_runner import OpsRunner
from ascend_sim.frontends.atb.runner_pool import RunnerTypeRegister
from ascend_sim.frontends.atb.types import DataType

IN_TENSORS, OUT_TENSORS = 5, 2
SEQLEN = 4


@RunnerTypeRegister.register
class RopeOpsRunner(OpsRunner):
    def SetupKernelGraph(self) -> None:
        inputs, outputs = self.new_graph(IN_TENSORS, OUT_TENSORS)
        view = folder_module("atb_rope", "checks").flattened
        param = Rope(self.param.rotaryCoeff, self.param.cosFormat)
        node = KernelGraphNode(
            OpDesc(0, "RopeOperation", param), inputs, outputs, (view, view), mkiInferShapePreFunc=seqlen_as_uint32
        )
        self.kernel_graph.nodes = [node]


def seqlen_as_uint32(launch_param: LaunchParam) -> None:
    """The lengths count as unsigned, whatever they are called."""
    launch_param.inTensors[SEQLEN].desc.dtype = DataType.ACL_UINT32
