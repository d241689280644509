"""Element-wise vector instructions of the kernel language, one name per table row."""

from __future__ import annotations

from ascend_sim.asc.forms import binary_call, scalar_call, unary_call
from ascend_sim.isa import arithmetic as rows

__all__ = [
    "abs",
    "add",
    "add_relu",
    "adds",
    "axpy",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "div",
    "exp",
    "fused_mul_add",
    "fused_mul_add_relu",
    "leaky_relu",
    "ln",
    "max",
    "maxs",
    "min",
    "mins",
    "mul",
    "mul_add_dst",
    "muls",
    "reciprocal",
    "relu",
    "rsqrt",
    "shift_left",
    "shift_right",
    "sqrt",
    "sub",
    "sub_relu",
]

add = binary_call(rows.ADD)
sub = binary_call(rows.SUB)
mul = binary_call(rows.MUL)
div = binary_call(rows.DIV)
max = binary_call(rows.MAX)  # noqa: A001 - pyasc's own names
min = binary_call(rows.MIN)  # noqa: A001
add_relu = binary_call(rows.ADD_RELU)
sub_relu = binary_call(rows.SUB_RELU)
bitwise_and = binary_call(rows.AND)
bitwise_or = binary_call(rows.OR)
mul_add_dst = binary_call(rows.MUL_ADD_DST)
fused_mul_add = binary_call(rows.FUSED_MUL_ADD)
fused_mul_add_relu = binary_call(rows.FUSED_MUL_ADD_RELU)

adds = scalar_call(rows.ADDS)
muls = scalar_call(rows.MULS)
maxs = scalar_call(rows.MAXS)
mins = scalar_call(rows.MINS)
leaky_relu = scalar_call(rows.LEAKY_RELU)
shift_left = scalar_call(rows.SHIFT_LEFT)
shift_right = scalar_call(rows.SHIFT_RIGHT)
axpy = scalar_call(rows.AXPY)

abs = unary_call(rows.ABS)  # noqa: A001
exp = unary_call(rows.EXP)
ln = unary_call(rows.LN)
sqrt = unary_call(rows.SQRT)
rsqrt = unary_call(rows.RSQRT)
reciprocal = unary_call(rows.RECIPROCAL)
relu = unary_call(rows.RELU)
bitwise_not = unary_call(rows.NOT)
