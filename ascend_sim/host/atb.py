"""What all operators of ATB (ascend-transformer-boost) share on the host: status codes and the checks of any tensor.

Facts: ascend-transformer-boost at ddcc8b62, `types.h`, `operation_base.cpp`, `tensor_check.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NoReturn

from ascend_sim.errors import TilingError
from ascend_sim.host.tensors import Shape, TensorInfo, shape_text
from ascend_sim.host.tiling import TilingContext

MAX_DIM = 8
MAX_TENSOR_BYTES = 256 << 30


class Status(IntEnum):
    """atb::Status: what every call of the library answers."""

    NO_ERROR = 0
    ERROR_INVALID_PARAM = 1
    ERROR_INVALID_GRAPH = 2
    ERROR_INTERNAL_ERROR = 3
    ERROR_RT_FAIL = 4
    ERROR_INVALID_IN_TENSOR_NUM = 5
    ERROR_INVALID_TENSOR_DTYPE = 6
    ERROR_INVALID_TENSOR_FORMAT = 7
    ERROR_INVALID_TENSOR_DIM = 8
    ERROR_INVALID_TENSOR_SIZE = 9
    ERROR_OPERATION_NULL_RUNNER = 10
    ERROR_GRAPH_INFERSHAPE_FUNC_FAIL = 11
    ERROR_CANN_ERROR = 12
    ERROR_INVALID_TENSOR_INI_MATCH = 13
    ERROR_INVALID_TENSOR_ADDR = 14
    ERROR_INVALID_TENSOR_NUM = 15
    ERROR_INVALID_TENSOR_DIM_NUM = 16
    ERROR_INVALID_SINGLE_OPERATION_PARAM = 17
    ERROR_GRAPH_NODE_RESHAPE_FUNC_FAIL = 18
    ERROR_INVALID_GRAPH_NODE_CHUNK = 19
    ERROR_INVALID_CONTEXT_ADDR = 20
    ERROR_INVALID_STREAM = 21
    ERROR_INVALID_WORKSPACE_SIZE = 22
    ERROR_INVALID_WORKSPACE_ADDR = 23
    ERROR_INVALID_OPERATION_ADDR = 24
    ERROR_HCCL_FAIL = 25
    ERROR_OUT_OF_DEVICE_MEMORY = 26
    ERROR_OUT_OF_HOST_MEMORY = 27
    ERROR_COMM_EMPTY = 28
    ERROR_COPY_HOST_MEMORY_FAIL = 29


def refuse(op: str, status: Status, text: str) -> NoReturn:
    """An ATB check fails: `text` is what the library logs, `status` what it answers."""
    raise TilingError(f"{op}: {text} ({status.name}, {int(status)})", status)


def check_tensor_shape(op: str, name: str, shape: Shape, itemsize: int) -> None:
    """What ATB asks of any tensor: 1 to 8 dims, more than 0 and at most 256 GiB (`itemsize` in bytes)."""
    if not 1 <= len(shape) <= MAX_DIM:
        refuse(op, Status.ERROR_INVALID_TENSOR_DIM, f"{name} has {len(shape)} dims; allowed are 1 to {MAX_DIM}")
    nbytes = itemsize
    for dim in shape:
        nbytes *= dim
    if not 0 < nbytes <= MAX_TENSOR_BYTES:
        refuse(
            op,
            Status.ERROR_INVALID_TENSOR_SIZE,
            f"{name} {shape_text(shape)} has {nbytes} B; allowed are 1 B to {MAX_TENSOR_BYTES} B (256 GiB)",
        )


def check_inputs(context: TilingContext, combinations: Sequence[Sequence[str]]) -> None:
    """Shape of every input in turn, then the dtypes of all of them together, as ATB does before an operation's own."""
    infos: list[TensorInfo] = list(context.inputs.values())
    for name, info in context.inputs.items():
        check_tensor_shape(context.op, name, info.shape, info.itemsize)
    given = tuple(info.dtype for info in infos)
    if given not in {tuple(row) for row in combinations}:
        refuse(
            context.op,
            Status.ERROR_INVALID_TENSOR_INI_MATCH,
            f"dtypes of ({', '.join(context.inputs)}) are ({', '.join(given)}); allowed are "
            + " or ".join(f"({', '.join(row)})" for row in combinations),
        )
