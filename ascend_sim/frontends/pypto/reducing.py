"""Reductions and what is built of them: sum, amax, amin, rms_norm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ascend_sim.frontends.pypto import checks
from ascend_sim.frontends.pypto.dtypes import DataType
from ascend_sim.frontends.pypto.elementwise import add, cast, cast_node, mul, rsqrt, widened
from ascend_sim.frontends.pypto.errors import PyptoTypeError, PyptoValueError
from ascend_sim.frontends.pypto.graph import Node
from ascend_sim.frontends.pypto.tensor import Tensor, operation
from ascend_sim.frontends.pypto.trace import Trace, current
from ascend_sim.isa.enums import RoundMode

MAX_TILE_BYTES = 64 << 10
SUMMED = (DataType.DT_FP32, DataType.DT_BF16, DataType.DT_INT32, DataType.DT_INT16)
COMPARED = (*SUMMED, DataType.DT_FP16)


@operation
def sum(input: Tensor, dim: int, keepdim: bool = False) -> Tensor:  # noqa: A001, A002 - PyPTO's own names
    """The sum along `dim`. The tile keeps a removed dim, so set it anew afterwards."""
    return _reduce("sum", input, dim, keepdim, SUMMED)


@operation
def amax(input: Tensor, dim: int, keepdim: bool = False) -> Tensor:  # noqa: A002
    """The largest element along `dim`."""
    return _reduce("amax", input, dim, keepdim, COMPARED)


@operation
def amin(input: Tensor, dim: int, keepdim: bool = False) -> Tensor:  # noqa: A002
    """The smallest element along `dim`."""
    return _reduce("amin", input, dim, keepdim, COMPARED)


def _reduce(op: str, value: Any, dim: Any, keepdim: bool, allowed: Sequence[DataType]) -> Tensor:
    node = checks.operand(op, "input", value, allowed)
    axis = checks.axis_of(op, dim, node.rank)
    trace = current(op)
    tile = trace.need_tile(op, node.rank, "its input")
    _check_tile_bytes(op, tile, node.shape, node.dtype)
    source = widened(checks.solid(node))
    shape = [1 if a == axis else size for a, size in enumerate(node.shape)]
    valid = [1 if a == axis else size for a, size in enumerate(node.valid)]
    if axis == node.rank - 1 and not source.dtype.is_float:
        result = _rows_of_integers(trace, op, source, tile)
        result = trace.node("reshape", (result,), shape, source.dtype, valid=valid)
    else:
        result = trace.node(op, (source,), shape, source.dtype, valid=valid, attrs={"axis": axis})
    if node.dtype is DataType.DT_BF16:
        result.hidden = True
        result = cast_node(result, DataType.DT_BF16, RoundMode.CAST_RINT)
    if not keepdim and node.rank > 1:
        kept = [a for a in range(node.rank) if a != axis]
        shape, valid = [shape[a] for a in kept], [valid[a] for a in kept]
        result = trace.node("reshape", (result,), shape, result.dtype, valid=valid)
    return Tensor.of(result)


def _rows_of_integers(trace: Trace, op: str, node: Node, tile: tuple[int, ...]) -> Node:
    """A number per row, as [..., 1, rows]: only rows of floats can be reduced, so the rows are turned into columns."""
    if node.rank == 1:
        node = trace.node("reshape", (node,), (1, *node.shape), node.dtype, valid=(1, *node.valid))
        tile = (1, *tile)
    *outer, rows, columns = range(node.rank)
    single = node.shape[rows] == 1
    if single:  # twice, for a column of one element would start inside a 32 B block
        twice, filled = list(node.shape), list(node.valid)
        twice[rows] = filled[rows] = 2
        node = trace.node("expand", (node,), twice, node.dtype, valid=filled)
    order = (*outer, columns, rows)
    shape, valid = [node.shape[a] for a in order], [node.valid[a] for a in order]
    turned = trace.node("transpose", (node,), shape, node.dtype, valid=valid, attrs={"order": order})
    shape[rows] = valid[rows] = 1
    before, trace.tile = trace.tile, tuple(tile[a] for a in order)
    result = trace.node(op, (turned,), shape, node.dtype, valid=valid, attrs={"axis": rows})
    trace.tile = before
    if single:
        shape[columns] = 1
        result = trace.node("view", (result,), shape, node.dtype, attrs={"offsets": (0,) * node.rank})
    return result


def _check_tile_bytes(op: str, tile: tuple[int, ...], shape: Sequence[int], dtype: DataType) -> None:
    cut = [min(size, extent) for size, extent in zip(tile, shape, strict=True)]
    nbytes = math.prod(cut) * dtype.itemsize
    if nbytes > MAX_TILE_BYTES:
        widest = max(range(len(cut)), key=lambda axis: cut[axis])
        raise PyptoValueError(
            f"{op}: a tile of {cut} {dtype.name} is {nbytes} B; a reduction takes at most {MAX_TILE_BYTES} B a tile: "
            f"make dim {widest} of the tile smaller"
        )


@operation
def rms_norm(input: Tensor, gamma: Tensor | None = None, epsilon: float = 1e-6) -> Tensor:  # noqa: A002
    """input / sqrt(mean(input ** 2) + epsilon) * gamma along the last dim, in float32, then back in input's type."""
    node = checks.operand("rms_norm", "input", input, checks.FLOATS)
    if gamma is not None:
        weight = checks.operand("rms_norm", "gamma", gamma, checks.FLOATS)
        if weight.rank != 1 or weight.shape[0] != node.shape[-1]:
            raise PyptoValueError(
                f"rms_norm: gamma is {list(weight.shape)}; it must be [{node.shape[-1]}], the last dim of {node.name}"
            )
    if isinstance(epsilon, bool) or not isinstance(epsilon, int | float):
        raise PyptoTypeError(f"rms_norm: epsilon is {epsilon!r}; it must be a number")
    x = cast(input, DataType.DT_FP32)
    mean = mul(sum(mul(x, x), -1, keepdim=True), 1.0 / node.shape[-1])
    result = mul(x, rsqrt(add(mean, float(epsilon))))
    if gamma is not None:
        trace = current("rms_norm")
        tile, trace.tile = trace.tile, trace.tile[-1:] if trace.tile else None  # gamma has the last dim alone
        wide = cast(gamma, DataType.DT_FP32)
        trace.tile = tile
        result = mul(result, wide)
    return cast(result, node.dtype)
