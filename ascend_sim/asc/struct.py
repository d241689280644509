"""Struct: a record of scalars that a kernel takes by copy, such as tiling data.

    class Tiling(Struct):
        rows = Field(dtype=asc.int32)
        shape = StructField(Shape)

Reading a field in a kernel costs one load from tiling data the first time; after that it sits in a register.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ascend_sim.asc.recorder import CALL_UNIT, RECORDER
from ascend_sim.asc.scalars import number
from ascend_sim.errors import InputError, OptionError
from ascend_sim.isa import dtypes
from ascend_sim.isa.dtypes import DataType
from ascend_sim.program import ScalarCall

__all__ = ["Field", "Struct", "StructField"]

_TILING_READ = CALL_UNIT[ScalarCall.TILING_READ]
_MISSING = object()


class Field:
    """One scalar of a Struct; without `default` the constructor must be given it."""

    def __init__(self, dtype: DataType = dtypes.int32, default: Any = _MISSING, name: str | None = None) -> None:
        if not isinstance(dtype, DataType) or not dtype.itemsize:
            raise InputError(f"Field takes a numeric data type such as asc.int32, not {dtype!r}")
        if dtype in (dtypes.float16, dtypes.bfloat16):
            raise InputError(f"Field: structs hold no {dtype!r} (pyasc has none); use asc.float32")
        self.dtype = dtype
        self.default = default
        self.name = name

    if TYPE_CHECKING:  # to a type checker a field reads and takes any scalar

        def __get__(self, instance: Any, owner: Any = None) -> Any: ...
        def __set__(self, instance: Any, value: Any) -> None: ...


class StructField:
    """A Struct inside a Struct."""

    def __init__(self, struct: type[Struct], name: str | None = None) -> None:
        if not (isinstance(struct, type) and issubclass(struct, Struct)):
            raise InputError(f"StructField takes a Struct class, not {struct!r}")
        self.struct = struct
        self.name = name

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any = None) -> Any: ...
        def __set__(self, instance: Any, value: Any) -> None: ...


class Struct:
    """Base of structs; fields are declared as class attributes and set by keyword."""

    _fields: ClassVar[dict[str, Field | StructField]] = {}

    def __init_subclass__(cls) -> None:
        own = {name: v for name, v in vars(cls).items() if isinstance(v, Field | StructField)}
        cls._fields = {**cls._fields, **own}
        for name in own:
            delattr(cls, name)  # instances hold the values; reads of a kernel's copy go through __getattr__

    def __init__(self, **given: Any) -> None:
        for name in given:
            if name not in self._fields:
                raise OptionError(f"{type(self).__name__} has no field {name!r}; it has {', '.join(self._fields)}")
        for name, declared in self._fields.items():
            if name in given:
                value = given[name]
            elif isinstance(declared, StructField):
                value = declared.struct()
            elif declared.default is not _MISSING:
                value = declared.default
            else:
                raise OptionError(f"{type(self).__name__}: field {name!r} is missing and has no default")
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        declared = self._fields.get(name)
        if declared is None:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}; it has {', '.join(self._fields)}")
        if isinstance(declared, StructField):
            if not isinstance(value, declared.struct):
                raise InputError(
                    f"{type(self).__name__}.{name} takes a {declared.struct.__name__}, not {type(value).__name__}"
                )
            self.__dict__[name] = value
        else:
            self.__dict__[name] = number(value, declared.dtype)

    def kernel_copy(self) -> Any:
        """A copy for one block whose fields are loaded when they are first read."""
        copy = object.__new__(type(self))
        copy.__dict__["_unread"] = {
            name: value.kernel_copy() if isinstance(value, Struct) else value for name, value in self.__dict__.items()
        }
        return copy

    def __getattr__(self, name: str) -> Any:
        unread = self.__dict__.get("_unread")
        if unread is None or name not in unread:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}; it has {', '.join(self._fields)}")
        value = self.__dict__[name] = unread.pop(name)
        if not isinstance(value, Struct):
            RECORDER.pending += _TILING_READ
        return value

    def __repr__(self) -> str:
        held = {**self.__dict__.get("_unread", {}), **{k: v for k, v in self.__dict__.items() if k != "_unread"}}
        return f"{type(self).__name__}({', '.join(f'{n}={held[n]!r}' for n in self._fields if n in held)})"
