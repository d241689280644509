"""What a LocalTensor becomes inside a vector function: an address in unified buffer that loop indices may move."""

from __future__ import annotations

from typing import Any

from ascend_sim.asc.reg.affine import Affine
from ascend_sim.asc.tensors import LocalTensor, element_offset
from ascend_sim.errors import KernelError
from ascend_sim.isa.dtypes import DataType


class UbPointer:
    """`p + n` and `p[n]` (or `p[n:]`) point n elements on; n is a number or an expression of loop indices.

    As in Ascend C a pointer knows no end: what a load reads behind its tensor is whatever lies there. A store behind it
    is refused.
    """

    __slots__ = ("address", "dtype", "tensor")

    def __init__(self, tensor: LocalTensor, dtype: DataType, address: Affine) -> None:
        self.tensor = tensor
        self.dtype = dtype
        self.address = address  # bytes

    @classmethod
    def of(cls, tensor: LocalTensor) -> UbPointer:
        return cls(tensor, tensor.dtype, Affine(tensor.addr, {}))

    def __add__(self, elements: Any) -> UbPointer:
        offset = Affine.of(elements, "an offset of a pointer into unified buffer")
        return UbPointer(self.tensor, self.dtype, self.address + offset * self.dtype.itemsize)

    def __sub__(self, elements: Any) -> UbPointer:
        return self + -Affine.of(elements, "an offset of a pointer into unified buffer")

    def __getitem__(self, index: Any) -> UbPointer:
        if isinstance(index, slice) and isinstance(index.start, Affine) and index.stop is None and index.step is None:
            index = index.start
        return self + (index if isinstance(index, Affine) else element_offset(index))

    def __iter__(self) -> Any:
        raise KernelError("a pointer into unified buffer cannot be iterated: load it into a RegTensor")

    def reinterpret_cast(self, dtype: DataType) -> UbPointer:
        """The same address, pointing at elements of `dtype`."""
        if not isinstance(dtype, DataType) or not dtype.itemsize:
            raise KernelError(f"reinterpret_cast takes a numeric data type, not {dtype!r}")
        return UbPointer(self.tensor, dtype, self.address)

    def __repr__(self) -> str:
        return f"UbPointer({self.dtype!r}, {self.address!r})"
