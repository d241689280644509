"""RopeGradOperation (ops_train/rope_grad/rope_grad_operation.cpp): what the training operator is and checks."""

from __future__ import annotations

from typing import Any

from ascend_sim.frontends.atb import platform
from ascend_sim.frontends.atb.folder import folder_module
from ascend_sim.frontends.atb.lifecycle import register
from ascend_sim.frontends.atb.log import fail
from ascend_sim.frontends.atb.operation import OperationBase
from ascend_sim.frontends.atb.params import RopeGradParam
from ascend_sim.frontends.atb.rope_grad_ops_runner import RopeGradOpsRunner
from ascend_sim.host.atb import Status
from ascend_sim.host.tensors import Shape


@register
class RopeGradOperation(OperationBase):
    """In: q_embedded_grad, k_embedded_grad (tokens, hidden), cos, sin (positions, 128). Out: q_grad, k_grad."""

    name = "RopeGradOperation"
    operator_name = "rope_grad"
    param_type = RopeGradParam
    runner_class = RopeGradOpsRunner

    @classmethod
    def ParamCheck(cls, param: Any) -> None:
        """The chip, then the sample lengths."""
        if not platform.is_910b():
            fail(
                Status.ERROR_INVALID_PARAM,
                f"{cls.name} exists on the variants of Ascend910B and Ascend910_93, not on {platform.soc_name()}",
            )
        folder_module(cls.operator_name, "checks").check_q_seq_len(param.qSeqLen)

    def CheckImpl(self, shapes: dict[str, Shape]) -> None:
        self.DimCheck(shapes)
        self.ShapeParamCheck(shapes)

    def DimCheck(self, shapes: dict[str, Shape]) -> None:
        """2-D, gradients alike, tables alike, whole heads of 128."""
        folder_module(self.operator_name, "checks").dim_check(shapes)

    def ShapeParamCheck(self, shapes: dict[str, Shape]) -> None:
        """Samples no longer than the tables, which are 128 wide (a second ParamCheck in the original)."""
        folder_module(self.operator_name, "checks").param_check(self._param.qSeqLen, shapes["cos"])
