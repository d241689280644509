"""`AclTensor`: a view (shape, strides, offset) of device memory, as aclCreateTensor makes it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.asc.memory import DeviceArray, memory_root
from ascend_sim.errors import InputError
from ascend_sim.host.memory import DeviceBuffer
from ascend_sim.host.tensors import Shape, TensorInfo, tensor_info
from ascend_sim.isa.dtypes import DataType
from ascend_sim.plurals import counted

Array = npt.NDArray[Any]


class AclFormat(IntEnum):
    """aclFormat: how the dims of a tensor are meant."""

    ACL_FORMAT_UNDEFINED = -1
    ACL_FORMAT_NCHW = 0
    ACL_FORMAT_NHWC = 1
    ACL_FORMAT_ND = 2
    ACL_FORMAT_NC1HWC0 = 3
    ACL_FORMAT_FRACTAL_Z = 4
    ACL_FORMAT_FRACTAL_NZ = 29


class AclTensor:
    """Shape, strides and offset in elements of `storage_shape` elements at `data`.

    `data` is a `DeviceBuffer`, a contiguous numpy array, or None: a tensor that so far has no memory (a device without
    values needs none). `AclTensor.from_numpy` takes everything from an array and works on its memory.
    """

    def __init__(
        self,
        shape: Sequence[int],
        dtype: Any,
        *,
        strides: Sequence[int] | None = None,
        offset: int = 0,
        format: AclFormat = AclFormat.ACL_FORMAT_ND,  # noqa: A002 - ACL's name
        storage_shape: Sequence[int] | None = None,
        data: DeviceBuffer | Array | None = None,
    ) -> None:
        self.info: TensorInfo = tensor_info("AclTensor", (tuple(shape), dtype))
        self.strides = tuple(strides) if strides is not None else contiguous_strides(self.info.shape)
        self.offset = offset
        self.format = AclFormat(format)
        self.storage_shape: Shape = tuple(storage_shape) if storage_shape is not None else self.info.shape
        self.data = data
        self.destroyed = False
        self.device_array = DeviceArray(self.info.shape, self.info.dtype)  # what a device without values works on
        self._array: Array | None = None
        self._check()

    @classmethod
    def from_numpy(cls, array: Array, format: AclFormat = AclFormat.ACL_FORMAT_ND) -> AclTensor:  # noqa: A002
        """A tensor on the memory of `array`, which results in place change; strides are those of the array."""
        if not isinstance(array, np.ndarray):
            raise InputError(f"AclTensor.from_numpy takes a numpy array, not {type(array).__name__}")
        if not array.dtype.isnative:
            raise InputError(f"AclTensor: dtype {array.dtype.str} has foreign byte order")
        itemsize, root = array.itemsize, memory_root(array)
        if any(stride % itemsize for stride in array.strides):
            raise InputError(f"AclTensor: strides {array.strides} B are no multiples of the {itemsize} B of an element")
        start = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
        whole = root.itemsize == itemsize and root.dtype == array.dtype
        self = cls(array.shape, array.dtype, format=format)
        self.strides = tuple(stride // itemsize for stride in array.strides)
        self.offset = start // itemsize
        self.storage_shape = root.shape if whole else (root.nbytes // itemsize,)
        self.data = self._array = array
        return self

    @property
    def shape(self) -> Shape:
        return self.info.shape

    @property
    def dtype(self) -> str:
        return self.info.dtype

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie one behind the other; dims of 1 may have any stride."""
        expected = 1
        for dim, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if dim != 1 and stride != expected:
                return self.info.size == 0
            expected *= dim
        return True

    @property
    def trouble(self) -> str:
        """Why the tensor cannot be used any more, or ""."""
        if self.destroyed:
            return "has been destroyed"
        if isinstance(self.data, DeviceBuffer) and self.data.freed:
            return f"lies in {self.data}, which has been freed"
        return ""

    def array(self) -> Array:
        """The elements as a numpy view of the tensor's memory."""
        if self.trouble:
            raise InputError(f"AclTensor {self.info} {self.trouble}")
        if self.data is None or (isinstance(self.data, DeviceBuffer) and self.data.data is None):
            raise InputError(f"AclTensor {self.info} has no data")
        if self._array is None:
            itemsize = self.info.itemsize
            found = self.data.data if isinstance(self.data, DeviceBuffer) else self.data.reshape(-1).view(np.uint8)
            assert found is not None
            elements = found[: found.nbytes // itemsize * itemsize].view(DataType(self.dtype).numpy)[self.offset :]
            steps = tuple(stride * itemsize for stride in self.strides)
            self._array = np.lib.stride_tricks.as_strided(elements, self.shape, steps)
        return self._array

    def destroy(self) -> None:
        """aclDestroyTensor: the tensor is gone, its memory is not."""
        if self.destroyed:
            raise InputError(f"AclTensor {self.info} has been destroyed already")
        self.destroyed = True
        self._array = None

    def _check(self) -> None:
        """The view lies in the storage, and the storage in the memory."""
        if len(self.strides) != len(self.shape):
            raise InputError(
                f"AclTensor: {counted(len(self.shape), 'dim')} and {counted(len(self.strides), 'stride')}; give "
                "one per dim"
            )
        if self.offset < 0 or any(stride < 0 for stride in self.strides):
            raise InputError(f"AclTensor: offset {self.offset} and strides {self.strides} must not be negative")
        held = math.prod(self.storage_shape)
        last = self.offset + sum((dim - 1) * stride for dim, stride in zip(self.shape, self.strides, strict=True))
        if self.info.size and last >= held:
            raise InputError(
                f"AclTensor: shape {self.shape} with strides {self.strides} from element {self.offset} reaches element "
                f"{last}; the storage has {held}"
            )
        nbytes = held * self.info.itemsize
        if self.data is not None and nbytes > self.data.nbytes:
            raise InputError(
                f"AclTensor: a storage of {held} {self.dtype} takes {nbytes} B; the memory has {self.data.nbytes} B"
            )
        if isinstance(self.data, np.ndarray) and not self.data.flags.c_contiguous:
            raise InputError("AclTensor: data must be a contiguous array; AclTensor.from_numpy takes any")

    def __repr__(self) -> str:
        return f"<AclTensor {self.info}{'' if self.is_contiguous else f' strides {self.strides}'}>"


def contiguous_strides(shape: Shape) -> Shape:
    """Strides in elements of a tensor without gaps."""
    strides, step = [], 1
    for dim in reversed(shape):
        strides.append(step)
        step *= dim
    return tuple(reversed(strides))
