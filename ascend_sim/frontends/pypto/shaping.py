"""Operations that look at tensors in another way or move elements: view, assemble, reshape, concat, transpose, ..."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ascend_sim.frontends.pypto import checks
from ascend_sim.frontends.pypto.dtypes import DataType
from ascend_sim.frontends.pypto.elementwise import through_half
from ascend_sim.frontends.pypto.errors import PyptoTypeError, PyptoValueError, shown
from ascend_sim.frontends.pypto.graph import Node
from ascend_sim.frontends.pypto.symbols import Scalar, SymbolicScalar, bounds_of, key_of, minimum
from ascend_sim.frontends.pypto.tensor import Tensor, operation
from ascend_sim.frontends.pypto.trace import current
from ascend_sim.plurals import counted

MAX_CONCAT = 128
BLOCK_BYTES = 32


@operation
def view(
    input: Tensor,  # noqa: A002 - PyPTO's own name, here and below
    shape: Sequence[int] | None = None,
    offsets: Sequence[Scalar] | None = None,
    valid_shape: Sequence[Scalar] | None = None,
    dtype: DataType | None = None,
) -> Tensor:
    """The block of `shape` at `offsets`. `valid_shape` says how much of it holds data (a tail); without it, what lies
    inside the tensor does. `dtype` reads the same bytes as another type.
    """
    node = checks.operand("view", "input", input, whole=False)
    if dtype is not None and dtype is not node.dtype:
        if shape is not None or offsets is not None:
            raise PyptoValueError("view: dtype reads the whole tensor anew; give no shape and offsets with it")
        return Tensor.of(_reinterpreted(node, dtype))
    sizes = checks.sizes_of("view", "shape", node.shape if shape is None else shape, node.rank)
    places = checks.scalars_of("view", "offsets", [0] * node.rank if offsets is None else offsets, node.rank)
    for axis, (size, place, extent) in enumerate(zip(sizes, places, node.shape, strict=True)):
        _check_inside("view", node, axis, size, place, extent)
    given = None if valid_shape is None else checks.scalars_of("view", "valid_shape", valid_shape, node.rank)
    valid = [
        _valid_part(node, axis, size, places[axis], None if given is None else given[axis])
        for axis, size in enumerate(sizes)
    ]
    whole = [key_of(size) for size in node.shape] == list(sizes)
    if whole and given is None and all(key_of(place) == 0 for place in places):
        return input
    if node.op == "reshape" and any(isinstance(place, SymbolicScalar) for place in places):
        moved = _below_reshape(node, sizes, places, valid)
        if moved is not None:
            return moved
    trace = current("view")
    name = None if node.is_global else f"{node.name}_part"
    found = trace.node("view", (node,), sizes, node.dtype, valid=valid, attrs={"offsets": places}, name=name)
    return Tensor.of(found, input.format)


def _below_reshape(
    node: Node, sizes: Sequence[int], places: Sequence[Scalar], valid: Sequence[Scalar]
) -> Tensor | None:
    """A moving view of a tensor that only got or lost dims of 1, as a reshape of a moving view: one copy from GM."""
    source = node.inputs[0]
    wide = [axis for axis in range(node.rank) if key_of(node.shape[axis]) != 1]
    if [key_of(node.shape[axis]) for axis in wide] != [key_of(size) for size in source.shape if key_of(size) != 1]:
        return None
    moved_sizes = [1] * source.rank
    moved_places: list[Scalar] = [0] * source.rank
    moved_valid: list[Scalar] = [1] * source.rank
    targets = [axis for axis in range(source.rank) if key_of(source.shape[axis]) != 1]
    for axis, target in zip(wide, targets, strict=True):
        moved_sizes[target], moved_places[target], moved_valid[target] = sizes[axis], places[axis], valid[axis]
    below = view(Tensor.of(source), moved_sizes, moved_places, valid_shape=moved_valid)
    found = current("view").node("reshape", (below.read("view"),), sizes, node.dtype, valid=valid)
    return Tensor.of(found)


def _check_inside(op: str, node: Node, axis: int, size: int, place: Scalar, extent: Scalar) -> None:
    if size <= 0:
        raise PyptoValueError(f"{op}: shape[{axis}] is {size}; sizes must be above 0")
    low, _ = bounds_of(place)
    if low is not None and low < 0:
        raise PyptoValueError(f"{op}: offsets[{axis}] is {place}; offsets must not be negative")
    if isinstance(extent, int) and low is not None and low >= extent:
        raise PyptoValueError(
            f"{op}: offsets[{axis}] is {place}, but dim {axis} of {node.name} has {extent}; an offset lies below it"
        )


def _valid_part(node: Node, axis: int, size: int, place: Scalar, given: Scalar | None) -> Scalar:
    """How much of a block's dim holds data: what was given, else what lies inside the tensor's own data."""
    if given is not None:
        low, high = bounds_of(given)
        if low is not None and low == high and not 0 <= low <= size:
            raise PyptoValueError(f"view: valid_shape[{axis}] is {given}; allowed are 0..{size}, the view's size there")
        return minimum(given, size) if isinstance(given, int) else given
    return minimum(size, node.valid[axis] - place)


def _reinterpreted(node: Node, dtype: DataType) -> Node:
    checks.check_whole("view", "input", node)
    nbytes = node.shape[-1] * node.dtype.itemsize
    if nbytes % dtype.itemsize:
        raise PyptoValueError(
            f"view: the last dim of {node.name} has {counted(node.shape[-1], 'element')} of {node.dtype.name} = "
            f"{nbytes} B, which is no whole number of {dtype.name}"
        )
    shape = (*node.shape[:-1], nbytes // dtype.itemsize)
    return current("view").node("view", (node,), shape, dtype, attrs={"offsets": (0,) * node.rank, "bits": True})


@operation
def assemble(
    input: Any,  # noqa: A002
    offsets: Any = None,
    out: Tensor | None = None,
    parallel: bool = False,
) -> None:
    """Write a tensor's valid part into `out` at `offsets`; `assemble([(tensor, offsets), ...], out)` writes several."""
    if isinstance(input, list | tuple):
        target = offsets if isinstance(offsets, Tensor) else out
        for pair in input:
            if not isinstance(pair, list | tuple) or len(pair) != 2:
                raise PyptoTypeError("assemble: the list holds (tensor, offsets) pairs")
            _assemble(pair[0], pair[1], target, parallel)
        return
    _assemble(input, offsets, out, parallel)


def _assemble(value: Any, offsets: Any, out: Any, parallel: bool) -> None:
    node = checks.operand("assemble", "input", value)
    if not isinstance(out, Tensor):
        raise PyptoTypeError(f"assemble: out is {shown(out)}; it must be a Tensor")
    shape = tuple(out.shape)
    if node.rank != len(shape):
        raise PyptoValueError(
            f"assemble: {node.name} has {counted(node.rank, 'dim')} and {out.name or 'out'} {len(shape)}; they "
            "must have the same"
        )
    if node.dtype is not out.dtype:
        raise PyptoTypeError(
            f"assemble: {node.name} is {node.dtype.name} and {out.name or 'out'} {out.dtype.name}; they must agree"
        )
    places = checks.scalars_of("assemble", "offsets", offsets, node.rank)
    for axis, (place, extent) in enumerate(zip(places, shape, strict=True)):
        low, _ = bounds_of(place)
        if low is not None and (low < 0 or (isinstance(extent, int) and low >= extent)):
            raise PyptoValueError(
                f"assemble: offsets[{axis}] is {place}, but dim {axis} of {out.name or 'out'} has {extent}; an offset "
                "lies inside it"
            )
    if out.local is not None:
        out.local.write(node, places, parallel)
        return
    if node.attrs.get("inplace"):
        raise PyptoValueError(
            f"assemble: {node.name} was reshaped in place, which cannot be an output; reshape it with inplace=False"
        )
    target = out.read("assemble")
    if not target.is_global:
        raise PyptoTypeError(f"assemble: {target.name} is the result of an operation; it cannot be written to")
    current("assemble").store(node, target, places, parallel)


@operation
def reshape(
    input: Tensor,  # noqa: A002
    shape: Sequence[int],
    valid_shape: Sequence[Scalar] | None = None,
    inplace: bool = False,
) -> Tensor:
    """The same elements under another shape; -1 stands for what is left of a static tensor."""
    node = checks.operand("reshape", "input", input, whole=not inplace)
    if any(isinstance(size, SymbolicScalar) for size in node.shape):
        return Tensor.of(_dynamic_reshape(node, shape))
    sizes = _resolved("reshape", node, checks.sizes_of("reshape", "shape", shape))
    if inplace and node.op == "view" and node.inputs[0].is_global:
        raise PyptoValueError(f"reshape: {node.name} is a view; it can only be reshaped with inplace=False")
    if valid_shape is not None:
        valid = checks.scalars_of("reshape", "valid_shape", valid_shape, len(sizes))
    else:
        valid = reshaped_valid(node, sizes)
    attrs = {"inplace": True} if inplace else {}
    return Tensor.of(current("reshape").node("reshape", (node,), sizes, node.dtype, valid=valid, attrs=attrs))


def _resolved(op: str, node: Node, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Sizes with -1 filled in; they must hold as many elements as the tensor."""
    total = math.prod(node.shape)
    if sizes.count(-1) > 1 or any(size <= 0 and size != -1 for size in sizes):
        raise PyptoValueError(f"{op}: shape {list(sizes)}; sizes must be above 0, and one may be -1")
    known = -math.prod(sizes) if -1 in sizes else math.prod(sizes)
    if -1 in sizes and known and total % known == 0:
        sizes = tuple(total // known if size == -1 else size for size in sizes)
    if math.prod(sizes) != total:
        raise PyptoValueError(
            f"{op}: {node.name} {list(node.shape)} has {counted(total, 'element')}, shape {list(sizes)} does not; "
            "they must agree"
        )
    return sizes


def _dynamic_reshape(node: Node, shape: Any) -> Node:
    """A tensor with dynamic dims: dims of 1 may come and go, nothing else."""
    wanted = checks.scalars_of("reshape", "shape", shape, len(shape))
    if any(key_of(size) == -1 for size in wanted):
        raise PyptoValueError(
            f"reshape: shape {list(wanted)} holds -1, but {node.name} {list(node.shape)} has dynamic dims; -1 stands "
            "for a dim of a static tensor"
        )
    if [key_of(s) for s in wanted if key_of(s) != 1] != [key_of(s) for s in node.shape if key_of(s) != 1]:
        raise PyptoValueError(
            f"reshape: {node.name} {list(node.shape)} has dynamic dims, so only dims of 1 can come and go; asked for "
            f"{list(wanted)}"
        )
    return current("reshape").node("reshape", (node,), wanted, node.dtype, valid=wanted)


def groups_of(before: Sequence[int], after: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Runs of dims of both shapes that hold the same elements, each as short as it can be."""
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(before) and j < len(after):
        left, right = [i], [j]
        a, b = before[i], after[j]
        i, j = i + 1, j + 1
        while a != b:
            if a < b:
                left.append(i)
                a, i = a * before[i], i + 1
            else:
                right.append(j)
                b, j = b * after[j], j + 1
        groups.append((left, right))
    groups[-1][0].extend(range(i, len(before)))  # what is left are dims of 1
    groups[-1][1].extend(range(j, len(after)))
    return groups


def reshaped_valid(node: Node, sizes: Sequence[int]) -> tuple[Scalar, ...]:
    """The valid shape after a reshape: a dim that stays a dim keeps its own; a cut dim keeps whole inner parts."""
    valid: list[Scalar] = list(sizes)
    for left, right in groups_of(node.shape, sizes):
        partial = [axis for axis in left if key_of(node.valid[axis]) != node.shape[axis]]
        if not partial:
            continue
        wide = [axis for axis in left if node.shape[axis] > 1]
        targets = [axis for axis in right if sizes[axis] > 1] or right
        single = [axis for axis in partial if axis not in wide]  # a dim of 1 with no data: then there is none at all
        partial = [axis for axis in partial if axis in wide]
        for axis in single:
            valid[targets[0]] = valid[targets[0]] * node.valid[axis]
        if not partial:
            continue
        if single or partial != wide[:1]:
            raise PyptoValueError(
                f"reshape: {node.name} {list(node.shape)} holds data in {list(node.valid)} only; say with valid_shape "
                f"which part of {list(sizes)} that is"
            )
        inner = math.prod(sizes[axis] for axis in targets[1:])
        rest = math.prod(node.shape[axis] for axis in wide[1:])
        valid[targets[0]] = node.valid[wide[0]] if inner == rest else node.valid[wide[0]] * rest // inner
    return tuple(valid)


@operation
def unsqueeze(input: Tensor, dim: int) -> Tensor:  # noqa: A002
    """A dim of 1 before place `dim`; the data is shared."""
    node = checks.operand("unsqueeze", "input", input, whole=False)
    axis = checks.axis_of("unsqueeze", dim, node.rank, 1)
    shape = (*node.shape[:axis], 1, *node.shape[axis:])
    valid = (*node.valid[:axis], 1, *node.valid[axis:])
    return Tensor.of(current("unsqueeze").node("reshape", (node,), shape, node.dtype, valid=valid))


@operation
def squeeze(input: Tensor, dim: int) -> Tensor:  # noqa: A002
    """Without the dim `dim`, which must be 1."""
    node = checks.operand("squeeze", "input", input, whole=False)
    axis = checks.axis_of("squeeze", dim, node.rank)
    if key_of(node.shape[axis]) != 1:
        raise PyptoValueError(f"squeeze: dim {axis} of {node.name} is {node.shape[axis]}; only a dim of 1 can go")
    shape, valid = (*node.shape[:axis], *node.shape[axis + 1 :]), (*node.valid[:axis], *node.valid[axis + 1 :])
    return Tensor.of(current("squeeze").node("reshape", (node,), shape, node.dtype, valid=valid))


@operation
def expand_clone(input: Tensor, shape: Sequence[int], *, valid_shape: Sequence[Scalar] | None = None) -> Tensor:  # noqa: A002
    """Dims of 1 repeated up to `shape`."""
    node = checks.operand("expand_clone", "input", input, checks.WIDTHS_8_TO_32)
    sizes = checks.sizes_of("expand_clone", "shape", shape, node.rank)
    current("expand_clone").need_tile("expand_clone", node.rank)
    for axis, (old, new) in enumerate(zip(node.shape, sizes, strict=True)):
        if old not in (1, new):
            raise PyptoValueError(
                f"expand_clone: dim {axis} of {node.name} is {old}, asked for {new}; only dims of 1 can be expanded"
            )
    valid: tuple[Scalar, ...] = tuple(
        new if old != new else have for old, new, have in zip(node.shape, sizes, node.valid, strict=True)
    )
    if valid_shape is not None:
        valid = checks.scalars_of("expand_clone", "valid_shape", valid_shape, node.rank)

    def expanded(n: Node) -> Node:
        return current("expand_clone").node("expand", (n,), sizes, n.dtype, valid=valid)

    return Tensor.of(through_half(node, expanded) if node.shape[-1] != sizes[-1] else expanded(node))


@operation
def concat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """The tensors one after another along `dim`."""
    if not isinstance(tensors, list | tuple) or not 2 <= len(tensors) <= MAX_CONCAT:
        given = counted(len(tensors), "tensor") if isinstance(tensors, list | tuple) else f"tensors is {shown(tensors)}"
        raise PyptoValueError(f"concat: {given}; allowed are lists of 2 to {MAX_CONCAT}")
    nodes = [checks.operand("concat", f"tensors[{i}]", t, checks.WIDTHS_8_TO_64) for i, t in enumerate(tensors)]
    dtype = checks.same_dtype("concat", nodes)
    first = nodes[0]
    axis = checks.axis_of("concat", dim, first.rank)
    for index, node in enumerate(nodes):
        same = [a for a in range(first.rank) if a != axis and node.rank == first.rank]
        if node.rank != first.rank or any(node.shape[a] != first.shape[a] for a in same):
            raise PyptoValueError(
                f"concat: tensors[0] is {list(first.shape)} and tensors[{index}] {list(node.shape)}; all dims but dim "
                f"{axis} must agree"
            )
        if key_of(node.valid[axis]) != node.shape[axis]:
            raise PyptoValueError(
                f"concat: {node.name} holds data in {node.valid[axis]} of {node.shape[axis]} along dim {axis}; the dim "
                "that is joined must be full"
            )
    trace = current("concat")
    trace.need_tile("concat", first.rank)
    shape = [sum(n.shape[axis] for n in nodes) if a == axis else size for a, size in enumerate(first.shape)]
    valid = [shape[a] if a == axis else size for a, size in enumerate(checks.common_valid(first.shape, nodes))]
    starts = [sum(n.shape[axis] for n in nodes[:index]) for index in range(len(nodes))]
    places = tuple(tuple(start if a == axis else 0 for a in range(first.rank)) for start in starts)
    return Tensor.of(trace.node("concat", nodes, shape, dtype, valid=valid, attrs={"places": places}))


# pairs of dims that PyPTO can exchange, by rank; None: any
_EXCHANGES: dict[int, set[tuple[int, int]] | None] = {1: None, 2: None, 3: None, 4: {(0, 2), (1, 3), (2, 3), (1, 2)}}


@operation
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:  # noqa: A002
    """Two dims exchanged."""
    node = checks.operand("transpose", "input", input, checks.WIDTHS_8_TO_32)
    a, b = sorted((checks.axis_of("transpose", dim0, node.rank), checks.axis_of("transpose", dim1, node.rank)))
    tile = current("transpose").need_tile("transpose", node.rank, "its input")
    if a == b or node.shape[a] == node.shape[b] == 1:
        nbytes = tile[-1] * node.dtype.itemsize
        if nbytes % BLOCK_BYTES:
            raise PyptoValueError(
                f"transpose: dims {a} and {b} of {node.name} need no exchange, and then the tile's last dim must be a "
                f"multiple of 32 B; {tile[-1]} elements of {node.dtype.name} are {nbytes} B"
            )
        return input
    allowed = _EXCHANGES[node.rank]
    if allowed is not None and (a, b) not in allowed:
        pairs = ", ".join(map(str, sorted(allowed)))
        raise PyptoValueError(f"transpose: dims {a} and {b} of {node.rank}; allowed pairs are {pairs}")
    order = list(range(node.rank))
    order[a], order[b] = b, a
    shape, valid = [node.shape[i] for i in order], [node.valid[i] for i in order]
    kind = "transpose" if b == node.rank - 1 else "permute"  # only a moved last dim moves elements
    attrs = {"order": tuple(order)}

    def exchanged(n: Node) -> Node:
        return current("transpose").node(kind, (n,), shape, n.dtype, valid=valid, attrs=attrs)

    return Tensor.of(through_half(node, exchanged) if kind == "transpose" else exchanged(node))
