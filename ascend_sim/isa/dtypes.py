"""Data types of the kernel language, under pyasc's names (and Ascend C's for bfloat16)."""

from __future__ import annotations

from typing import Any, ClassVar

import ml_dtypes
import numpy as np
import numpy.typing as npt

from ascend_sim.errors import InputError

__all__ = [
    "DataType",
    "bfloat16",
    "double",
    "float16",
    "float32",
    "float64",
    "float_",
    "half",
    "int8",
    "int16",
    "int32",
    "int64",
    "int_",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "void",
]

_NUMPY: dict[str, Any] = {
    "void": np.void,
    "int8": np.int8,
    "int16": np.int16,
    "int32": np.int32,
    "int64": np.int64,
    "uint8": np.uint8,
    "uint16": np.uint16,
    "uint32": np.uint32,
    "uint64": np.uint64,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float32": np.float32,
    "float64": np.float64,
}
_ALIASES = {"int": "int32", "half": "float16", "float": "float32", "double": "float64"}


class DataType:
    """One element type; equal names are one object, so types compare by identity."""

    __slots__ = ("code", "itemsize", "name", "numpy")
    _known: ClassVar[dict[str, DataType]] = {}

    name: str
    numpy: np.dtype[Any]
    itemsize: int
    code: int

    def __new__(cls, name: str) -> DataType:
        canonical = _ALIASES.get(name, name) if isinstance(name, str) else str(name)
        found = cls._known.get(canonical)
        if found is not None:
            return found
        if canonical not in _NUMPY:
            names = ", ".join(known for known in _NUMPY if known != "void")  # void is what functions return
            raise InputError(f"unknown data type {name!r}: allowed are {names}")
        self = super().__new__(cls)
        self.name = canonical
        self.numpy = np.dtype(_NUMPY[canonical])
        self.itemsize = 0 if canonical == "void" else self.numpy.itemsize
        self.code = len(cls._known)
        cls._known[canonical] = self
        return self

    def sizeof(self) -> int:
        """Bytes of one element."""
        return self.itemsize

    @property
    def is_float(self) -> bool:
        return "float" in self.name

    def __repr__(self) -> str:
        return f"asc.{self.name}"

    def __reduce__(self) -> tuple[type[DataType], tuple[str]]:
        return DataType, (self.name,)


def dtype_of(array: npt.NDArray[Any]) -> DataType:
    """The data type of a numpy (or ml_dtypes) array; refuses what kernels cannot hold."""
    return DataType(array.dtype.name)


(void, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64) = (
    DataType(name) for name in _NUMPY
)
int_, half, float_, double = int32, float16, float32, float64
