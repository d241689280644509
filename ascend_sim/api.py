"""Python entry points: `run`, `tiling`, `infer_shapes`, `device`."""

from __future__ import annotations

from ascend_sim.host.planning import infer_shapes, tiling

__all__ = ["infer_shapes", "tiling"]
