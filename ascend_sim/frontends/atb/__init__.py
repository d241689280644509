"""ATB (ascend-transformer-boost) in Python: Operation, Runner, kernel graph, kernel, on simulated cores.

The library's names and statuses; where C++ fills an argument, the function answers `(status, value)`. Every name has a
twin in snake case. `CreateOperation(RopeGradParam([2, 1, 4, 4]))`, then `InferShape`, `Setup`, `Execute`.

    rope_grad_operation.py   what the operation is and checks
    rope_grad_ops_runner.py  its kernel graph
    mki/rope_grad.py         the kernel's side: CanSupport, tiling
    ops/rope_grad/           tiling function, device code, golden, page
"""

from __future__ import annotations

from ascend_sim.frontends.atb import infer as infer
from ascend_sim.frontends.atb import train as train
from ascend_sim.frontends.atb.context import (
    Context,
    CreateContext,
    DestroyContext,
    ExecuteType,
    LaunchMode,
    aclrtSynchronizeStream,
    create_context,
    destroy_context,
    synchronize_stream,
)
from ascend_sim.frontends.atb.lifecycle import (
    CloneOperationParam,
    CreateOperation,
    DestroyOperation,
    GetExecuteStreamId,
    SetExecuteStreamId,
    UpdateOperationParam,
    clone_operation_param,
    create_operation,
    destroy_operation,
    get_execute_stream_id,
    set_execute_stream_id,
    update_operation_param,
)
from ascend_sim.frontends.atb.operation import OperationBase as Operation
from ascend_sim.frontends.atb.ops_runner import OpsRunner
from ascend_sim.frontends.atb.params import RopeGradParam, RopeParam
from ascend_sim.frontends.atb.platform import pretend_soc
from ascend_sim.frontends.atb.rope_grad_operation import RopeGradOperation
from ascend_sim.frontends.atb.rope_operation import RopeOperation
from ascend_sim.frontends.atb.runner_pool import RunnerTypeRegister
from ascend_sim.frontends.atb.types import DataType, Dims, Format, Tensor, TensorDesc, VariantPack, tensor
from ascend_sim.host.atb import Status

globals().update(Status.__members__)  # NO_ERROR, ERROR_INVALID_PARAM, ...
globals().update(DataType.__members__)  # ACL_FLOAT16, ...
globals().update(Format.__members__)  # ACL_FORMAT_ND, ...

__all__ = [
    "CloneOperationParam",
    "Context",
    "CreateContext",
    "CreateOperation",
    "DataType",
    "DestroyContext",
    "DestroyOperation",
    "Dims",
    "ExecuteType",
    "Format",
    "GetExecuteStreamId",
    "LaunchMode",
    "Operation",
    "OpsRunner",
    "RopeGradOperation",
    "RopeGradParam",
    "RopeOperation",
    "RopeParam",
    "RunnerTypeRegister",
    "SetExecuteStreamId",
    "Status",
    "Tensor",
    "TensorDesc",
    "UpdateOperationParam",
    "VariantPack",
    "aclrtSynchronizeStream",
    "clone_operation_param",
    "create_context",
    "create_operation",
    "destroy_context",
    "destroy_operation",
    "get_execute_stream_id",
    "infer",
    "pretend_soc",
    "set_execute_stream_id",
    "synchronize_stream",
    "tensor",
    "train",
    "update_operation_param",
]
