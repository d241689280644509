"""Status codes of the aclnn interfaces, and the text of the last error.

Numbers and names: ops-transformer's page on aclnn return codes.
"""

from __future__ import annotations

import threading
from enum import IntEnum

from ascend_sim.errors import AscendSimError


class Status(IntEnum):
    """aclnnStatus. Codes from 561000 on are inner errors; `ACLNN_ERR_INNER_FIND_KERNEL_ERROR` says that the chip's
    operator package, here the simulator, has no kernel for the call."""

    ACLNN_SUCCESS = 0
    ACLNN_ERR_PARAM_NULLPTR = 161001
    ACLNN_ERR_PARAM_INVALID = 161002
    ACLNN_ERR_RUNTIME_ERROR = 361001
    ACLNN_ERR_INNER = 561000
    ACLNN_ERR_INNER_INFERSHAPE_ERROR = 561001
    ACLNN_ERR_INNER_TILING_ERROR = 561002
    ACLNN_ERR_INNER_FIND_KERNEL_ERROR = 561003
    ACLNN_ERR_INNER_CREATE_EXECUTOR = 561101
    ACLNN_ERR_INNER_NULLPTR = 561103


class RefusedError(AscendSimError):
    """A call that an interface answers with `status`."""

    def __init__(self, status: Status, text: str) -> None:
        super().__init__(text)
        self.status = status


class _Last(threading.local):
    """The errors of one thread's calls."""

    text = ""


_LAST = _Last()


def answer(interface: str, refusal: RefusedError) -> Status:
    """The refusal's code; its text waits for `get_recent_err_msg`."""
    _LAST.text = f"{interface}: {refusal} ({refusal.status.name}, {int(refusal.status)})"
    return refusal.status


def get_recent_err_msg() -> str:
    """Text of this thread's last error, "" if there is none; it is told once (aclGetRecentErrMsg)."""
    text, _LAST.text = _LAST.text, ""
    return text
