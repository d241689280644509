"""pyasc's `asc.language.core.dtype`."""

from ascend_sim.isa import dtypes as KnownTypes  # noqa: N812 - pyasc's name
from ascend_sim.isa.dtypes import DataType

__all__ = ["DataType", "KnownTypes"]
