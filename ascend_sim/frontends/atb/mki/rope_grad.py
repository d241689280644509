"""RopeGradOperation and RopeGradKernel of MKI (mixkernels/rope_grad)."""

from __future__ import annotations

from dataclasses import dataclass, field

from ascend_sim.errors import TilingError
from ascend_sim.frontends.atb.folder import folder_module
from ascend_sim.frontends.atb.mki.base import Kernel, KernelInfo, LaunchParam, Operation
from ascend_sim.frontends.atb.mki.registry import kernel_named, register_kernel, register_operation
from ascend_sim.frontends.atb.param_compare import register_op_param
from ascend_sim.frontends.atb.types import DataType, Format
from ascend_sim.host.tiling import TilingContext

HEAD_SIZE = 128
BATCH_LIMIT = 100_000
HEAD_BYTES, SAMPLE_BYTES = 40, 4  # RopeGradTilingData, RopeGradSampleTilingData


@register_op_param
@dataclass
class RopeGrad:
    """AtbOps::OpParam::RopeGrad."""

    qSeqLen: tuple[int, ...] = field(default=())


@register_operation
class RopeGradOperation(Operation):
    name = "RopeGradOperation"
    param_type = RopeGrad
    input_num, output_num = 4, 2

    def InferShapeImpl(self, launch_param: LaunchParam) -> None:
        self.CheckRopeGrad(launch_param)
        for i in range(self.output_num):
            launch_param.outTensors[i].desc = launch_param.inTensors[i].desc.copy()

    def CheckRopeGrad(self, launch_param: LaunchParam) -> None:
        """The dims once more, as ATB has checked them."""
        q, k, cos, sin = (item.desc.shape.shape for item in launch_param.inTensors)
        if len(q) != 2 or len(k) != 2 or q != k:
            raise TilingError(f"inputs 0 and 1 must be 2-D and of one shape, not {q} and {k}")
        if q[1] % HEAD_SIZE:
            raise TilingError(f"hiddenSize is {q[1]}, no multiple of {HEAD_SIZE}")
        if cos != sin or len(cos) < 2 or cos[1] != HEAD_SIZE:
            raise TilingError(f"cos and sin must be of one shape (positions, {HEAD_SIZE}), not {cos} and {sin}")

    def GetBestKernel(self, launch_param: LaunchParam) -> Kernel | None:
        """There is one kernel."""
        return kernel_named("RopeGradKernel")


@register_kernel
class RopeGradKernel(Kernel):
    name = "RopeGradKernel"
    operator_name = "rope_grad"
    param_type = RopeGrad

    def CanSupport(self, launch_param: LaunchParam) -> bool:
        """4 inputs, 2 outputs, its own parameter; inputs fp16, ND, 2-D; outputs fp16."""
        inputs, outputs = launch_param.inTensors, launch_param.outTensors
        if len(inputs) != 4 or len(outputs) != 2 or not isinstance(launch_param.param, self.param_type):
            return False
        right_inputs = all(
            item.desc.dtype is DataType.ACL_FLOAT16
            and item.desc.format is Format.ACL_FORMAT_ND
            and item.desc.shape.dimNum == 2
            for item in inputs
        )
        return right_inputs and all(item.desc.dtype is DataType.ACL_FLOAT16 for item in outputs)

    def GetTilingSize(self, launch_param: LaunchParam) -> int:
        if not isinstance(launch_param.param, self.param_type):
            return 0
        batch = len(launch_param.param.qSeqLen)
        return HEAD_BYTES + SAMPLE_BYTES * batch if 0 < batch < BATCH_LIMIT else 0

    def InitImpl(self, context: TilingContext) -> KernelInfo:
        code = folder_module(self.operator_name, "tiling")
        self.tiling = tiling = code.rope_grad_tiling(context)
        return KernelInfo(block_dim=tiling.block_dim, tiling=code.tiling_buffer(tiling.words))
