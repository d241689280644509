"""A block that records without a launch: enters the recorder by hand and gives tensors in its UB."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.tensors import LocalTensor, TPosition
from ascend_sim.isa.dtypes import DataType
from ascend_sim.program import CoreProgram

UB_BYTES = 196_352


class Block:
    """The running block: `core` is its record, `ub` its bytes."""

    def __init__(self, core: CoreProgram, ub: npt.NDArray[np.uint8]) -> None:
        self.core = core
        self.ub = ub

    def tensor(
        self, dtype: DataType, addr: int, size: int, values: Any = None, pos: TPosition = TPosition.VECCALC
    ) -> LocalTensor:
        """`size` elements at byte address `addr`, filled with `values` if given."""
        made = LocalTensor(dtype, pos, addr, size)
        if values is not None:
            self.read(made)[:] = np.asarray(values).astype(dtype.numpy)
        return made

    def read(self, tensor: LocalTensor) -> npt.NDArray[Any]:
        """The tensor's elements as a view of UB."""
        return self.ub[tensor.addr : tensor.addr + tensor.size * tensor.dtype.itemsize].view(tensor.dtype.numpy)


@contextmanager
def block(arch: str = "2201", values: bool = True) -> Iterator[Block]:
    """Record one block in the body."""
    core = CoreProgram(0)
    ub = np.full(UB_BYTES, 0xFF, dtype=np.uint8)
    RECORDER.clear()
    RECORDER.arch = arch
    RECORDER.values = values
    RECORDER.ub = ub
    RECORDER.cmp_mask = np.zeros(16, dtype=np.uint8)
    RECORDER.enter(core)
    try:
        yield Block(core, ub)
    finally:
        RECORDER.clear()
