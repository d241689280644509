"""Tensors as a kernel sees them, and as the annotations of its parameters describe them.

`pypto.Tensor([S, 128], pypto.DT_FP16)` is both: in a signature it says what an argument must be, inside a kernel it
makes a tensor of the kernel's own. Slices are views; assigning to a slice assembles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from types import EllipsisType
from typing import Any, ClassVar, TypeVar

from ascend_sim.frontends.pypto.dtypes import DataType, TileOpFormat
from ascend_sim.frontends.pypto.errors import FeAttributeError, FeTypeError, FeValueError, PyptoValueError, shown
from ascend_sim.frontends.pypto.graph import Node
from ascend_sim.frontends.pypto.symbols import Scalar, SymbolicScalar
from ascend_sim.frontends.pypto.trace import is_tracing
from ascend_sim.plurals import counted

Function = TypeVar("Function", bound=Callable[..., Any])


class DimMark:
    """DYNAMIC or STATIC in a shape of an annotation."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"pypto.{self.name}"


DYNAMIC = DYN = DimMark("DYNAMIC")
STATIC = DimMark("STATIC")

OPERATIONS: dict[str, Callable[..., Any]] = {}
"""Operations that are methods of tensors too, by name; the operations' modules enter themselves."""


class _BracketedAnnotations(type):
    """`pypto.Tensor[[shape], dtype]`, the form that type checkers take."""

    def __getitem__(cls, items: Any) -> Any:
        arguments = items if isinstance(items, tuple) else (items,)
        if not arguments:
            raise FeTypeError("pypto.Tensor[] says nothing: write pypto.Tensor[[shape], dtype], or pypto.Tensor()")
        return cls(*arguments)


class Tensor(metaclass=_BracketedAnnotations):
    """See the module's text. `node` is the tensor's place in the graph; an annotation has none.

    `format` is ND or NZ; the vector operations refuse NZ. `data_ptr`, `device` and `ori_shape` are accepted as PyPTO
    has them and mean nothing here.
    """

    __array_ufunc__: ClassVar[None] = None  # numpy scalars leave `scalar * tensor` to the tensor

    def __init__(
        self,
        shape: Sequence[Any] | EllipsisType | None = None,
        dtype: DataType | None = None,
        name: str = "",
        format: TileOpFormat = TileOpFormat.TILEOP_ND,  # noqa: A002 - PyPTO's own names
        data_ptr: int | None = None,
        device: Any = None,
        ori_shape: Sequence[int] | None = None,
    ) -> None:
        if dtype is not None and not isinstance(dtype, DataType):
            raise FeTypeError(f"pypto.Tensor: dtype is {dtype!r}; it must be a DataType such as pypto.DT_FP16")
        if not isinstance(format, TileOpFormat):
            raise FeTypeError(f"pypto.Tensor: format is {format!r}; it must be a pypto.TileOpFormat")
        self._shape = tuple(shape) if isinstance(shape, Sequence) else shape
        self._dtype = dtype
        self.name = name
        self.format = format
        self.node: Node | None = None
        self.local: Any = None  # a tensor of the kernel's own that operations write to (`locals.Local`)
        if is_tracing():
            from ascend_sim.frontends.pypto.locals import make_local  # noqa: PLC0415 - locals are tensors themselves

            make_local(self)

    @classmethod
    def of(cls, node: Node, format: TileOpFormat = TileOpFormat.TILEOP_ND) -> Tensor:  # noqa: A002
        """The tensor of a node."""
        tensor = cls.__new__(cls)
        tensor._shape, tensor._dtype, tensor.name, tensor.format = node.shape, node.dtype, node.name, format
        tensor.node, tensor.local = node, None
        return tensor

    # -- what it is -------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> list[Any]:
        """Sizes; a dynamic dim is a SymbolicScalar."""
        return list(self._shape) if isinstance(self._shape, tuple) else []

    @property
    def annotated_shape(self) -> tuple[Any, ...] | EllipsisType | None:
        """The shape as the annotation has it: numbers and marks, `...`, or None for any."""
        return self._shape

    @property
    def dim(self) -> int:
        """Number of dims."""
        return len(self.shape)

    @property
    def dtype(self) -> Any:
        return self._dtype

    @property
    def valid_shape(self) -> list[Scalar]:
        """How much of each dim holds data."""
        return list(self.read("valid_shape").valid)

    def read(self, op: str) -> Node:
        """The node that an operation reads."""
        if self.node is None and self.local is not None:
            self.node = self.local.read(op)
        if self.node is None:
            raise FeTypeError(f"{op}: this pypto.Tensor is an annotation, not a tensor of the running kernel")
        return self.node

    def become(self, result: Tensor) -> None:
        """Stand for `result` from here on; what lives in memory is written."""
        if self.local is not None or (self.node is not None and self.node.is_global):
            OPERATIONS["assemble"](result, [0] * self.dim, self)
        else:
            self.node = result.read("become")

    def __repr__(self) -> str:
        dtype = self._dtype.name if self._dtype is not None else "any dtype"
        return f"Tensor({self.name or 'unnamed'}, {self.shape}, {dtype})"

    # -- slices -----------------------------------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Tensor:
        offsets, sizes, dropped = self._region(index)
        if any(isinstance(size, SymbolicScalar) for size in sizes):
            raise FeValueError(
                f"{self.name}[...]: the slice has sizes {sizes}, but a view's shape must be known when the kernel is "
                "written; use pypto.view(x, shape, offsets, valid_shape=...) for a part that varies"
            )
        found: Tensor = OPERATIONS["view"](self, sizes, offsets)
        if dropped:
            kept = [size for axis, size in enumerate(sizes) if axis not in dropped]
            found = OPERATIONS["reshape"](found, kept)
        return found

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise FeTypeError(f"{self.name}[...] = {shown(value)}: only a tensor can be assigned")
        offsets, sizes, dropped = self._region(index)
        if dropped:
            value = OPERATIONS["reshape"](value, [1 if axis in dropped else size for axis, size in enumerate(sizes)])
        for axis, (size, have) in enumerate(zip(sizes, value.shape, strict=False)):
            if isinstance(size, int) and isinstance(have, int) and have != size and len(sizes) == value.dim:
                raise PyptoValueError(
                    f"{self.name}[...] = {value.name}: dim {axis} of the slice is {size}, that of the tensor {have}; "
                    "they must agree"
                )
        OPERATIONS["assemble"](value, offsets, self)

    def _region(self, index: Any) -> tuple[list[Scalar], list[Scalar], set[int]]:
        """Offsets, sizes, and the axes that an integer index drops."""
        shape = self.shape
        parts = list(index) if isinstance(index, tuple) else [index]
        if sum(part is Ellipsis for part in parts) > 1:
            raise FeValueError(f"{self.name}[...]: only one ... may stand in an index")
        named = sum(part is not Ellipsis for part in parts)
        if named > len(shape):
            raise FeValueError(f"{self.name}[...]: {named} indices for a tensor of {counted(len(shape), 'dim')}")
        if named == len(parts):
            parts.append(Ellipsis)
        at = next(place for place, part in enumerate(parts) if part is Ellipsis)  # `==` would build conditions
        parts[at : at + 1] = [slice(None)] * (len(shape) - named)
        offsets, sizes, dropped = [], [], set()
        for axis, (part, extent) in enumerate(zip(parts, shape, strict=True)):
            offset, size = self._part(axis, part, extent)
            if not isinstance(part, slice):
                dropped.add(axis)
            offsets.append(offset)
            sizes.append(size)
        return offsets, sizes, dropped

    def _part(self, axis: int, part: Any, extent: Scalar) -> tuple[Scalar, Scalar]:
        """Offset and size along one axis."""
        if not isinstance(part, slice):
            if isinstance(part, bool) or not isinstance(part, int | SymbolicScalar):
                raise FeTypeError(
                    f"{self.name}[...]: index {axis} is {part!r}; allowed are integers, symbolic integers, slices and "
                    "one ..."
                )
            place = self._place(axis, part, extent)
            if isinstance(place, int) and isinstance(extent, int) and place >= extent:
                raise FeValueError(f"{self.name}[...]: {part} lies outside dim {axis}, which has {extent}")
            return place, 1
        if part.step not in (None, 1):
            raise FeValueError(f"{self.name}[...]: slice {axis} has step {part.step!r}; only a step of 1 is a view")
        start = self._place(axis, 0 if part.start is None else part.start, extent)
        stop = extent if part.stop is None else self._place(axis, part.stop, extent)
        if isinstance(stop, int) and isinstance(extent, int):
            stop = min(stop, extent)
        size = stop - start
        if isinstance(size, int) and size <= 0:
            raise FeValueError(f"{self.name}[...]: slice {axis} runs from {start} to {stop} and holds nothing")
        return start, size

    def _place(self, axis: int, value: Any, extent: Scalar) -> Scalar:
        """A slice's end or an index, counted from the start."""
        if isinstance(value, SymbolicScalar):
            return value
        if isinstance(value, bool) or not isinstance(value, int):
            raise FeTypeError(f"{self.name}[...]: {value!r} cannot bound slice {axis}; allowed are integers")
        place = value + extent if value < 0 else value
        if isinstance(place, int) and place < 0:
            raise FeValueError(f"{self.name}[...]: {value} lies outside dim {axis}, which has {extent}")
        return place

    def __iter__(self) -> Iterator[Any]:
        raise FeTypeError(f"{self.name or 'a Tensor'} cannot be iterated: use pypto.loop and pypto.view")

    def __len__(self) -> int:
        raise FeTypeError(f"{self.name or 'a Tensor'} has no len(): use .shape[0]")

    # -- operators --------------------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Tensor:
        return _operate("add", self, other)

    def __sub__(self, other: Any) -> Tensor:
        return _operate("sub", self, other)

    def __mul__(self, other: Any) -> Tensor:
        return _operate("mul", self, other)

    def __truediv__(self, other: Any) -> Tensor:
        return _operate("div", self, other)

    def __radd__(self, other: Any) -> Tensor:
        return _operate("add", self, other)

    def __rmul__(self, other: Any) -> Tensor:
        return _operate("mul", self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return _operate("reverse_sub", self, other)

    def __rtruediv__(self, other: Any) -> Tensor:
        return _operate("reverse_div", self, other)

    def __neg__(self) -> Tensor:
        return _operate("neg", self)

    def __matmul__(self, other: Any) -> Tensor:
        raise FeTypeError(f"{self.name} @ {shown(other)}: matrix products run on the cube unit, which is not simulated")

    def __pow__(self, other: Any) -> Tensor:
        raise FeTypeError(f"{self.name} ** {shown(other)}: this front end has no power; multiply, or take sqrt")

    def __bool__(self) -> bool:
        raise FeTypeError(f"{self.name} has no truth value when the kernel is written: its elements are not known yet")

    def __lt__(self, other: Any) -> Tensor:
        raise FeTypeError(f"{self.name} compared with {shown(other)}: this front end has no comparisons of tensors")

    __le__ = __gt__ = __ge__ = __lt__

    def __getattr__(self, name: str) -> Any:
        """Operations as methods: `x.unsqueeze(-2)` is `pypto.unsqueeze(x, -2)`."""
        operation = OPERATIONS.get(name)
        if operation is None:
            raise FeAttributeError(
                f"Tensor has no attribute {name!r}; the README of this front end lists what it takes"
            )
        return lambda *args, **kwargs: operation(self, *args, **kwargs)


def _operate(name: str, *operands: Any) -> Tensor:
    found: Tensor = OPERATIONS[name](*operands)
    return found


def tensor(
    shape: Sequence[Any] | EllipsisType | None = None,
    dtype: DataType | None = None,
    name: str = "",
    format: TileOpFormat = TileOpFormat.TILEOP_ND,  # noqa: A002
) -> Tensor:
    """`pypto.Tensor(...)` under its other name."""
    return Tensor(shape, dtype, name, format)


def operation(function: Function) -> Function:
    """Make `function` an operation: a method of tensors under its own name, working only while a kernel is traced."""
    OPERATIONS[function.__name__] = function
    return function


def elements(shape: Sequence[Any]) -> int:
    """Elements of a shape of whole numbers."""
    return math.prod(int(dim) for dim in shape)
