"""RopeOperation and RopeKernel of MKI (mixkernels/rope)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ascend_sim.frontends.atb.folder import folder_module
from ascend_sim.frontends.atb.mki.base import Kernel, KernelInfo, LaunchParam, Operation
from ascend_sim.frontends.atb.mki.registry import kernel_named, register_kernel, register_operation
from ascend_sim.frontends.atb.param_compare import register_op_param
from ascend_sim.frontends.atb.types import DataType, Format
from ascend_sim.host.tiling import TilingContext

TILING_BYTES = 48  # RopeTilingData: 12 uint32
MIN_HEAD_DIM, MAX_HEAD_DIM = 16, 4096
SYNC_ARGUMENT = 8
HALVES = (DataType.ACL_FLOAT16, DataType.ACL_BF16)
LENGTHS = (DataType.ACL_INT32, DataType.ACL_UINT32)


@register_op_param
@dataclass
class Rope:
    """AtbOps::OpParam::Rope."""

    rotaryCoeff: int = 4
    cosFormat: int = 0


@register_operation
class RopeOperation(Operation):
    name = "RopeOperation"
    param_type = Rope
    input_num, output_num = 5, 2

    def InferShapeImpl(self, launch_param: LaunchParam) -> None:
        code = folder_module("atb_rope", "checks")
        shapes = [item.desc.shape.shape for item in launch_param.inTensors]
        code.mki_infer_shape(dict(zip(code.RANKS, shapes, strict=True)))
        for i in range(self.output_num):
            launch_param.outTensors[i].desc = launch_param.inTensors[i].desc.copy()

    def GetBestKernel(self, launch_param: LaunchParam) -> Kernel | None:
        """One kernel function; the tiling id chooses within it."""
        return kernel_named("RopeKernel")


@register_kernel
class RopeKernel(Kernel):
    name = "RopeKernel"
    operator_name = "atb_rope"
    param_type = Rope
    workspace_args = 2

    def CanSupport(self, launch_param: LaunchParam) -> bool:
        """Whole heads of a size that it knows, and dtypes that go together."""
        inputs, outputs, param = launch_param.inTensors, launch_param.outTensors, launch_param.param
        if len(inputs) != 5 or len(outputs) != 2 or not isinstance(param, self.param_type):
            return False
        q, k, cos, sin, seqlen = (item.desc for item in inputs)
        if q.shape.dimNum != 2 or k.shape.dimNum != 2 or cos.shape.dimNum < 2:
            return False
        head_dim = cos.shape.dims[1]
        heads_fit = MIN_HEAD_DIM <= head_dim <= MAX_HEAD_DIM and not any(
            desc.shape.dims[1] % head_dim for desc in (q, k)
        )
        dtypes_fit = (
            q.dtype in HALVES
            and all(desc.dtype is q.dtype for desc in (k, *(item.desc for item in outputs)))
            and cos.dtype is sin.dtype
            and (cos.dtype is q.dtype or (q.dtype is DataType.ACL_FLOAT16 and cos.dtype is DataType.ACL_FLOAT))
            and seqlen.dtype in LENGTHS
        )
        all_nd = all(desc.format is Format.ACL_FORMAT_ND for desc in (q, k, seqlen))
        return param.rotaryCoeff in (2, 4, head_dim) and heads_fit and dtypes_fit and all_nd

    def GetTilingSize(self, launch_param: LaunchParam) -> int:
        return TILING_BYTES

    def InitImpl(self, context: TilingContext) -> KernelInfo:
        code = folder_module(self.operator_name, "tiling")
        self.tiling = tiling = code.rope_tiling(context)
        data = tiling.data
        heads = data["hiddenSizeQ"] // data["headDim"]
        scratch = code.scratch_bytes(data["ntokens"], data["headDim"], heads, data["realCore"])
        return KernelInfo(
            block_dim=tiling.block_dim,
            tiling_id=tiling.key,
            tiling=np.array(tiling.words, np.uint32).view(np.uint8),
            scratch_sizes=scratch,
            memset=(SYNC_ARGUMENT, scratch[1]) if data["cosFormat"] == 1 else None,
        )
