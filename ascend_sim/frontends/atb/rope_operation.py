"""RopeOperation (ops_infer/rope/rope_operation.cpp): the forward rotation."""

from __future__ import annotations

from typing import Any

from ascend_sim.frontends.atb import platform
from ascend_sim.frontends.atb.folder import folder_module
from ascend_sim.frontends.atb.lifecycle import register
from ascend_sim.frontends.atb.log import fail
from ascend_sim.frontends.atb.operation import OperationBase
from ascend_sim.frontends.atb.params import RopeParam
from ascend_sim.frontends.atb.rope_ops_runner import RopeOpsRunner
from ascend_sim.host.atb import Status
from ascend_sim.host.tensors import Shape


@register
class RopeOperation(OperationBase):
    """In: q, k (tokens, hidden) or 4-D, cos, sin (rows, head size), seqlen (samples,). Out: q, k rotated."""

    name = "RopeOperation"
    operator_name = "atb_rope"
    param_type = RopeParam
    runner_class = RopeOpsRunner
    can_update = False

    @classmethod
    def ParamCheck(cls, param: Any) -> None:
        """Nothing but on the 950, where the operation goes by way of an aclnn operator that is not here."""
        if platform.is_950():
            fail(Status.ERROR_CANN_ERROR, "aclnnApplyRotaryPosEmbV2, which RopeOperation calls on the 950, is not here")

    def CheckImpl(self, shapes: dict[str, Shape]) -> None:
        checks = folder_module(self.operator_name, "checks")
        checks.dim_check(shapes)
        checks.param_check(self._param.rotaryCoeff, self._param.cosFormat, shapes["cos"][1])
