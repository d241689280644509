"""The operators, importable as `ascend_sim.oplib.<op>` from a clone and from an installed wheel alike."""

from __future__ import annotations

from ascend_sim.resources import directory

__path__ = [str(directory("ops"))]
