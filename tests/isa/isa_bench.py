"""A bench for single instructions: enters the recorder by hand, with its own UB and global memory."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import settings

from ascend_sim.asc.memory import GlobalMemory
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.tensors import GlobalTensor, LocalTensor, TPosition
from ascend_sim.errors import KernelError
from ascend_sim.isa.dtypes import DataType, dtype_of
from ascend_sim.program import CoreProgram, Instr

UB_BYTES = 196_608


class Bench:
    """`with Bench() as bench:` records into `bench.core`; UB holds `fill` bytes at first."""

    def __init__(self, arch: str = "2201", values: bool = True, fill: int = 0xFF, ub_bytes: int = UB_BYTES) -> None:
        self.arch, self.values = arch, values
        self.core = CoreProgram(0)
        self.memory = GlobalMemory()
        self.ub = np.full(ub_bytes, fill, np.uint8)

    def __enter__(self) -> Bench:
        RECORDER.clear()
        RECORDER.arch, RECORDER.values = self.arch, self.values
        RECORDER.ub = self.ub if self.values else None
        RECORDER.ub_bytes = len(self.ub)
        RECORDER.cmp_mask = np.zeros(16, np.uint8)
        RECORDER.enter(self.core)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        RECORDER.clear()

    def gm(self, array: npt.NDArray[Any], name: str = "x", offset: int = 0) -> GlobalTensor:
        """A GlobalTensor over `array`'s own memory, starting `offset` elements in."""
        allocation = self.memory.alloc(name, array.nbytes, array if self.values else None)
        tensor = GlobalTensor()
        tensor.allocation, tensor.dtype = allocation, dtype_of(array)
        tensor.offset, tensor.size = offset * array.itemsize, array.size - offset
        return tensor

    def local(self, dtype: DataType, addr: int, size: int, pos: TPosition = TPosition.VECCALC) -> LocalTensor:
        return LocalTensor(dtype, pos, addr, size)

    def filled(self, dtype: DataType, addr: int, values: Any) -> LocalTensor:
        """A tensor that holds `values`."""
        tensor = LocalTensor(dtype, TPosition.VECCALC, addr, len(values))
        if self.values:
            self.view(tensor)[:] = np.asarray(values).astype(dtype.numpy)
        return tensor

    def view(self, tensor: LocalTensor) -> npt.NDArray[Any]:
        """The tensor's bytes in UB as a typed array (a live view)."""
        end = tensor.addr + tensor.size * tensor.dtype.itemsize
        found: npt.NDArray[Any] = self.ub[tensor.addr : end].view(tensor.dtype.numpy)
        return found

    @property
    def last(self) -> Instr:
        return self.core.instrs[-1]


def random_bytes(nbytes: int, seed: int = 0) -> npt.NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, nbytes, np.uint8)


def region_bytes(regions: Any) -> set[tuple[int, int]]:
    """(memory, byte) of every byte in the regions, by plain loops."""
    found: set[tuple[int, int]] = set()
    for region in regions:
        starts = [region.start]
        for count, stride in region.dims:
            starts = [start + i * stride for start in starts for i in range(count)]
        found |= {(int(region.memory), start + i) for start in starts for i in range(region.length)}
    return found


def refused(call: Any, text: str) -> None:
    """`call()` raises a KernelError with exactly this text."""
    with pytest.raises(KernelError) as caught:
        call()
    assert str(caught.value) == text, f"got: {caught.value}"


def some(examples: int) -> settings:
    """That many random examples, without a time limit for each: the machine that runs the tests may be busy."""
    return settings(max_examples=examples, deadline=None)
