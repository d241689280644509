"""ShapeInfo: a shape that a tensor carries for calls that ask for one."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from ascend_sim.asc.plain import integer, shown
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
        self._shape = _dims("shape", shape)
        self._original = self._shape if original_shape is None else _dims("original_shape", original_shape)
        self.data_format = data_format

    @property
    def dims(self) -> tuple[int, ...]:
        return self._shape

    def shape(self, dim: int) -> int:
        return _dim(self._shape, dim)

    def original_shape(self, dim: int) -> int:
        return _dim(self._original, dim)


def _dims(name: str, given: Any) -> tuple[int, ...]:
    try:
        items = tuple(given)
    except TypeError:
        raise KernelError(f"asc.ShapeInfo: {name} must be a list of dimensions, not {shown(given)}") from None
    return tuple(integer(f"asc.ShapeInfo: {name}[{i}]", n) for i, n in enumerate(items))


def _dim(dims: tuple[int, ...], index: Any) -> int:
    position = integer("asc.ShapeInfo: dim", index)
    if not 0 <= position < len(dims):
        raise KernelError(f"asc.ShapeInfo: dim {position} of a shape with {len(dims)} dimensions")
    return dims[position]


def get_shape_size(info: ShapeInfo) -> int:
    """Elements: the product of the dimensions."""
    if not isinstance(info, ShapeInfo):
        raise KernelError(f"asc.get_shape_size takes a ShapeInfo, not {type(info).__name__}")
    size = 1
    for n in info.dims:
        size *= n
    return size
