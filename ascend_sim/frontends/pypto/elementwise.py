"""Element-wise operations: arithmetic with tensors and scalars, unary functions, cast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ascend_sim.frontends.pypto import checks
from ascend_sim.frontends.pypto.dtypes import CastMode, DataType, PrecisionType, SaturationMode
from ascend_sim.frontends.pypto.errors import PyptoTypeError, PyptoValueError, shown
from ascend_sim.frontends.pypto.graph import Node
from ascend_sim.frontends.pypto.tensor import Tensor, operation
from ascend_sim.frontends.pypto.trace import current
from ascend_sim.isa.cast import MODES
from ascend_sim.isa.enums import RoundMode

FP32, BF16 = DataType.DT_FP32, DataType.DT_BF16
Operand = Tensor | int | float


def cast_node(node: Node, dtype: DataType, mode: RoundMode, saturates: bool = False) -> Node:
    """A cast that the core has."""
    attrs = {"mode": mode, "saturates": saturates}
    return current("cast").node("cast", (node,), node.shape, dtype, valid=node.valid, attrs=attrs)


def widened(node: Node) -> Node:
    """bfloat16 as float32: 2201 has no bfloat16 arithmetic."""
    if node.dtype is not BF16:
        return node
    known = current("cast").count
    found = current("cast").node(
        "cast",
        (node,),
        node.shape,
        FP32,
        valid=node.valid,
        attrs={"mode": RoundMode.CAST_NONE, "saturates": False},
        name=f"{node.name}_fp32",
    )
    found.hidden = found.hidden or current("cast").count > known  # a cast of the user's may serve
    return found


def through_half(node: Node, moved: Callable[[Node], Node]) -> Node:
    """`moved(node)`; 8 bit elements go as float16, which holds them all: the instructions that move single elements
    have 16 and 32 bits.
    """
    if node.dtype.itemsize > 1:
        return moved(node)
    wide = cast_node(node, DataType.DT_FP16, RoundMode.CAST_NONE)
    return cast_node(moved(wide), node.dtype, RoundMode.CAST_RINT)


def compute(op: str, kind: str, nodes: Sequence[Node], **attrs: Any) -> Tensor:
    """The result of one element-wise operation in the operands' type; bfloat16 is computed in float32 and rounded."""
    trace = current(op)
    shape = checks.broadcast(op, nodes)
    trace.need_tile(op, len(shape))
    dtype = nodes[0].dtype
    inputs = [widened(checks.aligned_to(len(shape), node)) for node in nodes]
    valid = checks.common_valid(shape, inputs)
    result = trace.node(kind, inputs, shape, inputs[0].dtype, valid=valid, attrs=attrs, label=op)
    if dtype is BF16:
        result.hidden = True
        result = cast_node(result, BF16, RoundMode.CAST_RINT)
    return Tensor.of(result)


def _with_scalar(op: str, kind: str, value: Any, scalar: Any, allowed: Sequence[DataType]) -> Tensor:
    """Tensor and number: an integer serves a float tensor, a float does not serve an integer tensor."""
    node = checks.operand(op, "input", value, allowed)
    if isinstance(scalar, np.floating | np.integer):
        scalar = scalar.item()
    if isinstance(scalar, bool) or not isinstance(scalar, int | float):
        raise PyptoTypeError(f"{op}: other is {shown(scalar)}; it must be a Tensor, an int or a float")
    if isinstance(scalar, float) and not node.dtype.is_float:
        raise PyptoTypeError(
            f"{op}: {node.name} is {node.dtype.name} and other is {scalar!r}; an integer tensor takes integers only"
        )
    number = float(scalar) if node.dtype.is_float else int(scalar)
    return compute(op, kind, [node], scalar=number)


def _binary(op: str, kind: str, scalar_kind: str, a: Any, b: Any, allowed: Sequence[DataType]) -> Tensor:
    if not isinstance(b, Tensor):
        return _with_scalar(op, scalar_kind, a, b, allowed)
    nodes = [checks.operand(op, "input", a, allowed), checks.operand(op, "other", b, allowed)]
    checks.same_dtype(op, nodes)
    return compute(op, kind, nodes)


@operation
def add(input: Tensor, other: Operand) -> Tensor:  # noqa: A002 - PyPTO's own names, here and below
    """input + other; the operands broadcast."""
    return _binary("add", "add", "adds", input, other, checks.ARITHMETIC)


@operation
def sub(input: Tensor, other: Operand) -> Tensor:  # noqa: A002
    """input - other; the operands broadcast."""
    if isinstance(other, int | float | np.floating | np.integer):
        return _with_scalar("sub", "adds", input, -other if not isinstance(other, bool) else other, checks.ARITHMETIC)
    return _binary("sub", "sub", "adds", input, other, checks.ARITHMETIC)


@operation
def mul(input: Tensor, other: Operand) -> Tensor:  # noqa: A002
    """input * other; the operands broadcast."""
    return _binary("mul", "mul", "muls", input, other, checks.ARITHMETIC)


@operation
def div(
    input: Tensor,  # noqa: A002
    other: Operand,
    precision_type: PrecisionType = PrecisionType.HIGH_PRECISION,
) -> Tensor:
    """input / other; integers give DT_FP32."""
    _check_precision("div", precision_type)
    if not isinstance(other, Tensor):
        node = checks.operand("div", "input", input, checks.ARITHMETIC)
        return _with_scalar("div", "divs", Tensor.of(_as_float(node)), other, checks.FLOATS)
    nodes = [checks.operand("div", "input", input, checks.ARITHMETIC)]
    nodes.append(checks.operand("div", "other", other, checks.ARITHMETIC))
    checks.same_dtype("div", nodes)
    return compute("div", "div", [_as_float(node) for node in nodes])


def _as_float(node: Node) -> Node:
    return node if node.dtype.is_float else cast_node(node, FP32, RoundMode.CAST_NONE)


@operation
def reverse_sub(input: Tensor, other: Operand) -> Tensor:  # noqa: A002
    """other - input, for `number - tensor`."""
    return add(mul(input, -1), other)


@operation
def reverse_div(input: Tensor, other: Operand) -> Tensor:  # noqa: A002
    """other / input, for `number / tensor`."""
    node = _as_float(checks.operand("div", "input", input, checks.ARITHMETIC))
    return _with_scalar("div", "rdivs", Tensor.of(node), other, checks.FLOATS)


@operation
def axpy_(y: Tensor, x: Tensor, alpha: float = 1.0) -> Tensor:
    """y becomes y + alpha * x, rounded once; x broadcasts to y's shape. A parameter of the kernel is written to."""
    node = checks.operand("axpy_", "y", y, checks.FLOATS)
    scaled = checks.operand("axpy_", "x", x, checks.FLOATS)
    if isinstance(alpha, bool) or not isinstance(alpha, int | float):
        raise PyptoTypeError(f"axpy_: alpha is {alpha!r}; it must be an int or a float")
    if node.dtype is not scaled.dtype and (node.dtype, scaled.dtype) != (FP32, DataType.DT_FP16):
        raise PyptoTypeError(
            f"axpy_: y is {node.dtype.name} and x {scaled.dtype.name}; allowed are equal types, and DT_FP32 with a "
            "DT_FP16 x"
        )
    if scaled.rank != node.rank or checks.broadcast("axpy_", [node, scaled]) != node.shape:
        raise PyptoValueError(
            f"axpy_: y is {list(node.shape)} and x {list(scaled.shape)}; x broadcasts to y, y does not broadcast"
        )
    result = compute("axpy_", "axpy", [node, scaled], scalar=float(alpha))
    y.become(result)
    return y


@operation
def neg(input: Tensor) -> Tensor:  # noqa: A002
    """-input."""
    node = checks.operand("neg", "input", input, checks.ARITHMETIC)
    return compute("neg", "muls", [node], scalar=-1.0 if node.dtype.is_float else -1)


@operation
def maximum(input: Tensor, other: Operand) -> Tensor:  # noqa: A002
    """The larger of two elements."""
    return _binary("maximum", "max", "maxs", input, other, checks.ARITHMETIC)


@operation
def minimum(input: Tensor, other: Operand) -> Tensor:  # noqa: A002
    """The smaller of two elements."""
    return _binary("minimum", "min", "mins", input, other, checks.ARITHMETIC)


def _unary(op: str, kind: str, value: Any, precision: Any = PrecisionType.INTRINSIC) -> Tensor:
    _check_precision(op, precision)
    return compute(op, kind, [checks.operand(op, "input", value, checks.FLOATS)])


@operation
def exp(input: Tensor, precision_type: PrecisionType = PrecisionType.HIGH_PRECISION) -> Tensor:  # noqa: A002
    """e ** input."""
    return _unary("exp", "exp", input, precision_type)


@operation
def sqrt(input: Tensor, precision_type: PrecisionType = PrecisionType.INTRINSIC) -> Tensor:  # noqa: A002
    """The square root; NaN below 0."""
    return _unary("sqrt", "sqrt", input, precision_type)


@operation
def rsqrt(input: Tensor, precision_type: PrecisionType = PrecisionType.INTRINSIC) -> Tensor:  # noqa: A002
    """1 / sqrt(input); NaN below 0, infinite at 0."""
    return _unary("rsqrt", "rsqrt", input, precision_type)


@operation
def reciprocal(input: Tensor, precision_type: PrecisionType = PrecisionType.HIGH_PRECISION) -> Tensor:  # noqa: A002
    """1 / input."""
    return _unary("reciprocal", "reciprocal", input, precision_type)


@operation
def abs(input: Tensor) -> Tensor:  # noqa: A001, A002
    """|input|."""
    return _unary("abs", "abs", input)


@operation
def cast(
    input: Tensor,  # noqa: A002
    dtype: DataType,
    mode: CastMode = CastMode.CAST_NONE,
    satmode: SaturationMode = SaturationMode.OFF,
) -> Tensor:
    """input in another element type. A mode that the conversion does not have falls back to its default, as in PyPTO:
    truncation from floats to integers, else to nearest even. What an integer type cannot hold keeps its low bits, or is
    clamped with SaturationMode.ON.
    """
    node = checks.operand("cast", "input", input)
    if not isinstance(dtype, DataType):
        raise PyptoTypeError(f"cast: dtype is {dtype!r}; it must be a DataType such as pypto.DT_FP32")
    if not isinstance(mode, CastMode) or not isinstance(satmode, SaturationMode):
        raise PyptoTypeError(f"cast: mode {mode!r} and satmode {satmode!r} must be a CastMode and a SaturationMode")
    if node.dtype is dtype and (dtype is not FP32 or mode is CastMode.CAST_NONE):
        return input  # float32 to float32 under a mode rounds to whole numbers
    pair = (dtype.asc, node.dtype.asc)
    allowed = MODES["2201"].get(pair)
    if allowed is None:
        texts = ", ".join(to.name for to, source in MODES["2201"] if source is node.dtype.asc and to is not source)
        raise PyptoTypeError(
            f"cast: {node.dtype.name} to {dtype.name} is no conversion of the simulated chips; {node.name} converts to "
            f"{texts}"
        )
    current("cast").need_tile("cast", node.rank)
    result = cast_node(node, dtype, _round_mode(node.dtype, dtype, mode, allowed), satmode.value == 1)
    result.hidden = False
    return Tensor.of(result)


def _round_mode(source: DataType, target: DataType, mode: CastMode, allowed: Sequence[RoundMode]) -> RoundMode:
    """The core's mode: the wished one if the pair has it, else the pair's default."""
    if allowed == (RoundMode.CAST_NONE,):
        return RoundMode.CAST_NONE  # widening loses nothing
    if mode is not CastMode.CAST_NONE and mode.value in allowed:
        return RoundMode(mode.value)
    default = RoundMode.CAST_TRUNC if source.is_float and not target.is_float else RoundMode.CAST_RINT
    return default if default in allowed else allowed[0]


def _check_precision(op: str, value: Any) -> None:
    if not isinstance(value, PrecisionType):
        raise PyptoTypeError(f"{op}: precision_type is {value!r}; it must be a pypto.PrecisionType")
