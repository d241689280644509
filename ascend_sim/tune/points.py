"""The points of a sweep: every combination of the axes' values, each a call of its own."""

from __future__ import annotations

import contextlib
import re
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from typing import Any

from ascend_sim.errors import InputError, TilingError
from ascend_sim.host.attributes import Attribute
from ascend_sim.host.operator import Operator
from ascend_sim.host.planning import plan
from ascend_sim.host.tensors import Shape, TensorInfo, read_dtype
from ascend_sim.soc import load
from ascend_sim.soc.names import resolve
from ascend_sim.tune.axes import MOST_DIGITS, MOST_POINTS, Axis, is_number, too_many

TRIED = 3
"""So many values are tried to find out which inputs follow an axis."""
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
    """What an axis changes: the chip, dtypes of `inputs` or one dim of each, or an attribute."""

    axis: Axis
    inputs: tuple[str, ...] = ()
    dims: tuple[int, ...] = ()
    attribute: Attribute | None = None

    def __str__(self) -> str:
        """`x.S is dim 1 of x, cos and sin`."""
        if not self.inputs:
            return f"{self.axis.name} is {'the chip' if self.attribute is None else 'an attribute'}"
        if not self.dims:
            return f"{self.axis.name} is the dtype of {_listed(self.inputs)}"
        parts = []
        for dim in dict.fromkeys(self.dims):
            names = [name for name, own in zip(self.inputs, self.dims, strict=True) if own == dim]
            parts.append(f"dim {dim} of {_listed(names)}")
        return f"{self.axis.name} is {' and '.join(parts)}"

    def change(self, call: _Call, value: str, op: str) -> None:
        """Give `call` this value."""
        if self.attribute is not None:
            call.attrs[self.attribute.name] = _attribute_value(self.attribute, op, value)
        elif not self.inputs:
            call.soc = value
        elif not self.dims:
            for name in self.inputs:
                call.inputs[name] = TensorInfo(call.inputs[name].shape, read_dtype(name, value))
        else:
            if not is_number(value):
                raise InputError(
                    f"--over {self.axis.name}: {reprlib.repr(value)} is no size, which is a whole number of up to "
                    f"{MOST_DIGITS} digits"
                )
            for name, dim in zip(self.inputs, self.dims, strict=True):
                shape = call.inputs[name].shape
                call.inputs[name] = TensorInfo((*shape[:dim], int(value), *shape[dim + 1 :]), call.inputs[name].dtype)


def _attribute_value(attribute: Attribute, op: str, value: str) -> Any:
    """What is no value of the attribute stays a text, so that the operator refuses the point."""
    try:
        return attribute.convert(op, value)
    except TilingError:
        return value


def _listed(names: Sequence[str]) -> str:
    *head, last = names
    return f"{', '.join(head)} and {last}" if head else last


def points(
    operator: Operator, inputs: Mapping[str, TensorInfo], attrs: Mapping[str, Any], soc: str, axes: Sequence[Axis]
) -> list[Point]:
    """Every combination, the last axis fastest."""
    count = 1
    for axis in axes:
        count *= len(axis.values)
    if count > MOST_POINTS:
        raise InputError(too_many(count))
    changes = meanings(operator, inputs, attrs, soc, axes)
    found = []
    for number, values in enumerate(product(*(axis.values for axis in axes))):
        call = _Call(soc, dict(inputs), dict(attrs))
        for change, value in zip(changes, values, strict=True):
            change.change(call, value, operator.type_name)
        at = {axis.name: value for axis, value in zip(axes, values, strict=True)}
        found.append(Point(number, at, call.soc, call.inputs, call.attrs))
    return found


Taken = dict[tuple[str | None, int | None, str | None], str]


def meanings(
    operator: Operator, inputs: Mapping[str, TensorInfo], attrs: Mapping[str, Any], soc: str, axes: Sequence[Axis]
) -> list[Meaning]:
    """What each axis changes. Sizes that agree stay so (cos follows x), unless they have an axis of their own."""
    own = [_own(operator, inputs, axis) for axis in axes]
    taken: Taken = {}
    for meaning in own:
        for name in meaning.inputs or (None,):
            key = name, *(meaning.dims or (None,)), meaning.attribute.name if meaning.attribute else None
            if key in taken:
                raise InputError(f"--over {meaning.axis.name} changes what --over {taken[key]} changes")
            taken[key] = meaning.axis.name
    call = _Call(soc, dict(inputs), dict(attrs))
    return [_followed(operator, call, meaning, taken) for meaning in own]


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
        _check_some(axis, attribute, operator.type_name)
        return Meaning(axis, attribute=attribute)
    given, _, dim = axis.name.partition(".")
    name = operator.input_named(given).name
    if name not in inputs:
        raise InputError(f"--over {axis.name}: the call has no input {name}; it has {', '.join(inputs)}")
    return Meaning(axis, (name,), () if dim == "dtype" else (_dim(axis.name, dim, inputs[name].rank),))


def _check_lists(axis: Axis, attribute: Attribute) -> None:
    """`partial_slice=0,128` may mean one list or two."""
    numbers = re.fullmatch(r"-?\d+(\s*,\s*-?\d+)+", axis.given)
    if attribute.kind == "ints" and numbers is not None:
        count, parted = axis.given.count(",") + 1, axis.given.replace(",", ";")
        raise InputError(
            f"--over {axis.name}={axis.given}: {attribute.name} takes lists; for one list of {count} numbers write "
            f"'{axis.name}=[{axis.given}]', for {count} lists of one number '{axis.name}={parted}'"
        )


def _check_some(axis: Axis, attribute: Attribute, op: str) -> None:
    """Where no value of the axis is one of the attribute, the operator would refuse every point."""
    for value in axis.values:
        with contextlib.suppress(TilingError):
            attribute.convert(op, value)
            return
    attribute.convert(op, axis.values[0])


def _followed(operator: Operator, call: _Call, meaning: Meaning, taken: Taken) -> Meaning:
    """With the inputs that follow the first."""
    if meaning.dims:
        return _resized(operator, call, meaning, taken)
    return _retyped(operator, call, meaning, taken) if meaning.axis.name.endswith(".dtype") else meaning


def _retyped(operator: Operator, call: _Call, meaning: Meaning, taken: Taken) -> Meaning:
    """With as few of the inputs of the same shape and dtype as the operator takes: sin with cos."""
    (name,), info = meaning.inputs, call.inputs[meaning.inputs[0]]
    same = [
        other
        for other, theirs in call.inputs.items()
        if other != name and theirs == info and (other, None, None) not in taken
    ]
    for count in range(len(same) + 1):
        for more in combinations(same, count):
            found = Meaning(meaning.axis, (name, *more))
            if _accepted(operator, call, found):
                return found
    return meaning


def _resized(operator: Operator, call: _Call, meaning: Meaning, taken: Taken) -> Meaning:
    """With the inputs that have the same size in the same dim; and, if the operator takes it no other way, with those
    that have it in another one: cos (S, D) with x (S, N, D)."""
    (name,), (dim,), inputs = meaning.inputs, meaning.dims, call.inputs
    size = inputs[name].shape[dim]
    same, more = {name: dim}, {}
    for other, info in inputs.items():
        if other == name:
            continue
        agree = info.rank == inputs[name].rank and info.shape[dim] == size
        if agree and (size != 1 or _agree(operator, name, other, dim)):
            same[other] = dim
        elif size != 1 and size in info.shape:
            more[other] = _place(info.shape, dim, dim - inputs[name].rank, size)
    found, wider = (
        Meaning(meaning.axis, tuple(dims), tuple(dims.values()))
        for dims in (_untaken(same, name, taken), _untaken(same | more, name, taken))
    )
    if len(wider.inputs) == len(found.inputs) or _accepted(operator, call, found):
        return found
    return wider if _accepted(operator, call, wider) else found


def _untaken(dims: Mapping[str, int], name: str, taken: Taken) -> dict[str, int]:
    return {other: dim for other, dim in dims.items() if other == name or (other, dim, None) not in taken}


def _place(shape: Shape, dim: int, from_end: int, size: int) -> int:
    """Where `size` stands: at the same place from the front or from the end if it does, else first."""
    for place in (dim, len(shape) + from_end):
        if 0 <= place < len(shape) and shape[place] == size:
            return place
    return shape.index(size)


def _accepted(operator: Operator, call: _Call, meaning: Meaning) -> bool:
    """Whether the operator takes the call with some value of the axis other than its own."""
    tried = 0
    for value in meaning.axis.values:
        changed = _Call(call.soc, dict(call.inputs), call.attrs)
        with contextlib.suppress(Exception):  # what an operator of one's own raises is told when the points are timed
            meaning.change(changed, value, operator.type_name)
            if changed.inputs == call.inputs:
                continue
            tried += 1
            plan(operator, changed.inputs, call.attrs, load(call.soc))
            return True
        if tried == TRIED:
            break
    return False


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
