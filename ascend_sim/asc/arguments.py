"""From host arguments to what a kernel sees."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from ascend_sim.asc.constexpr import check_constexpr
from ascend_sim.asc.jit import Kernel
from ascend_sim.asc.memory import Allocation, DeviceArray, GlobalMemory, HostData, memory_root
from ascend_sim.asc.scalars import FloatScalar, IntScalar, number
from ascend_sim.asc.struct import Struct
from ascend_sim.asc.tensors import GlobalAddress
from ascend_sim.errors import ArgumentError, InputError
from ascend_sim.isa import dtypes
from ascend_sim.isa.dtypes import DataType

_ALLOWED = (
    "allowed are arrays (numpy, ml_dtypes, CPU torch), int, float, bool, numpy scalars, asc.Struct and (for parameters "
    "annotated asc.ConstExpr) any Python value"
)


@dataclass(slots=True)
class Bound:
    """The arguments of one launch. `finish` copies back what could not be worked on in place."""

    values: dict[str, Any] = field(default_factory=dict)
    allocations: list[Allocation] = field(default_factory=list)
    copies: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]] = field(default_factory=list)

    def for_block(self) -> dict[str, Any]:
        """What one block gets: every block has its own copy of the structs."""
        return {name: v.kernel_copy() if isinstance(v, Struct) else v for name, v in self.values.items()}

    def finish(self, copy_back: bool) -> None:
        for allocation in self.allocations:
            allocation.data = None
        if copy_back:
            for original, copy in self.copies:
                if original.flags.writeable:
                    original[...] = copy


def bind(
    kernel: Kernel[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], memory: GlobalMemory, values: bool
) -> Bound:
    """Check the arguments against the kernel's signature and place the arrays in global memory."""
    try:
        given = kernel.signature.bind_partial(*args, **kwargs).arguments
    except TypeError as error:
        raise ArgumentError(f"kernel {kernel.name!r}: {error}") from None
    bound = Bound()
    for name, parameter in kernel.signature.parameters.items():
        if name not in given:
            hint = (
                "" if parameter.default is parameter.empty else " (a kernel's own defaults are not applied at launch)"
            )
            raise ArgumentError(f"kernel {kernel.name!r}: argument {name!r} is missing{hint}")
        wanted = kernel.constexprs.get(name)
        if wanted is not None:
            bound.values[name] = check_constexpr(kernel.name, name, given[name], wanted)
        else:
            bound.values[name] = _convert(kernel.name, name, given[name], _Placer(bound, memory, values))
    return bound


@dataclass(slots=True)
class _Placer:
    """Lays arrays into global memory for one launch."""

    bound: Bound
    memory: GlobalMemory
    values: bool

    def device_array(self, name: str, array: DeviceArray) -> GlobalAddress:
        allocation = self.memory.place(name, array, array.nbytes, None)
        return GlobalAddress(allocation, array.dtype)

    def numpy(self, name: str, array: npt.NDArray[Any], dtype: DataType, owner: object | None = None) -> GlobalAddress:
        """`array` in place when it is C-contiguous, with the memory that it is a view of; else as a copy."""
        whole: object  # a torch tensor has no truth value: no `or`
        offset = 0
        if not array.flags.c_contiguous:
            data = np.ascontiguousarray(array)
            self.bound.copies.append((array, data))
            whole = array if owner is None else owner
            allocation = self.memory.place(name, whole, array.nbytes, data if self.values else None)
        else:
            root = array if owner is not None else memory_root(array)
            offset = _address(array) - _address(root)
            known = self.values or isinstance(array, HostData)
            whole = root if owner is None else owner
            allocation = self.memory.place(name, whole, root.nbytes, root if known else None)
        self.bound.allocations.append(allocation)
        return GlobalAddress(allocation, dtype, offset)


def _address(array: npt.NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


def _convert(kernel: str, name: str, value: Any, placer: _Placer) -> Any:
    """One host argument as the kernel sees it."""
    if isinstance(value, np.ndarray):
        return placer.numpy(name, value, _array_dtype(kernel, name, value))
    if isinstance(value, DeviceArray):
        return _device_array(kernel, name, value, placer)
    if isinstance(value, Struct | IntScalar | FloatScalar):
        return value
    if isinstance(value, np.generic | int | float):
        return number(value, _scalar_dtype(kernel, name, value))
    if _is_torch(value):
        return _torch(kernel, name, value, placer)
    raise ArgumentError(f"kernel {kernel!r}: argument {name!r} is a {type(value).__name__}; {_ALLOWED}")


def _device_array(kernel: str, name: str, array: DeviceArray, placer: _Placer) -> GlobalAddress:
    if placer.values:
        raise ArgumentError(
            f"kernel {kernel!r}: argument {name!r} is a DeviceArray without data, but this device computes values; "
            "pass an array, or open the device with values=False"
        )
    return placer.device_array(name, array)


def _array_dtype(kernel: str, name: str, array: npt.NDArray[Any]) -> DataType:
    if not array.dtype.isnative:
        raise ArgumentError(
            f"kernel {kernel!r}: argument {name!r} has dtype {array.dtype.str}, which is not in native byte order"
        )
    try:
        found = dtypes.dtype_of(array)
    except InputError:
        found = dtypes.void
    if not found.itemsize:
        raise ArgumentError(
            f"kernel {kernel!r}: argument {name!r} is an array of {array.dtype.name}, which kernels do not take; "
            "allowed are int8..int64, uint8..uint64, float16, bfloat16, float32, float64"
        )
    return found


def _scalar_dtype(kernel: str, name: str, value: np.generic | float) -> DataType:
    """The type that a host scalar becomes: numpy's own; int8 for bool, int32 for int, float32 for float."""
    if isinstance(value, bool | np.bool_):
        return dtypes.int8
    if isinstance(value, np.generic):
        return _array_dtype(kernel, name, np.asarray(value))
    if isinstance(value, float):
        return dtypes.float32
    if not -(1 << 31) <= value < 1 << 31:
        raise ArgumentError(
            f"kernel {kernel!r}: argument {name!r} = {value} does not fit int32, which a Python int becomes; pass "
            f"np.int64({value})"
        )
    return dtypes.int32


def _is_torch(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _torch(kernel: str, name: str, tensor: Any, placer: _Placer) -> GlobalAddress:
    """A CPU tensor by way of numpy, which shares its memory."""
    if tensor.device.type != "cpu":
        raise ArgumentError(
            f"kernel {kernel!r}: argument {name!r} is a torch tensor on {tensor.device}; only the CPU's are taken"
        )
    plain = tensor.detach()
    array = (
        plain.view(sys.modules["torch"].int16).numpy().view(ml_dtypes.bfloat16)
        if str(tensor.dtype) == "torch.bfloat16"
        else plain.numpy()
    )
    return placer.numpy(name, array, _array_dtype(kernel, name, array), owner=tensor)
