"""How results are rounded: float16 is computed in float32 and rounded once per instruction, ties to even.

One rounding through float32 gives the correctly rounded half for + - x / and sqrt, because float32 has more than twice
the digits. Fused forms are rounded once as well (`fused_multiply_add`). Functions such as exp and ln are
computed in float64, so they do not depend on the host's vector maths.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.isa.dtypes import DataType, bfloat16, float16, float32

Array = npt.NDArray[Any]
Compute = Callable[..., Any]
Into = Callable[..., Any]

HALF_MAX = 65504.0


def maximum(a: Array, b: Any) -> Array:
    """The larger one; NaN wins, and +0 over -0 (IEEE 754-2019 maximum: numpy's choice depends on the layout)."""
    larger: Array = np.maximum(a, b)
    if larger.dtype.kind == "f" and not larger.all():
        zeros = (a == 0) & (b == 0)
        larger = np.where(zeros, a + b, larger)  # the sum is -0 only when both are
    return larger


def minimum(a: Array, b: Any) -> Array:
    """The smaller one; NaN wins, and -0 over +0 (IEEE 754-2019 minimum)."""
    smaller: Array = np.minimum(a, b)
    if smaller.dtype.kind == "f" and not smaller.all():
        zeros = (a == 0) & (b == 0)
        smaller = np.where(zeros, -(-a - b), smaller)
    return smaller


def relu(x: Array) -> Array:
    """max(x, 0); NaN stays NaN and -0 becomes +0."""
    return maximum(x, x.dtype.type(0))


def divide(a: Array, b: Array) -> Array:
    """a / b; integers are cut towards zero as in C, and a division of them by zero, which C leaves open, gives 0."""
    if a.dtype.kind not in "iu":
        quotient: Array = np.divide(a, b)
        return quotient
    floor: Array = np.floor_divide(a, b)
    cut: Array = floor + ((a - floor * b != 0) & ((a < 0) != (b < 0)) & (b != 0)).astype(a.dtype)
    return cut


def invert(x: Array) -> Array:
    """Every bit turned, those of floats too."""
    bits = x.view(f"u{x.itemsize}")
    turned: Array = np.invert(bits).view(x.dtype)
    return turned


NATIVE = (maximum, minimum, relu, divide, invert)  # computed in the operands' own type: nothing to widen or round


def wide_dtype(compute: Compute, dst: DataType, sources: tuple[DataType, ...]) -> npt.DTypeLike:
    """The numpy type that a function of these operands computes in."""
    same = all(item is dst for item in sources)
    if same and (isinstance(compute, np.ufunc) or compute in NATIVE):
        return dst.numpy
    return np.float32 if dst in (float16, bfloat16) or float32 in (dst, *sources) else dst.numpy


def bind(compute: Compute, dst: DataType, sources: tuple[DataType, ...], half_saturates: bool) -> Into:
    """`into(out, *sources)`: compute on widened sources, round once, store; `compute` is a ufunc or any function.

    numpy's float16 ufuncs widen to float32 and round once by themselves, faster than separate conversions.
    """
    if isinstance(compute, np.ufunc) and all(item is dst for item in sources) and not half_saturates:
        return _ufunc(compute)
    wide = wide_dtype(compute, dst, sources)
    saturates = half_saturates and dst is float16

    def into(out: Array, *inputs: Array) -> None:
        result = compute(*(item.astype(wide, copy=False) for item in inputs))
        if saturates:
            result = saturate_half(np.asarray(result).astype(np.float16))
        np.copyto(out, result, casting="unsafe")

    return into


def scalar_cell(compute: Compute, dst: DataType, sources: tuple[DataType, ...]) -> Array:
    """A 0-d array that holds a scalar operand in the type that `bind` computes in."""
    return np.zeros((), wide_dtype(compute, dst, sources))


def with_scalar(
    compute: Compute, value: Array, dst: DataType, sources: tuple[DataType, ...], half_saturates: bool
) -> Into:
    """As `bind` for instructions whose last operand is a scalar: the 0-d array `value` of `scalar_cell`, read anew."""
    if isinstance(compute, np.ufunc) and value.dtype == dst.numpy and not half_saturates:
        ufunc = compute

        def into(out: Array, source: Array) -> None:
            ufunc(source, value, out=out)

        return into
    return bind(lambda *inputs: compute(*inputs, value), dst, sources, half_saturates)


def _ufunc(ufunc: np.ufunc) -> Into:
    def into(out: Array, *inputs: Array) -> None:
        ufunc(*inputs, out=out)

    return into


def saturate_half(result: Array) -> Array:
    """float16 saturation flag on: infinities become +-65504 and NaN becomes 0 (soc_specs 2.9)."""
    return np.nan_to_num(result, nan=0.0, posinf=HALF_MAX, neginf=-HALF_MAX)


def fused_multiply_add(a: Array, b: Any, c: Array) -> Array:
    """a * b + c with one rounding when the float64 result is rounded to float32 or float16; integers wrap.

    The product of two float32 is exact in float64. The sum is rounded to odd (Boldo and Melquiond), which makes the
    rounding to the narrower type that follows the only one that counts.
    """
    if a.dtype.kind in "iu":
        return np.asarray(a * b + c)
    product = np.multiply(a, b, dtype=np.float64)
    addend = np.asarray(c, dtype=np.float64)
    total = np.asarray(product + addend)
    part = total - product
    error = (product - (total - part)) + (addend - part)
    bits = total.view(np.int64)
    even = (bits & 1 == 0) & (error != 0) & np.isfinite(total) & np.isfinite(error)
    towards_zero = (error < 0) != (total < 0)
    return np.where(even, np.where(towards_zero, bits - 1, bits + 1), bits).view(np.float64)


_EXPONENT_BITS: dict[Any, tuple[Any, int, int]] = {
    np.dtype(np.float16): (np.uint16, 0x7C00, 0x03FF),
    bfloat16.numpy: (np.uint16, 0x7F80, 0x007F),
    np.dtype(np.float32): (np.uint32, 0x7F800000, 0x007FFFFF),
}


def flush_subnormals(values: Array) -> Array:
    """Subnormal floats as zeros of their sign, as the 950's vector unit takes and gives them (soc_specs 2.9).

    Other dtypes than float16, bfloat16 and float32 pass; the argument is returned as it is when it holds nothing to
    flush.
    """
    known = _EXPONENT_BITS.get(values.dtype)
    if known is None:
        return values
    kind, exponent, fraction = known
    bits = np.ascontiguousarray(values).view(kind)
    small = (bits & kind(exponent)) == 0
    if not small.any():
        return values
    small &= (bits & kind(fraction)) != 0
    if not small.any():
        return values
    flushed: Array = np.where(small, bits & ~kind(exponent | fraction), bits).view(values.dtype)
    return flushed
