"""ATB's data types: descriptions of tensors, tensors, packs of them. ACL's numbers for dtypes and formats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np

from ascend_sim.asc.memory import DeviceArray
from ascend_sim.errors import InputError
from ascend_sim.host.tensors import Shape, shape_text


class DataType(IntEnum):
    """aclDataType."""

    ACL_DT_UNDEFINED = -1
    ACL_FLOAT = 0
    ACL_FLOAT16 = 1
    ACL_INT8 = 2
    ACL_INT32 = 3
    ACL_UINT8 = 4
    ACL_INT16 = 6
    ACL_UINT16 = 7
    ACL_UINT32 = 8
    ACL_INT64 = 9
    ACL_UINT64 = 10
    ACL_DOUBLE = 11
    ACL_BOOL = 12
    ACL_STRING = 13
    ACL_COMPLEX64 = 16
    ACL_COMPLEX128 = 17
    ACL_BF16 = 27

    @property
    def text(self) -> str:
        """The dtype's name elsewhere in the simulator: "float16", "bfloat16", ..."""
        return _NAMES.get(self, self.name)

    @property
    def itemsize(self) -> int:
        """Bytes of one element; 0 where there is no such thing."""
        return _ITEMSIZES.get(self, 0)


class Format(IntEnum):
    """aclFormat."""

    ACL_FORMAT_UNDEFINED = -1
    ACL_FORMAT_NCHW = 0
    ACL_FORMAT_NHWC = 1
    ACL_FORMAT_ND = 2
    ACL_FORMAT_NC1HWC0 = 3
    ACL_FORMAT_FRACTAL_Z = 4
    ACL_FORMAT_NC1HWC0_C04 = 12
    ACL_FORMAT_HWCN = 16
    ACL_FORMAT_NDHWC = 27
    ACL_FORMAT_FRACTAL_NZ = 29
    ACL_FORMAT_NCDHW = 30
    ACL_FORMAT_NDC1HWC0 = 32
    ACL_FORMAT_FRACTAL_Z_3D = 33


_NAMES = {
    DataType.ACL_FLOAT: "float32",
    DataType.ACL_FLOAT16: "float16",
    DataType.ACL_INT8: "int8",
    DataType.ACL_INT32: "int32",
    DataType.ACL_UINT8: "uint8",
    DataType.ACL_INT16: "int16",
    DataType.ACL_UINT16: "uint16",
    DataType.ACL_UINT32: "uint32",
    DataType.ACL_INT64: "int64",
    DataType.ACL_UINT64: "uint64",
    DataType.ACL_DOUBLE: "float64",
    DataType.ACL_BOOL: "bool",
    DataType.ACL_COMPLEX64: "complex64",
    DataType.ACL_COMPLEX128: "complex128",
    DataType.ACL_BF16: "bfloat16",
}
_ITEMSIZES = {dtype: 2 if name == "bfloat16" else np.dtype(name).itemsize for dtype, name in _NAMES.items()}
_BY_NAME = {name: dtype for dtype, name in _NAMES.items()} | {
    "float": DataType.ACL_FLOAT,
    "half": DataType.ACL_FLOAT16,
    "bf16": DataType.ACL_BF16,
    "double": DataType.ACL_DOUBLE,
    "string": DataType.ACL_STRING,
}


def data_type(value: Any) -> DataType:
    """A dtype by ACL's number or name, by numpy's or ATB's name, or as numpy has it."""
    if isinstance(value, int):
        return DataType(value)
    text = value if isinstance(value, str) else str(getattr(value, "name", getattr(value, "__name__", value)))
    found = DataType.__members__.get(text, _BY_NAME.get(text.lower()))
    if found is None:
        raise InputError(f"unknown dtype {text!r}: allowed are {', '.join(_BY_NAME)} and ACL's names")
    return found


def tensor_format(value: Any) -> Format:
    """A format by ACL's number or name, or in ATB's short form ("nd")."""
    if isinstance(value, int):
        return Format(value)
    name = str(value).upper()
    found = Format.__members__.get(name if name.startswith("ACL_FORMAT_") else f"ACL_FORMAT_{name}")
    if found is None:
        raise InputError(f"unknown format {value!r}: allowed are ACL's names, with or without ACL_FORMAT_")
    return found


class Dims:
    """Sizes of the dims, of which the first `dimNum` count."""

    def __init__(self, dims: Iterable[int] = (), dimNum: int | None = None) -> None:
        self.dims = [int(dim) for dim in dims]
        self.dimNum = len(self.dims) if dimNum is None else dimNum

    @property
    def shape(self) -> Shape:
        return tuple(self.dims[: self.dimNum])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dims) and self.shape == other.shape

    def __hash__(self) -> int:
        return hash(self.shape)

    def __repr__(self) -> str:
        return f"Dims({self.dims}, {self.dimNum})"


class TensorDesc:
    """What is known of a tensor without its data; shapes may be given as tuples, dtypes and formats as texts."""

    def __init__(
        self,
        dtype: Any = DataType.ACL_DT_UNDEFINED,
        format: Any = Format.ACL_FORMAT_UNDEFINED,  # noqa: A002 - ACL's name
        shape: Dims | Sequence[int] = (),
    ) -> None:
        self.dtype = data_type(dtype)
        self.format = tensor_format(format)
        self.shape = shape if isinstance(shape, Dims) else Dims(shape)

    def copy(self) -> TensorDesc:
        return TensorDesc(self.dtype, self.format, Dims(self.shape.dims, self.shape.dimNum))

    @property
    def nbytes(self) -> int:
        """Elements times bytes of one."""
        found = self.dtype.itemsize
        for dim in self.shape.shape:
            found *= dim
        return found if self.shape.dimNum else 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorDesc) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[DataType, Format, Dims]:
        return self.dtype, self.format, self.shape

    def __repr__(self) -> str:
        return f"TensorDesc({self.dtype.text}, {self.format.name}, {shape_text(self.shape.shape)})"


@dataclass(eq=False)
class Tensor:
    """A tensor. `deviceData` or `hostData` is its memory, of which it takes `dataSize` bytes: an array, a buffer of
    device memory (`device.memory.malloc`), or a `DeviceArray` in a run without values.
    """

    desc: TensorDesc = field(default_factory=TensorDesc)
    deviceData: Any = None
    hostData: Any = None
    dataSize: int = 0

    @property
    def data(self) -> Any:
        return self.hostData if self.deviceData is None else self.deviceData


def tensor(array: Any, format: Any = Format.ACL_FORMAT_ND) -> Tensor:  # noqa: A002 - ACL's name
    """A tensor on the memory of `array`: numpy, ml_dtypes, or a `DeviceArray` for runs without values."""
    if not isinstance(array, np.ndarray | DeviceArray):
        raise InputError(f"a tensor takes a numpy array or a DeviceArray, not {type(array).__name__}")
    return Tensor(TensorDesc(array.dtype, format, array.shape), array, None, array.nbytes)


class VariantPack:
    """Inputs and outputs of a call; arrays are taken for tensors in ND format."""

    def __init__(
        self,
        inTensors: Iterable[Any] = (),
        outTensors: Iterable[Any] = (),
        *,
        in_tensors: Iterable[Any] = (),
        out_tensors: Iterable[Any] = (),
    ) -> None:
        self.inTensors = [_as_tensor(item) for item in (*inTensors, *in_tensors)]
        self.outTensors = [_as_tensor(item) for item in (*outTensors, *out_tensors)]

    @property
    def in_tensors(self) -> list[Tensor]:
        return self.inTensors

    @property
    def out_tensors(self) -> list[Tensor]:
        return self.outTensors


def _as_tensor(item: Any) -> Tensor:
    return item if isinstance(item, Tensor) else tensor(item)


def as_desc(item: Any) -> TensorDesc:
    """A description from itself, from a tensor, or from an array."""
    if isinstance(item, TensorDesc):
        return item
    return _as_tensor(item).desc
