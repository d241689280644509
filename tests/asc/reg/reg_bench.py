"""A bench for vector functions: a 950's unified buffer and a recorder entered by hand."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ascend_sim import asc
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.errors import KernelError
from ascend_sim.isa.dtypes import DataType
from ascend_sim.program import CoreProgram, Instr

UB_BYTES = 262_144


class VfBench:
    """`with VfBench() as bench:` records into `bench.core`; UB holds `fill` bytes at first."""

    def __init__(self, arch: str = "3510", fill: int = 0xFF, values: bool = True) -> None:
        self.core = CoreProgram(0)
        self.ub = np.full(UB_BYTES, fill, np.uint8)
        self.arch = arch
        self.values = values

    def __enter__(self) -> VfBench:
        RECORDER.clear()
        RECORDER.arch, RECORDER.values, RECORDER.ub, RECORDER.ub_bytes = self.arch, self.values, self.ub, UB_BYTES
        RECORDER.enter(self.core)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        RECORDER.clear()

    def local(self, dtype: DataType, addr: int, values: Any) -> asc.LocalTensor:
        """A tensor at `addr` that holds `values`."""
        data = np.asarray(values).astype(dtype.numpy)
        tensor = asc.LocalTensor(dtype, asc.TPosition.VECCALC, addr, data.size)
        self.of(tensor)[:] = data.reshape(-1)
        return tensor

    def of(self, tensor: asc.LocalTensor) -> npt.NDArray[Any]:
        """The tensor's elements, a view of UB."""
        end = tensor.addr + tensor.size * tensor.dtype.itemsize
        return self.ub[tensor.addr : end].view(tensor.dtype.numpy)

    @property
    def last(self) -> Instr:
        return self.core.instrs[-1]


def refused(call: Any, text: str) -> None:
    """`call()` raises a KernelError with exactly this text."""
    with pytest.raises(KernelError) as caught:
        call()
    assert str(caught.value) == text, f"got: {caught.value}"


def same_bits(got: npt.NDArray[Any], wanted: npt.NDArray[Any]) -> bool:
    """Equal bytes, any NaN equal to any other."""
    if got.dtype.kind == "f" or got.dtype.name == "bfloat16":
        nan = np.isnan(got.astype(np.float64)) & np.isnan(wanted.astype(np.float64))
        return bool(((got.view(f"u{got.itemsize}") == wanted.view(f"u{got.itemsize}")) | nan).all())
    return bool((got == wanted).all())
