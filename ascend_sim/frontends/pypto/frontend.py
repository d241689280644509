"""`pypto.frontend`: the namespace of the kernel decorator."""

from __future__ import annotations

from ascend_sim.frontends.pypto.errors import FeError
from ascend_sim.frontends.pypto.jit import jit

__all__ = ["FeError", "jit"]
