"""What the operations check alike: element types, ranks, tiles, broadcasting, valid shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ascend_sim.frontends.pypto.dtypes import DataType, TileOpFormat
from ascend_sim.frontends.pypto.errors import PyptoTypeError, PyptoValueError, shown
from ascend_sim.frontends.pypto.graph import ALIASES, Node
from ascend_sim.frontends.pypto.symbols import Scalar, SymbolicScalar, key_of, minimum
from ascend_sim.frontends.pypto.tensor import Tensor, elements
from ascend_sim.frontends.pypto.trace import MAX_ELEMENTS, current
from ascend_sim.plurals import counted

FLOATS = (DataType.DT_FP32, DataType.DT_FP16, DataType.DT_BF16)
ARITHMETIC = (*FLOATS, DataType.DT_INT32, DataType.DT_INT16)
WIDTHS_8_TO_32 = (
    *FLOATS,
    *(DataType.DT_INT8, DataType.DT_UINT8, DataType.DT_INT16),
    *(DataType.DT_UINT16, DataType.DT_INT32, DataType.DT_UINT32),
)
WIDTHS_8_TO_64 = (*WIDTHS_8_TO_32, DataType.DT_INT64, DataType.DT_UINT64)
WIDTHS_16_TO_32 = tuple(dtype for dtype in WIDTHS_8_TO_32 if dtype.itemsize > 1)
MAX_RANK = 4


def operand(op: str, name: str, value: Any, allowed: Sequence[DataType] | None = None, *, whole: bool = True) -> Node:
    """`value` as the node that a vector operation reads: an ND tensor of 1 to 4 dims and an allowed element type.

    `whole`: every size must be known when the kernel is written, because the operation computes on all of it.
    """
    if not isinstance(value, Tensor):
        raise PyptoTypeError(f"{op}: {name} is {shown(value)}; it must be a Tensor")
    node = value.read(op)
    if value.format is not TileOpFormat.TILEOP_ND:
        raise PyptoTypeError(f"{op}: {name} has format {value.format.name}; allowed is TILEOP_ND")
    if allowed is not None and node.dtype not in allowed:
        names = ", ".join(dtype.name for dtype in allowed)
        raise PyptoTypeError(f"{op}: {name} is {node.dtype.name}; allowed are {names}")
    if not 1 <= node.rank <= MAX_RANK:
        raise PyptoValueError(f"{op}: {name} has {node.rank} dims; allowed are 1 to {MAX_RANK}")
    if whole:
        check_whole(op, name, node)
    return node


def check_whole(op: str, name: str, node: Node) -> None:
    """Every dim is a number, and there are not too many elements."""
    for axis, size in enumerate(node.shape):
        if isinstance(size, SymbolicScalar):
            raise PyptoValueError(
                f"{op}: dim {axis} of {name} ({node.name}) is {size}, known only when the kernel runs; cut it with "
                "pypto.loop and pypto.view into blocks of a fixed shape first"
            )
        if size <= 0:
            raise PyptoValueError(f"{op}: dim {axis} of {name} ({node.name}) is {size}; empty tensors are not allowed")
    if elements(node.shape) > MAX_ELEMENTS:
        raise PyptoValueError(f"{op}: {name} has {elements(node.shape)} elements; at most {MAX_ELEMENTS}")


def solid(node: Node) -> Node:
    """The node, copied if it repeats one element along its last dim: reductions and the like read it from memory."""
    if not _repeats(node):
        return node
    return current("expand_clone").node("copy", (node,), node.shape, node.dtype, valid=node.valid)


def _repeats(node: Node) -> bool:
    if node.op == "expand" and key_of(node.inputs[0].shape[-1]) != key_of(node.shape[-1]):
        return True
    return node.op in ALIASES and not node.inputs[0].is_global and _repeats(node.inputs[0])


def same_dtype(op: str, nodes: Sequence[Node]) -> DataType:
    dtypes = {node.dtype: node.name for node in nodes}
    if len(dtypes) > 1:
        texts = ", ".join(f"{name} {dtype.name}" for dtype, name in dtypes.items())
        raise PyptoTypeError(f"{op}: the operands are {texts}; they must have one data type (pypto.cast converts)")
    return nodes[0].dtype


def broadcast(op: str, nodes: Sequence[Node]) -> tuple[int, ...]:
    """The common shape of tensors whose dims are equal or 1; missing leading dims count as 1."""
    rank = max(node.rank for node in nodes)
    shape = []
    for axis in range(rank):
        sizes = {node.shape[axis - rank + node.rank] for node in nodes if axis >= rank - node.rank}
        wide = sizes - {1}
        if len(wide) > 1:
            texts = " and ".join(f"{node.name} {list(node.shape)}" for node in nodes)
            raise PyptoValueError(
                f"{op}: {texts} differ in dim {axis}: {' and '.join(map(str, sorted(wide)))}; sizes must be equal or 1"
            )
        shape.append(wide.pop() if wide else 1)
    return tuple(shape)


def aligned_to(rank: int, node: Node) -> Node:
    """The node with leading dims of 1 up to `rank`."""
    if node.rank == rank:
        return node
    extra = rank - node.rank
    shape, valid = (1,) * extra + node.shape, (1,) * extra + node.valid
    return current("view").node("reshape", (node,), shape, node.dtype, valid=valid, name=f"{node.name}_{rank}d")


def common_valid(shape: Sequence[int], nodes: Sequence[Node]) -> tuple[Scalar, ...]:
    """How much of each dim of an element-wise result holds data: the least of the operands that have that dim."""
    valid = []
    for axis, size in enumerate(shape):
        found: Scalar = size
        for node in nodes:
            if node.shape[axis] == size:
                found = least(found, node.valid[axis])
        valid.append(found)
    return tuple(valid)


def least(a: Scalar, b: Scalar) -> Scalar:
    """The smaller of two sizes; equal ones stay as they are."""
    return a if key_of(a) == key_of(b) else minimum(a, b)


def axis_of(op: str, dim: Any, rank: int, extra: int = 0) -> int:
    """A dim counted from either end, as an index; `extra` more places for operations that insert a dim."""
    if isinstance(dim, bool) or not isinstance(dim, int):
        raise PyptoTypeError(f"{op}: dim is {dim!r}; it must be an integer")
    places = rank + extra
    if not -places <= dim < places:
        raise PyptoValueError(
            f"{op}: dim is {dim}; allowed are {-places}..{places - 1} for a tensor of {counted(rank, 'dim')}"
        )
    return dim % places


def sizes_of(op: str, name: str, value: Any, rank: int | None = None) -> tuple[int, ...]:
    """A list of positive whole numbers."""
    if not isinstance(value, list | tuple):
        raise PyptoTypeError(f"{op}: {name} is {value!r}; it must be a list of integers")
    for index, size in enumerate(value):
        if isinstance(size, SymbolicScalar):
            raise PyptoTypeError(
                f"{op}: {name}[{index}] is {size}, known only when the kernel runs; {name} takes plain integers"
            )
        if isinstance(size, bool) or not isinstance(size, int):
            raise PyptoTypeError(f"{op}: {name}[{index}] is {size!r}; it must be an integer")
    if rank is not None and len(value) != rank:
        raise PyptoValueError(
            f"{op}: {name} {list(value)} has {counted(len(value), 'entry')}, the tensor {counted(rank, 'dim')}"
        )
    return tuple(value)


def scalars_of(op: str, name: str, value: Any, rank: int) -> tuple[Scalar, ...]:
    """A list of integers, plain or symbolic, one per dim."""
    if not isinstance(value, list | tuple):
        raise PyptoTypeError(f"{op}: {name} is {value!r}; it must be a list of integers or symbolic integers")
    for index, item in enumerate(value):
        if isinstance(item, bool) or not isinstance(item, int | SymbolicScalar):
            raise PyptoTypeError(f"{op}: {name}[{index}] is {item!r}; it must be an integer or symbolic integer")
    if len(value) != rank:
        raise PyptoValueError(
            f"{op}: {name} {list(value)} has {counted(len(value), 'entry')}, the tensor {counted(rank, 'dim')}"
        )
    return tuple(value)
