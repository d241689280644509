"""Kernels that do nothing: what a launch costs. (On the board each called one empty SIMT function, which the simulator
does not have.)"""

from __future__ import annotations

from ascend_sim import asc
from ascend_sim.accuracy.kernels.case import Case
from ascend_sim.accuracy.rows import Row


@asc.jit
def empty(limit: int) -> None:
    asc.init_soc_state()


def build(row: Row) -> Case:
    """No parameters; the row's number of blocks."""
    blocks = row.block_dim or 1
    return Case(empty[blocks])
