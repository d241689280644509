"""What Execute compares with what Setup was told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ascend_sim.errors import InputError
from ascend_sim.frontends.atb.log import fail
from ascend_sim.frontends.atb.types import Tensor
from ascend_sim.host.atb import Status


def workspace_bytes(workspace: Any) -> int:
    """Bytes of a workspace array; None has 0."""
    if workspace is None:
        return 0
    try:
        return int(workspace.nbytes)
    except AttributeError:
        raise InputError(f"workspace takes a uint8 array or None, not {type(workspace).__name__}") from None


def check_execute_pack(what: str, given: Sequence[Tensor], planned: Sequence[Tensor]) -> None:
    """As many tensors as at Setup, of the same size in bytes, each with memory."""
    if len(given) != len(planned):
        fail(Status.ERROR_INVALID_PARAM, f"{len(given)} {what}s; Setup had {len(planned)}")
    for i, (item, plan) in enumerate(zip(given, planned, strict=True)):
        if item.dataSize != plan.desc.nbytes:
            fail(Status.ERROR_INVALID_PARAM, f"{what} {i} has {item.dataSize} B; Setup's has {plan.desc.nbytes} B")
        if item.data is None:
            fail(Status.ERROR_INVALID_PARAM, f"{what} {i} has neither device nor host memory")
