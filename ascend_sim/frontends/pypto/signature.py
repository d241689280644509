"""The parameters of a jitted kernel: what their annotations ask for, and the arguments of one call against that."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ascend_sim.asc.memory import DeviceArray
from ascend_sim.frontends.pypto.dtypes import DataType, TileOpFormat, dtype_named
from ascend_sim.frontends.pypto.errors import FeTypeError, FeValueError
from ascend_sim.frontends.pypto.tensor import DYNAMIC, STATIC, Tensor
from ascend_sim.plurals import counted


@dataclass(frozen=True, slots=True)
class TensorParameter:
    """`dims` is None when any rank will do; `rest` says that more (static) dims may follow them."""

    name: str
    dims: tuple[Any, ...] | None
    dtype: DataType | None
    format: TileOpFormat
    rest: bool = False

    def dynamic(self, axis: int) -> bool:
        """Whether the dim may change from call to call without a new trace."""
        return self.dims is not None and axis < len(self.dims) and self.dims[axis] is DYNAMIC


@dataclass(frozen=True, slots=True)
class TensorArgument:
    """A tensor given in a call: what the kernels get, and its shape and type. Equal `identity`: the same memory."""

    value: Any
    shape: tuple[int, ...]
    dtype: DataType
    identity: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Arguments:
    """One call: its tensors, and what the other parameters are."""

    tensors: Mapping[str, TensorArgument]
    others: Mapping[str, Any]


class Signature:
    """The parameters of `function`: tensors first, then anything else. `scope`: names where it was defined."""

    def __init__(self, function: Callable[..., Any], scope: Mapping[str, Any]) -> None:
        self.kernel = function.__name__
        self.parameters = inspect.signature(function).parameters
        self.tensors: dict[str, TensorParameter] = {}
        others = []
        for name, parameter in self.parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise FeTypeError(f"kernel {self.kernel!r}: *args and **kwargs are not allowed")
            annotation = _resolved(function, parameter.annotation, scope)
            if annotation is Tensor:
                annotation = Tensor()
            if not isinstance(annotation, Tensor):
                others.append(name)
                continue
            if others:
                raise FeTypeError(
                    f"kernel {self.kernel!r}: tensor {name!r} stands after {others[0]!r}, which is none; tensors come "
                    "first"
                )
            self.tensors[name] = self._tensor(name, annotation)
        if not self.tensors:
            raise FeTypeError(
                f"kernel {self.kernel!r} has no tensor parameter: annotate them, as in x: pypto.Tensor([S, 128], "
                "pypto.DT_FP16)"
            )

    def _tensor(self, name: str, annotation: Tensor) -> TensorParameter:
        shape, dtype = annotation.annotated_shape, annotation.dtype
        if not isinstance(shape, tuple) or not shape:
            return TensorParameter(name, None, dtype, annotation.format)
        dims = tuple(shape)
        rest = bool(dims) and dims[-1] is Ellipsis
        for axis, dim in enumerate(dims):
            if dim in (DYNAMIC, STATIC) or (dim is Ellipsis and axis == len(dims) - 1):
                continue
            if isinstance(dim, bool) or not isinstance(dim, int) or dim <= 0:
                raise FeTypeError(
                    f"kernel {self.kernel!r}: dim {axis} of {name} is {dim!r}; allowed are positive integers, "
                    "pypto.DYNAMIC, pypto.STATIC and a last ..."
                )
        return TensorParameter(name, dims[:-1] if rest else dims, dtype, annotation.format, rest)

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Arguments:
        """The arguments of a call, checked."""
        names = list(self.parameters)
        if len(args) > len(names):
            raise FeTypeError(f"kernel {self.kernel!r} takes {len(names)} arguments, {len(args)} were given")
        given = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in self.parameters:
                raise FeTypeError(f"kernel {self.kernel!r} has no parameter {name!r}; it has {', '.join(names)}")
            if name in given:
                raise FeTypeError(f"kernel {self.kernel!r}: {name!r} is given twice")
            given[name] = value
        others: dict[str, Any] = {}
        tensors: dict[str, TensorArgument] = {}
        for name, parameter in self.parameters.items():
            if name not in given and parameter.default is parameter.empty:
                raise FeTypeError(f"kernel {self.kernel!r}: argument {name!r} is missing")
            value = given.get(name, parameter.default)
            if name in self.tensors:
                tensors[name] = self._check(self.tensors[name], value)
            else:
                others[name] = value
        return Arguments(tensors, others)

    def _check(self, wanted: TensorParameter, value: Any) -> TensorArgument:
        what = f"kernel {self.kernel!r}: {wanted.name}"
        found = tensor_argument(what, value)
        if wanted.dtype is not None and wanted.dtype is not found.dtype:
            raise FeTypeError(f"{what} is {found.dtype.name}, annotated {wanted.dtype.name}")
        if wanted.dims is None:
            return found
        short = len(found.shape) < len(wanted.dims) if wanted.rest else len(found.shape) != len(wanted.dims)
        if short:
            raise FeValueError(
                f"{what} has {counted(len(found.shape), 'dim')} {list(found.shape)}, annotated {list(wanted.dims)}"
                f"{' and more' if wanted.rest else ''}"
            )
        for axis, (dim, size) in enumerate(zip(wanted.dims, found.shape, strict=False)):
            if isinstance(dim, int) and dim != size:
                raise FeValueError(f"{what}: dim {axis} is {size}, annotated {dim}")
        return found


def tensor_argument(what: str, value: Any) -> TensorArgument:
    """An array (numpy, ml_dtypes, CPU torch), or a `DeviceArray` or `(shape, dtype)` pair for runs without values."""
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], tuple | list):
        value = DeviceArray(tuple(value[0]), str(value[1]))
    if isinstance(value, np.ndarray):
        memory = (int(value.__array_interface__["data"][0]), value.strides)
        return _argument(what, value, value.shape, value.dtype.name, memory)
    if isinstance(value, DeviceArray):
        return _argument(what, value, value.shape, value.dtype.name, (id(value),))
    if type(value).__module__.split(".")[0] == "torch" and hasattr(value, "data_ptr"):
        memory = (value.data_ptr(), tuple(value.stride()))
        return _argument(what, value, tuple(value.shape), str(value.dtype).removeprefix("torch."), memory)
    raise FeTypeError(f"{what} is a {type(value).__name__}; allowed are arrays (numpy, ml_dtypes, CPU torch)")


def _argument(what: str, value: Any, shape: Any, dtype: str, memory: tuple[Any, ...]) -> TensorArgument:
    sizes = tuple(int(size) for size in shape)
    if not sizes or 0 in sizes:
        raise FeValueError(f"{what} has shape {list(sizes)}; empty tensors and numbers without dims are not allowed")
    found = dtype_named(dtype, what)
    return TensorArgument(value, sizes, found, (*memory, sizes, found))


def _resolved(function: Callable[..., Any], annotation: Any, scope: Mapping[str, Any]) -> Any:
    """An annotation that `from __future__ import annotations` made a string, as the object that it names."""
    if not isinstance(annotation, str):
        return annotation
    code = function.__code__
    free = dict(zip(code.co_freevars, (c.cell_contents for c in function.__closure__ or ()), strict=False))
    try:
        return eval(annotation, function.__globals__, {**scope, **free})
    except Exception as error:
        if "ensor" not in annotation:
            return None  # documentation of a parameter that is no tensor
        raise FeTypeError(
            f"kernel {function.__name__!r}: the annotation {annotation!r} cannot be read: {error}"
        ) from error
