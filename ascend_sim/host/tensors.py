"""What the host knows of a tensor before any value is looked at: shape and dtype."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from reprlib import repr as repr_short
from typing import Any

from ascend_sim.errors import InputError
from ascend_sim.isa.dtypes import DataType

Shape = tuple[int, ...]

UNKNOWN_DIM = -1  # one dim is not known yet (graph mode)
UNKNOWN_RANK = -2  # the shape (-2,): not even the rank is known
# dtypes that tensors may have but kernels here do not compute with: an operator's own checks refuse them
_OTHER_DTYPES = frozenset({"bool", "complex64", "complex128", "int4", "float8_e4m3fn", "float8_e5m2", "string"})


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """Shape (elements per dim) and dtype name ("float16", "bfloat16", ...) of one tensor."""

    shape: Shape
    dtype: str

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return DataType(self.dtype).itemsize

    @property
    def size(self) -> int:
        """Elements in all."""
        product = 1
        for dim in self.shape:
            product *= dim
        return product

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    def __str__(self) -> str:
        return f"{shape_text(self.shape)} {self.dtype}"


def shape_text(shape: Shape) -> str:
    """`(2, 32, 8, 128)`, as error texts and summaries print shapes."""
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def tensor_info(name: str, value: Any, *, unknown_dims: bool = False) -> TensorInfo:
    """Read `value`, an array or a `(shape, dtype)` pair, as the tensor `name`.

    `unknown_dims` admits -1 dims and the unknown rank (-2,), as shape inference meets them in graph mode.
    """
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return TensorInfo(_read_shape(name, value.shape, unknown_dims), _read_dtype(name, value.dtype))
    if isinstance(value, tuple | list) and len(value) == 2 and isinstance(value[0], tuple | list):
        return TensorInfo(_read_shape(name, value[0], unknown_dims), _read_dtype(name, value[1]))
    raise InputError(
        f"input {name}: expected an array or a (shape, dtype) pair such as ((2, 32, 8, 128), 'float16'), "
        f"got {type(value).__name__}"
    )


def _read_shape(name: str, shape: Any, unknown_dims: bool) -> Shape:
    try:
        dims = tuple(dim.__index__() for dim in shape)
    except (AttributeError, TypeError):
        raise InputError(f"input {name}: shape {repr_short(shape)} must be a sequence of integers") from None
    if unknown_dims and (dims == (UNKNOWN_RANK,) or all(dim >= UNKNOWN_DIM for dim in dims)):
        return dims
    if any(dim < 0 for dim in dims):
        raise InputError(f"input {name}: shape {shape_text(dims)} has a negative dim; dims are counts of elements")
    return dims


def _read_dtype(name: str, dtype: Any) -> str:
    text = dtype if isinstance(dtype, str) else getattr(dtype, "name", getattr(dtype, "__name__", dtype))
    return read_dtype(name, str(text))


def read_dtype(name: str, text: str) -> str:
    """The dtype called `text` of the tensor `name`, under its canonical name."""
    if text in _OTHER_DTYPES:
        return text
    try:
        return DataType(text).name
    except InputError as error:
        raise InputError(f"input {name}: {error}") from None


def infos_text(infos: Mapping[str, TensorInfo]) -> str:
    """`x (2, 32, 8, 128) float16, cos ...`: one line on all inputs of a call."""
    return ", ".join(f"{name} {info}" for name, info in infos.items())
