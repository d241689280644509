"""Kernels with their tilings, kept for the calls that come again."""

from __future__ import annotations

import os
from collections import deque
from typing import TYPE_CHECKING, Any

from ascend_sim.frontends.atb.param_compare import params_equal
from ascend_sim.frontends.atb.types import TensorDesc

if TYPE_CHECKING:
    from ascend_sim.frontends.atb.mki.base import Kernel, LaunchParam

MAX_ENTRIES = 1024
LOCAL_COUNT = "ATB_OPSRUNNER_KERNEL_CACHE_LOCAL_COUNT"
GLOBAL_COUNT = "ATB_OPSRUNNER_KERNEL_CACHE_GLOABL_COUNT"  # spelt as the library spells it


def entries(variable: str) -> int:
    """How many entries the environment asks for: 1 to 1024, by default 1."""
    text = os.environ.get(variable, "")
    count = int(text) if text.strip().isdigit() else 1
    return min(max(count, 1), MAX_ENTRIES)


class KernelCache:
    """Per node of a graph the last `count` calls: descriptions of the inputs and the parameter are the key."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._nodes: dict[int, deque[tuple[list[TensorDesc], Any, Kernel]]] = {}

    def GetTiling(self, index: int, launch_param: LaunchParam) -> Kernel | None:
        """A kernel ready for the same call, of its own state, or None."""
        for descs, param, kernel in self._nodes.get(index, ()):
            if descs == launch_param.in_descs() and params_equal(param, launch_param.param):
                return kernel.Clone()
        return None

    def AddTiling(self, index: int, launch_param: LaunchParam, kernel: Kernel) -> None:
        kept = self._nodes.setdefault(index, deque(maxlen=self._count))
        kept.append(([desc.copy() for desc in launch_param.in_descs()], launch_param.param, kernel.Clone()))
