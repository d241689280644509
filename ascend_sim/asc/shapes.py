"""ShapeInfo: a shape that a tensor carries for calls that ask for one."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from ascend_sim.errors import KernelError

__all__ = ["DataFormat", "ShapeInfo", "get_shape_size"]


class DataFormat(IntEnum):
    """Layouts of a tensor's dimensions."""

    ND = 0
    NZ = 1
    NCHW = 2
    NC1HWC0 = 3
    NHWC = 4


class ShapeInfo:
    """`shape` and, where it was padded, `original_shape`; both are sequences of dimensions, outermost first."""

    __slots__ = ("_original", "_shape", "data_format")

    def __init__(self, shape: Any = (), original_shape: Any = None, data_format: DataFormat = DataFormat.ND) -> None:
        self._shape = tuple(int(n) for n in shape)
        self._original = self._shape if original_shape is None else tuple(int(n) for n in original_shape)
        self.data_format = data_format

    @property
    def dims(self) -> tuple[int, ...]:
        return self._shape

    def shape(self, dim: int) -> int:
        return self._shape[dim]

    def original_shape(self, dim: int) -> int:
        return self._original[dim]


def get_shape_size(info: ShapeInfo) -> int:
    """Elements: the product of the dimensions."""
    if not isinstance(info, ShapeInfo):
        raise KernelError(f"asc.get_shape_size takes a ShapeInfo, not {type(info).__name__}")
    size = 1
    for n in info.dims:
        size *= n
    return size
