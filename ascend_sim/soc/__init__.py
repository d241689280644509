"""What a chip is: its description from `configs`, by variant, with overrides; checked, frozen, every source named."""

from __future__ import annotations

from ascend_sim.soc.loader import load
from ascend_sim.soc.models import Soc
from ascend_sim.soc.names import foreign_product, resolve
from ascend_sim.soc.parameters import Parameter

__all__ = ["Parameter", "Soc", "foreign_product", "load", "resolve"]
