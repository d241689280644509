"""RopeGradOpsRunner (ops_train/rope_grad/rope_grad_ops_runner.cpp): one node, RopeGradOperation of MKI."""

from __future__ import annotations

from ascend_sim.frontends.atb.kernel_graph import KernelGraphNode, OpDesc
from ascend_sim.frontends.atb.mki.rope_grad import RopeGrad
from ascend_sim.frontends.atb.ops_runner import OpsRunner
from ascend_sim.frontends.atb.runner_pool import RunnerTypeRegister

IN_TENSORS, OUT_TENSORS = 4, 2


@RunnerTypeRegister.register
class RopeGradOpsRunner(OpsRunner):
    def SetupKernelGraph(self) -> None:
        inputs, outputs = self.new_graph(IN_TENSORS, OUT_TENSORS)
        param = RopeGrad(tuple(self.param.qSeqLen))
        self.kernel_graph.nodes = [KernelGraphNode(OpDesc(0, "RopeGradOperation", param), inputs, outputs)]
