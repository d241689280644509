"""The aclnn layer: every operator's two-phase interface.

    status, workspace_size, executor = aclnn.aclnn_rotary_position_embedding_get_workspace_size(x, cos, sin, mode, out)
    status = aclnn.aclnn_rotary_position_embedding(workspace, workspace_size, executor, stream)

The functions are made from the declarations in `ops/<op>/aclnn.py`; the names of the C headers
(`aclnnRotaryPositionEmbeddingGetWorkspaceSize`) mean the same functions. Calls go to the device that is current.
"""

from __future__ import annotations

from typing import Any

from ascend_sim.errors import UnsupportedError
from ascend_sim.host.aclnn.executor import OpExecutor
from ascend_sim.host.aclnn.functions import function_named, function_names
from ascend_sim.host.aclnn.status import Status, get_recent_err_msg
from ascend_sim.host.aclnn.tensor import AclFormat, AclTensor

__all__ = ["AclFormat", "AclTensor", "OpExecutor", "Status", "get_recent_err_msg"]


def __getattr__(name: str) -> Any:
    if not name.startswith("aclnn"):
        raise AttributeError(f"module 'ascend_sim.host.aclnn' has no attribute {name!r}")
    try:
        found = globals()[name] = function_named(name)
    except UnsupportedError as error:
        raise AttributeError(str(error)) from None
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *function_names()})
