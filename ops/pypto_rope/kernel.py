"""Launches the PyPTO kernel of a call."""

from __future__ import annotations

from ascend_sim.host.operator import Call

from .kernels import planned
from .tiling import chosen


def launch(call: Call) -> None:
    """One launch on the current device."""
    work = planned(call.tensors, {**call.attrs, **chosen(call.tiling)}, _unexpected)
    work.kernel(*work.arguments)


def _unexpected(text: str) -> None:
    raise AssertionError(f"the tiling let a call pass that has no kernel: {text}")
