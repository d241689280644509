"""From the tensor graph to asc: bodies -> tiles -> plan -> memory -> run. The README of the package explains it."""

from __future__ import annotations

from ascend_sim.frontends.pypto.lowering.lowered import Lowered as Lowered
from ascend_sim.frontends.pypto.lowering.lowered import Target as Target
