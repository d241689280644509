"""pyasc's `asc.language.core.struct`."""

from ascend_sim.asc.struct import Field, Struct, StructField

__all__ = ["Field", "Struct", "StructField"]
