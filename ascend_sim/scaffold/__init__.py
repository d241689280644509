"""The folder of a new operator, written from the files in `template`."""

from ascend_sim.scaffold.writing import write_operator

__all__ = ["write_operator"]
