"""The points of a sweep: every combination of the axes' values, each a call of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

from ascend_sim.errors import InputError
from ascend_sim.host.attributes import Attribute
from ascend_sim.host.operator import Operator
from ascend_sim.host.tensors import TensorInfo, read_dtype
from ascend_sim.soc.names import resolve
from ascend_sim.tune.axes import MOST_POINTS, Axis, too_many

DIMS = {4: "BSND", 3: "TND"}


@dataclass(frozen=True, slots=True)
class Point:
    """One call of a sweep: where it stands on each axis, and what it is. Points that are the same call have the same
    `call`."""

    number: int
    at: Mapping[str, str]
    soc: str
    inputs: Mapping[str, TensorInfo]
    attrs: Mapping[str, Any]

    @property
    def call(self) -> tuple[object, ...]:
        return _variant(self.soc), *self.inputs.items(), repr(sorted(self.attrs.items()))


@cache
def _variant(soc: str) -> str:
    return resolve(soc).variant


@dataclass(slots=True)
class _Call:
    """What a point is made of."""

    soc: str
    inputs: dict[str, TensorInfo]
    attrs: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an axis changes: the chip, dtypes or a dim of `inputs`, or an attribute."""

    axis: Axis
    inputs: tuple[str, ...] = ()
    dim: int | None = None
    attribute: Attribute | None = None

    def __str__(self) -> str:
        """`x.S is dim 1 of x, cos and sin`."""
        if not self.inputs:
            return f"{self.axis.name} is {'the chip' if self.attribute is None else 'an attribute'}"
        *head, last = self.inputs
        names = f"{', '.join(head)} and {last}" if head else last
        return f"{self.axis.name} is {'the dtype' if self.dim is None else f'dim {self.dim}'} of {names}"

    def change(self, call: _Call, value: str, op: str) -> None:
        """Give `call` this value."""
        if self.attribute is not None:
            call.attrs[self.attribute.name] = self.attribute.convert(op, value)
        elif not self.inputs:
            call.soc = value
        for name in self.inputs:
            shape = call.inputs[name].shape
            if self.dim is None:
                call.inputs[name] = TensorInfo(shape, read_dtype(name, value))
                continue
            if not (value.isascii() and value.isdigit()):
                raise InputError(f"--over {self.axis.name}={value}: a size is a whole number")
            size = int(value)
            call.inputs[name] = TensorInfo((*shape[: self.dim], size, *shape[self.dim + 1 :]), call.inputs[name].dtype)


def points(
    operator: Operator, inputs: Mapping[str, TensorInfo], attrs: Mapping[str, Any], soc: str, axes: Sequence[Axis]
) -> list[Point]:
    """Every combination, the last axis fastest."""
    count = 1
    for axis in axes:
        count *= len(axis.values)
    if count > MOST_POINTS:
        raise InputError(too_many(count))
    changes = meanings(operator, inputs, axes)
    found = []
    for number, values in enumerate(product(*(axis.values for axis in axes))):
        call = _Call(soc, dict(inputs), dict(attrs))
        for change, value in zip(changes, values, strict=True):
            change.change(call, value, operator.type_name)
        at = {axis.name: value for axis, value in zip(axes, values, strict=True)}
        found.append(Point(number, at, call.soc, call.inputs, call.attrs))
    return found


def meanings(operator: Operator, inputs: Mapping[str, TensorInfo], axes: Sequence[Axis]) -> list[Meaning]:
    """What each axis changes. Sizes that agree stay so (cos follows x), unless they have an axis of their own."""
    own = [_own(operator, inputs, axis) for axis in axes]
    taken: dict[tuple[str | None, int | None, str | None], str] = {}
    for meaning in own:
        for name in meaning.inputs or (None,):
            key = name, meaning.dim, meaning.attribute.name if meaning.attribute else None
            if key in taken:
                raise InputError(f"--over {meaning.axis.name} changes what --over {taken[key]} changes")
            taken[key] = meaning.axis.name
    return [
        meaning if meaning.dim is None else _followed(operator, inputs, meaning, {key[:2] for key in taken})
        for meaning in own
    ]


def _own(operator: Operator, inputs: Mapping[str, TensorInfo], axis: Axis) -> Meaning:
    """Without what follows."""
    if axis.name == "soc":
        return Meaning(axis)
    if axis.name == "dtype":
        common = next(iter(inputs.values())).dtype
        return Meaning(axis, tuple(name for name, info in inputs.items() if info.dtype == common))
    if "." not in axis.name:
        attribute = operator.attribute_named(axis.name)
        _check_lists(axis, attribute)
        return Meaning(axis, attribute=attribute)
    given, _, dim = axis.name.partition(".")
    name = operator.input_named(given).name
    if name not in inputs:
        raise InputError(f"--over {axis.name}: the call has no input {name}; it has {', '.join(inputs)}")
    return Meaning(axis, (name,), None if dim == "dtype" else _dim(axis.name, dim, inputs[name].rank))


def _check_lists(axis: Axis, attribute: Attribute) -> None:
    """`partial_slice=0,128` is two values, and neither is one."""
    if attribute.kind == "ints" and len(axis.values) > 1 and all(value.isdigit() for value in axis.values):
        raise InputError(
            f"--over {axis.name}={','.join(axis.values)}: {attribute.name} takes lists; put ; between lists "
            f"('{axis.name}=0,64;0,128'), and each into brackets if it has one number ('{axis.name}=[1],[2]')"
        )


def _followed(
    operator: Operator, inputs: Mapping[str, TensorInfo], meaning: Meaning, taken: set[tuple[str | None, int | None]]
) -> Meaning:
    (name,), dim = meaning.inputs, meaning.dim
    assert dim is not None
    names = [name]
    for other, info in inputs.items():
        agree = info.rank == inputs[name].rank and info.shape[dim] == inputs[name].shape[dim]
        if (other, dim) not in taken and agree and (info.shape[dim] != 1 or _agree(operator, name, other, dim)):
            names.append(other)
    return Meaning(meaning.axis, tuple(names), dim)


def _agree(operator: Operator, one: str, other: str, dim: int) -> bool:
    """Whether the operator's example has the same size there, and more than 1."""
    shapes = [info.shape for name, info in operator.example.inputs.items() if name in (one, other)]
    return len(shapes) == 2 and all(len(shape) > dim for shape in shapes) and shapes[0][dim] == shapes[1][dim] != 1


def _dim(name: str, dim: str, rank: int) -> int:
    letters = DIMS.get(rank, "")
    if dim.isascii() and dim.isdigit() and int(dim) < rank:
        return int(dim)
    if len(dim) == 1 and dim.upper() in letters:
        return letters.index(dim.upper())
    allowed = f"0 to {rank - 1}" + (f" or {', '.join(letters)}" if letters else "")
    raise InputError(f"--over {name}: dim {dim!r} is not one of {allowed}")
